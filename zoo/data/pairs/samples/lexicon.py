"""The words of the translation sample: German forms and their English translations.

Many verbs share their forms and differ only in the particle or in the kind of their object. Tables hold entries
separated by semicolons. In a form, "_" separates two tokens.
"""

from collections.abc import Iterator
from typing import NamedTuple


class Noun(NamedTuple):
    """A noun in both languages."""

    german: str
    gender: str
    """Gender: m, f or n."""
    plural: str
    genitive: str
    weak: bool
    """Whether every singular case but the nominative has the plural form: der junge, den jungen."""
    english: str
    english_plural: str
    kind: str
    """Name of its table, which decides the verbs and adjectives that fit it."""


def entries(table: str) -> list[list[str]]:
    """The fields of each entry of a table."""
    return [entry.split() for entry in table.split(";") if entry.strip()]


def _nouns(kind: str, table: str) -> list[Noun]:
    """Entries: german gender plural english [english plural or -] [genitive]. Gender w: masculine and weak."""
    found = []
    for german, gender, plural, english, *rest in entries(table):
        weak, gender = gender == "w", "m" if gender == "w" else gender
        english_plural = rest[0] if rest and rest[0] != "-" else english + "s"
        genitive = rest[1] if len(rest) > 1 else plural if weak else german if gender == "f" else german + "s"
        found.append(Noun(german, gender, plural, genitive, weak, english, english_plural, kind))
    return found


NOUN_TABLES = {
    "people": """
mann m männer man men mannes; frau f frauen woman women; junge w jungen boy; mädchen n mädchen girl;
kind n kinder child children kindes; student w studenten student; lehrer m lehrer teacher;
lehrerin f lehrerinnen teacher; sängerin f sängerinnen singer; arzt m ärzte doctor - arztes; koch m köche cook;
bauer w bauern farmer; polizist w polizisten policeman policemen; tourist w touristen tourist;
soldat w soldaten soldier; kellnerin f kellnerinnen waitress waitresses; nachbar w nachbarn neighbor;
freund m freunde friend - freundes; schwester f schwestern sister; mutter f mütter mother; vater m väter father;
tänzerin f tänzerinnen dancer; fotograf w fotografen photographer; radfahrer m radfahrer cyclist;
clown m clowns clown; fischer m fischer fisherman fishermen; trainer m trainer coach coaches
""",
    "animals": """
hund m hunde dog; katze f katzen cat; pferd n pferde horse; vogel m vögel bird; kuh f kühe cow;
schaf n schafe sheep sheep; ziege f ziegen goat; affe w affen monkey; esel m esel donkey;
welpe w welpen puppy puppies; elefant w elefanten elephant
""",
    "reading": """
buch n bücher book; zeitung f zeitungen newspaper; brief m briefe letter; geschichte f geschichten story stories
""",
    "clothes": """
jacke f jacken jacket; mantel m mäntel coat; hut m hüte hat; mütze f mützen cap; hemd n hemden shirt;
kleid n kleider dress dresses; schal m schals scarf scarves; pullover m pullover sweater; helm m helme helmet;
rock m röcke skirt
""",
    "openings": """
tür f türen door; fenster n fenster window; koffer m koffer suitcase; tasche f taschen bag; kiste f kisten crate;
schrank m schränke cupboard; tor n tore gate; schirm m schirme umbrella; schloss n schlösser lock
""",
    "devices": """
lampe f lampen lamp; radio n radios radio; fernseher m fernseher television; computer m computer computer;
kamera f kameras camera
""",
    "food": """
apfel m äpfel apple; kuchen m kuchen cake; pizza f pizzen pizza; banane f bananen banana;
kartoffel f kartoffeln potato potatoes; tomate f tomaten tomato tomatoes; ei n eier egg; suppe f suppen soup
""",
    "things": """
ball m bälle ball; stein m steine stone; stock m stöcke stick; korb m körbe basket; flasche f flaschen bottle;
teller m teller plate; stuhl m stühle chair; kissen n kissen pillow; decke f decken blanket;
leiter f leitern ladder; seil n seile rope; fahne f fahnen flag; strauß m sträuße bouquet; blume f blumen flower;
bild n bilder picture; spiegel m spiegel mirror
""",
    "vehicles": "auto n autos car; lastwagen m lastwagen truck",
    "cycles": "fahrrad n fahrräder bicycle; motorrad n motorräder motorcycle; roller m roller scooter",
    "instruments": """
gitarre f gitarren guitar; geige f geigen violin; klavier n klaviere piano; trommel f trommeln drum;
flöte f flöten flute
""",
    "buildings": """
zelt n zelte tent; turm m türme tower; zaun m zäune fence; hütte f hütten hut
""",
}
NOUNS = {kind: _nouns(kind, table) for kind, table in NOUN_TABLES.items()}

PLACE_TABLES = {
    "in_dative": """
park m - park; garten m - garden; wald m - forest; küche f - kitchen; zimmer n - room; laden m - shop;
restaurant n - restaurant; schule f - school; kirche f - church; museum n - museum; zug m - train; bus m - bus;
hotel n - hotel; büro n - office; bibliothek f - library; hof m - courtyard; schloss n - castle; bank f - bank;
stadt f - city; schnee m - snow; regen m - rain
""",
    "auf_dative": """
straße f - street; berg m - mountain; brücke f - bridge; dach n - roof; feld n - field; wiese f - meadow;
markt m - market; boot n - boat; bank f - bench; mauer f - wall; treppe f - staircase; spielplatz m - playground;
balkon m - balcony; bühne f - stage
""",
    "an_dative": """
strand m - beach; see m - lake; fluss m - river; bahnhof m - station; tisch m - table; eingang m - entrance
""",
    "vor_dative": "haus n - house; brunnen m - fountain; spiegel m - mirror; kirche f - church",
    "neben_dative": "auto n - car; baum m - tree; haus n - house; brunnen m - fountain",
    "hinter_dative": "haus n - house; zaun m - fence; gebäude n - building",
    "unter_dative": "baum m - tree; brücke f - bridge; tisch m - table; zelt n - tent",
    "durch_accusative": """
park m - park; wald m - forest; straße f - street; stadt f - city; tunnel m - tunnel; schnee m - snow;
wiese f - meadow; regen m - rain
""",
    "über_accusative": "brücke f - bridge; straße f - street; wiese f - meadow; feld n - field; platz m - square",
    "um_accusative": "see m - lake; baum m - tree; haus n - house; brunnen m - fountain; turm m - tower",
    "entlang_accusative": "straße f - street; fluss m - river; strand m - beach; weg m - path",
    "zu_dative": "bahnhof m - station; schule f - school; auto n - car; markt m - market",
}
"""Preposition and case -> fitting places; the plural is "-", because places are always singular."""
PLACES = {tuple(key.split("_")): _nouns("place", table) for key, table in PLACE_TABLES.items()}
PREPOSITIONS = {
    "in": "in", "auf": "on", "an": "at", "vor": "in_front_of", "neben": "next_to", "hinter": "behind", "unter": "under",
    "durch": "through", "über": "across", "um": "around", "entlang": "along", "zu": "to",
}  # fmt: skip
CITIES = entries("""
berlin berlin; hamburg hamburg; münchen munich; wien vienna; paris paris; london london; rom rome
""")
NAMES = {
    "her": ("anna", "maria", "lena", "julia", "sarah", "laura", "lisa", "emma"),
    "his": ("paul", "peter", "stefan", "leon", "felix", "jonas", "jan", "tim"),
}
"""First names, by the possessive pronoun for their owner."""
PRONOUNS = {"his": ("er", "he"), "her": ("sie", "she"), "their": ("sie", "they")}
"""Possessive -> the pronoun in German and in English."""
ITS = ("kind",)
"""Neuter nouns for people with the possessive "its"; "mädchen" (girl) has "her"."""

LOOKS = "rot red; blau blue; grün green; gelb yellow; schwarz black; weiß white; grau gray"
OBJECTS = f"""{LOOKS}; neu new; alt old; klein small; groß big; schwer heavy; kaputt broken; schmutzig dirty;
schön beautiful; lang long; dick thick"""
ADJECTIVE_TABLES = {
    "objects": OBJECTS,
    "people": """
jung young; alt old; groß tall; klein little; fröhlich happy; müd tired; blond blond; freundlich friendly; dick fat;
stark strong; lustig funny; nass wet; klug clever; reich rich; traurig sad; wütend angry
""",
    "animals": """
klein small; groß big; schwarz black; weiß white; jung young; alt old; nass wet; müd tired; schnell fast; dick fat
""",
    "food": "frisch fresh; süß sweet; heiß hot; kalt cold; groß big; klein small; lecker tasty",
    "clothes": f"{LOOKS}; kariert checked; neu new; alt old; lang long",
    "place": """
groß big; klein small; alt old; neu new; leer empty; schön beautiful; ruhig quiet; voll crowded
""",
}
ADJECTIVES = {kind: entries(table) for kind, table in ADJECTIVE_TABLES.items()}
"""Kind of noun -> (German stem, English); kinds without a list use that of the objects."""
QUANTITIES = entries("zwei two; drei three; vier four; mehrere several; viele many")
MANNERS = entries("""
langsam slowly; schnell quickly; leise quietly; laut loudly; vorsichtig carefully; fröhlich happily; allein alone;
geduldig patiently
""")
TIMES = entries("""
heute today; am_morgen in_the_morning; am_abend in_the_evening; im_winter in_the_winter; nachts at_night;
gerade right_now; jetzt now; oft often
""")
CONJUNCTIONS = entries("während while; weil because; wenn when; bevor before; sobald as_soon_as")
MODALS = entries("""
will wollen wants_to want_to; kann können can can; muss müssen must must; soll sollen should should;
darf dürfen may may; möchte möchten would_like_to would_like_to
""")


class Verb(NamedTuple):
    """A verb in both languages, with its objects and forms."""

    infinitive: str
    present: str
    """Third person singular; the plural is the infinitive."""
    participle: str
    particle: str
    """Separable particle: at the end of a main clause, or before a verb that comes last; "" for most verbs."""
    auxiliary: str
    """Auxiliary of the perfect: haben or sein."""
    english: tuple[str, ...]
    progressive: tuple[str, ...]
    perfect: tuple[str, ...]
    takes: str
    """"" nothing, A a direct object, D an object in the dative, DA both, W a way: through the park."""
    objects: tuple[str, ...]
    """Kinds of nouns that fit as object."""
    to: str
    """The English preposition of the indirect object."""
    animals: bool
    """Whether animals can be the subject."""


KINDS = dict(zip("parcodftvyib", NOUNS, strict=True))
"""The letter of each kind of nouns in the tables of verbs."""
VERB_TABLES = {
    "": """
schlafen schläft geschlafen - h sleep sleeping slept pa; lachen lacht gelacht - h laugh laughing laughed p;
tanzen tanzt getanzt - h dance dancing danced p; singen singt gesungen - h sing singing sung p;
warten wartet gewartet - h wait waiting waited pa; sitzen sitzt gesessen - h sit sitting sat pa;
stehen steht gestanden - h stand standing stood pa; liegen liegt gelegen - h lie lying lain pa;
spielen spielt gespielt - h play playing played pa; arbeiten arbeitet gearbeitet - h work working worked p;
weinen weint geweint - h cry crying cried p; träumen träumt geträumt - h dream dreaming dreamed pa;
reden redet geredet - h talk talking talked p; angeln angelt geangelt - h fish fishing fished p;
graben gräbt gegraben - h dig digging dug pa;
schlafen schläft geschlafen ein s fall_asleep falling_asleep fallen_asleep pa;
wachen wacht gewacht auf s wake_up waking_up woken_up pa; stehen steht gestanden auf s get_up getting_up gotten_up pa;
fallen fällt gefallen hin s fall_down falling_down fallen_down pa;
schauen schaut geschaut zu h watch watching watched p; laufen läuft gelaufen weg s run_away running_away run_away pa;
kommen kommt gekommen an s arrive arriving arrived p;
kommen kommt gekommen zurück s come_back coming_back come_back pa; gehen geht gegangen weg s leave leaving left p;
treten tritt getreten auf s perform performing performed p; hören hört gehört auf h stop stopping stopped p;
hören hört gehört zu h listen listening listened p; räumen räumt geräumt auf h tidy_up tidying_up tidied_up p
""",
    "W": """
laufen läuft gelaufen - s run running run pa; gehen geht gegangen - s walk walking walked pa;
springen springt gesprungen - s jump jumping jumped pa; reiten reitet geritten - s ride riding ridden p;
fahren fährt gefahren - s drive driving driven p; kriechen kriecht gekrochen - s crawl crawling crawled pa
""",
    "A": """
lesen liest gelesen - h read reading read r p; essen isst gegessen - h eat eating eaten f p;
schneiden schneidet geschnitten - h cut cutting cut f p; kaufen kauft gekauft - h buy buying bought crodftvyi p;
tragen trägt getragen - h wear wearing worn c p; tragen trägt getragen - h carry carrying carried tfp p;
spielen spielt gespielt - h play playing played i p; fahren fährt gefahren - h drive driving driven v p;
fahren fährt gefahren - h ride riding ridden y p;
reparieren repariert repariert - h repair repairing repaired vydib p;
putzen putzt geputzt - h clean cleaning cleaned vyodi p;
fotografieren fotografiert fotografiert - h photograph photographing photographed pavyb p;
suchen sucht gesucht - h look_for looking_for looked_for acrtp pa; halten hält gehalten - h hold holding held rtfi p;
werfen wirft geworfen - h throw throwing thrown t p; ziehen zieht gezogen - h pull pulling pulled ovyp p;
streicheln streichelt gestreichelt - h pet petting petted a p; füttern füttert gefüttert - h feed feeding fed a p;
beobachten beobachtet beobachtet - h watch watching watched pa pa;
begrüßen begrüßt begrüßt - h greet greeting greeted p p; malen malt gemalt - h paint painting painted pabo p;
verkaufen verkauft verkauft - h sell selling sold crodftvyi p; bauen baut gebaut - h build building built b p;
schreiben schreibt geschrieben - h write writing written r p; finden findet gefunden - h find finding found crta pa;
heben hebt gehoben auf h pick_up picking_up picked_up rcft p; heben hebt gehoben hoch h lift lifting lifted tpo p;
ziehen zieht gezogen an h put_on putting_on put_on c p; ziehen zieht gezogen aus h take_off taking_off taken_off c p;
machen macht gemacht auf h open opening opened o p; machen macht gemacht zu h close closing closed o p;
machen macht gemacht an h turn_on turning_on turned_on d p;
machen macht gemacht aus h turn_off turning_off turned_off d p;
nehmen nimmt genommen mit h take_along taking_along taken_along crtfpa p;
nehmen nimmt genommen auf h record recording recorded i p; lesen liest gelesen durch h finish finishing finished r p;
holen holt geholt ab h collect collecting collected pat p;
schauen schaut geschaut an h look_at looking_at looked_at rcpab p; rufen ruft gerufen an h call calling called p p;
rufen ruft gerufen - h shout_at shouting_at shouted_at pa p;
werfen wirft geworfen weg h throw_away throwing_away thrown_away rcft p;
werfen wirft geworfen um h knock_over knocking_over knocked_over tbvy pa;
bauen baut gebaut auf h set_up setting_up set_up b p; bauen baut gebaut ab h take_down taking_down taken_down b p;
waschen wäscht gewaschen - h wash washing washed cafvy p;
bringen bringt gebracht weg h take_away taking_away taken_away rctf p;
probieren probiert probiert aus h try_out trying_out tried_out dvyi p;
probieren probiert probiert - h taste tasting tasted f p;
probieren probiert probiert an h try_on trying_on tried_on c p; halten hält gehalten an h stop stopping stopped pvy p;
fangen fängt gefangen - h catch catching caught at pa; stellen stellt gestellt ab h park parking parked vy p;
laden lädt geladen ein h invite inviting invited p p; sehen sieht gesehen - h see seeing seen pab pa
""",
    "D": """
helfen hilft geholfen - h help helping helped p p; folgen folgt gefolgt - s follow following followed pa pa;
hören hört gehört zu h listen_to listening_to listened_to p p;
winken winkt gewinkt zu h wave_at waving_at waved_at p p; schauen schaut geschaut zu h watch watching watched pa p;
laufen läuft gelaufen nach s run_after running_after run_after pa pa;
sehen sieht gesehen zu h watch watching watched pa p
""",
    "DA": """
geben gibt gegeben - h give giving given crtfi p to; zeigen zeigt gezeigt - h show showing shown crtvyid p to;
schenken schenkt geschenkt - h give giving given crtai p to;
bringen bringt gebracht - h bring bringing brought crtf p to;
nehmen nimmt genommen weg h take_away taking_away taken_away tf p from;
lesen liest gelesen vor h read_aloud reading_aloud read_aloud r p to;
kaufen kauft gekauft ab h buy buying bought crtvy p from;
stellen stellt gestellt vor h introduce introducing introduced pa p to
""",
}


def _verbs(takes: str, table: str) -> Iterator[Verb]:
    """Entries: infinitive present participle particle auxiliary english progressive perfect [objects] subjects [to]."""
    for infinitive, present, participle, particle, auxiliary, *rest in entries(table):
        english, progressive, perfect = (tuple(form.split("_")) for form in rest[:3])
        objects = rest.pop(3) if "A" in takes or "D" in takes else ""
        verb = infinitive, present, participle, particle.strip("-"), {"h": "haben", "s": "sein"}[auxiliary]
        kinds, to = tuple(KINDS[letter] for letter in objects), "".join(rest[4:])
        yield Verb(*verb, english, progressive, perfect, takes, kinds, to, animals="a" in rest[3])


VERBS = {takes: list(_verbs(takes, table)) for takes, table in VERB_TABLES.items()}
