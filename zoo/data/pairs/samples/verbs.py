"""The verbs of the translation sample: German forms, their objects, and their English translations.

Many verbs share their forms and differ only in the particle or in the kind of their object.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from zoo.data.pairs.samples.lexicon import NOUNS, entries


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
