"""The words of the generated sentences: what each is worth in a film review (`sentiment.py`), and which mean the same
(`relatedness.py`)."""

from __future__ import annotations

# Reviews

WORTH = {
    "adjective": {
        2: "brilliant superb magnificent wonderful hilarious dazzling gorgeous splendid",
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
"""Category -> worth, -2 very negative to 2 very positive -> words. What pleases somebody ("the plot moved me") and
whom something pleases ("critics loved the plot") are categories of their own, for the sake of grammar alone."""

STRENGTHENING = {"degree": "very extremely", "adverb": "really truly utterly deeply"}
WEAKENING = {"degree": "fairly rather", "adverb": "slightly somewhat mildly"}
TURNING = {"negation": "not", "never": "never hardly", "nobody": "nobody", "doubted": "doubted denied"}
"""Words that act on the worth of what they are joined with, by category; a `degree` goes with adjectives alone."""

PHRASES = {
    ("at", "all"): "intensifier",
    ("a", "bit"): "diminisher",
    ("kind", "of"): "diminisher",
    ("no", "one"): "negator",
    ("hardly", "anyone"): "negator",
}
"""Two words that are one operator together, whatever each is alone."""

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
"""Category -> words that are worth nothing."""
