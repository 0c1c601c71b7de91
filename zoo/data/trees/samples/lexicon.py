"""The words of the generated sentences: their sentiment (`sentiment.py`) and their synonyms (`relatedness.py`)."""

# Reviews

WORTH = {
    "adjective": {
        2: "brilliant superb magnificent wonderful hilarious dazzling great splendid",
        1: "good clever charming funny touching",
        0: "long old silent french loud colourful",
        -1: "bad dull boring slow silly",
        -2: "terrible awful horrible dreadful unbearable atrocious abysmal dismal",
    },
    "manner": {2: "beautifully brilliantly", 1: "well", -1: "badly", -2: "horribly atrociously"},
    "verdict": {2: "masterpiece triumph", 1: "treat", 0: "sequel comedy", -1: "letdown", -2: "disaster nightmare"},
    "pleased": {
        2: "delighted enchanted captivated thrilled",
        1: "amused moved charmed",
        0: "surrounded reminded",
        -1: "bored annoyed tired",
        -2: "disgusted appalled repelled horrified",
    },
    "liked": {
        2: "loved adored worshipped",
        1: "liked enjoyed",
        0: "saw discussed",
        -1: "disliked mocked",
        -2: "hated despised loathed",
    },
}  # fmt: skip
"""Category -> sentiment, -2 very negative to 2 very positive -> words.

Verbs such as in "the plot moved me" and "critics loved the plot" are separate categories for grammatical reasons only.
"""

OPERATORS = {
    "intensifier": {"degree": "very extremely", "adverb": "really truly utterly deeply"},
    "diminisher": {"degree": "fairly rather", "adverb": "slightly somewhat mildly"},
    "negator": {"negation": "not", "never": "never hardly", "nobody": "nobody", "doubted": "doubted denied"},
}
"""Words that change the sentiment of the phrase next to them, by kind and category; a `degree` needs an adjective."""

PHRASES: dict[tuple[str, ...], str] = {
    ("at", "all"): "intensifier",
    ("a", "bit"): "diminisher",
    ("kind", "of"): "diminisher",
    ("no", "one"): "negator",
    ("hardly", "anyone"): "negator",
}
"""Pairs of words that form one operator, independent of each word alone."""

NEUTRAL = {
    "thing": (
        *("film", "plot", "story", "script", "dialogue", "acting", "music", "ending", "cast", "director"),
        *("photography", "hero", "opening", "soundtrack", "chase", "finale"),
    ),
    "people": ("critics", "audiences", "children", "viewers", "teenagers", "reporters", "we", "they"),
    "somebody": ("me", "us", "everyone", "critics", "audiences", "children", "viewers"),
    "said": ("said", "thought", "wrote", "claimed", "agreed", "felt"),
    "made": ("made", "written", "shot", "acted", "told", "cut"),
    "determiner": ("the", "this", "its"),
}
"""Category -> words without sentiment."""

# Pairs of sentences. Words of one line are synonyms; the first one is the name of their meaning.


def _lines(text: str) -> dict[str, tuple[str, ...]]:
    return {words[0]: words for words in (tuple(part.split("/")) for part in text.split())}


BEINGS = _lines(
    "dog/hound cat/kitten boy/lad girl/lass man/guy woman/lady child/kid rabbit/bunny horse/pony doctor/physician "
    "thief/robber soldier/trooper cook/chef monkey/ape"
)
PLACES = _lines(
    "house/home street/road sofa/couch car/automobile river/stream stone/rock shop/store hill/mound boat/ship"
)
OBJECTS = _lines("box/carton cup/mug bag/sack photo/picture cart/wagon bike/bicycle door/gate chair/seat board/plank")
TOOLS = _lines("rope/cord stick/rod hammer/mallet knife/blade cloth/rag")
LOOKS = _lines("big/large small/little old/aged wet/soaked dirty/filthy thin/slim black white brown")
MOODS = _lines("tired/weary angry/furious quiet/silent clever/smart happy/cheerful young")
"""Qualities of living beings; looks are qualities of all things."""
PREPOSITIONS = _lines("behind near/beside under/beneath above/over")
STATES = _lines(
    "sleeping/napping running/sprinting resting/relaxing crying/weeping laughing/giggling shouting/yelling "
    "talking/chatting jumping/leaping creeping/crawling singing dancing waiting"
)
"""Intransitive verbs, in the form that follows "is"."""
ACTS = _lines(
    "pushing/shoving cutting/slicing carrying/hauling throwing/tossing cleaning/scrubbing fixing/repairing "
    "lifting/raising hitting/striking breaking/smashing pulling/dragging"
)
"""Verbs with an object, in the form that follows "is"."""
DEALINGS = _lines(
    "chases/pursues watches/observes helps/assists hugs/embraces scares/frightens follows/trails bites/nips "
    "leads/guides finds/discovers"
)
"""Verbs between two living beings, in the form that follows "that"."""
PARTICIPLES = {
    words[0]: words[1]
    for words in _lines(
        "pushing/pushed shoving/shoved cutting/cut slicing/sliced carrying/carried hauling/hauled throwing/thrown "
        "tossing/tossed cleaning/cleaned scrubbing/scrubbed fixing/fixed repairing/repaired lifting/lifted "
        "raising/raised hitting/hit striking/struck breaking/broken smashing/smashed pulling/pulled dragging/dragged "
        "chases/chased pursues/pursued watches/watched observes/observed helps/helped assists/assisted hugs/hugged "
        "embraces/embraced scares/scared frightens/frightened follows/followed trails/trailed bites/bitten nips/nipped "
        "leads/led guides/guided finds/found discovers/discovered"
    ).values()
}
"""The form that follows "is" in the passive."""
