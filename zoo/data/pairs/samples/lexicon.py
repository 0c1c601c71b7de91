"""The words of the translation sample except its verbs: German forms and their English translations.

Tables hold entries separated by semicolons. In a form, "_" separates two tokens.
"""

from __future__ import annotations

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
