"""The embedded sentiment treebank: film reviews from a grammar, with the sentiment of every phrase.

Sentences are derived at random from the weighted RULES. Those that are too short or too long (LENGTHS), or repeat a
content word, are drawn again. The labels 0 to 4 are the worth of a phrase (-2 very negative to 2 very positive) plus 2.
The worth of a phrase follows from its two parts alone (`composed`):

- The worth of a word is given by `lexicon.WORTH`, or 0. A word or a phrase of PHRASES may be an operator.
- An operator changes the phrase that it is joined with by SHIFTS. A negation reverses and weakens it (great 2, not
  great -1). "at all" is an intensifier, so "not ... at all" moves it to the end of the scale (not bad 1, not bad at all
  2).
- "but X" overrules the phrase before it. A phrase joined with "although X" overrules X, in either order. If the
  overruling part is worth 0, the other part counts.
- In all other cases, "and" included, a part that is worth 0 is ignored. Of two parts with one sign the stronger counts;
  parts with opposite signs give 0.

The grammar is as ambiguous as real language: (not good) and clever, or not (good and clever); (nobody thought that S1)
but S2, or nobody thought that (S1 but S2). The words are the same, the labels differ, and the tree shows which is
meant. Of 10,000 sentences 38 % can be read with more than one label. A classifier that knows the grammar but sees only
the words can reach at most 86 % (results/tree_grammar.py). The classes of the 6,000 training sentences are 13, 27, 21,
27 and 12 %.
"""

import random
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from zoo.data.trees.samples.lexicon import NEUTRAL, OPERATORS, PHRASES, WORTH
from zoo.data.trees.samples.phrases import grammar
from zoo.data.trees.tree import Labelled, Tree

LENGTHS = (5, 28)  # Fewest and most words of a sentence, the full stop included

SHIFTS = {
    "intensifier": {-2: -2, -1: -2, 0: 0, 1: 2, 2: 2},
    "diminisher": {-2: -1, -1: -1, 0: 0, 1: 1, 2: 1},
    "negator": {-2: 1, -1: 1, 0: 0, 1: -1, 2: -1},
}
"""Sentiment of a phrase -> new sentiment, for each kind of operator."""

RULES = grammar("""
    TEXT: TOLD .

    TOLD: CLAUSE 3 | REPORT 8 | FIRST BUT 5 | FIRST AND 6 | FIRST ALTHOUGH 1 | ALTHOUGH AFTER 1
    FIRST: CLAUSE 2 | REPORT 8 | CLAUSE ALTHOUGH 1
    REPORTED: CLAUSE 8 | CLAUSE BUT 3 | CLAUSE AND 4 | CLAUSE ALTHOUGH 1
    S: CLAUSE 10 | CLAUSE BUT 0.5 | CLAUSE AND 0.5 | CLAUSE ALTHOUGH 0.5
    BUT: but S;  AND: and S;  ALTHOUGH: although S;  AFTER: , S
    REPORT: NOBODY SAID 6 | people NEVER_SAID 3 | people DOUBTED 3 | it WAS_TRUE 5 | people SAID 2
    NOBODY: nobody 2 | no one 1 | hardly anyone 1
    NEVER_SAID: never SAID;  SAID: said THAT;  DOUBTED: doubted THAT
    WAS_TRUE: was NOT_TRUE 1 | was VERY_TRUE 1
    NOT_TRUE: negation TRUE;  VERY_TRUE: adverb TRUE;  TRUE: true THAT;  THAT: that REPORTED
    CLAUSE: THING VP 8 | people LIKED 4 | NOBODY LIKED_2 1 | NOBODY_LIKED ATALL 0.5
    NOBODY_LIKED: NOBODY LIKED_2;  ATALL: at all

    THING: determiner thing 6 | determiner DESCRIBED 1
    DESCRIBED: adjective thing 3 | GRADED thing 1
    GRADED: DEGREE adjective
    DEGREE: degree 2 | adverb 3 | a bit 1 | kind of 1

    VP: WAS 8 | PLEASES 5 | VP_NOT 3 | VP_MORE 1 | VP_1 VP_AND 2 | VP_NOT ATALL 1
    VP_1: PLEASES 2 | WAS 1 | VP_NOT 3
    VP_2: PLEASES 2 | PLEASES VP_AND 1
    VP_NOT: never VP_2;  VP_MORE: adverb VP_2;  VP_AND: and VP;  PLEASES: pleased somebody
    WAS: was AP 5 | was MADE 1 | was VERDICT 1
    MADE: made manner
    VERDICT: a verdict 2 | negation NOUN 1
    NOUN: a verdict

    LIKED: LIKES 6 | LIKED_NOT 3 | LIKED_MORE 1 | LIKED_1 LIKED_AND 2 | LIKED_NOT ATALL 1
    LIKED_1: LIKES 1 | LIKED_NOT 1
    LIKED_2: LIKES 2 | LIKES LIKED_AND 1
    LIKED_NOT: never LIKED_2;  LIKED_MORE: adverb LIKED_2;  LIKED_AND: and LIKED;  LIKES: liked THING

    AP: adjective 8 | GRADED 2 | AP_NOT 5 | AP_MORE 1 | AP_NOT ATALL 1.5 | AP_1 AP_AND 4 | AP_1 AP_BUT 1
    AP_1: adjective 3 | GRADED 1 | AP_NOT 4
    AP_2: adjective 5 | GRADED 1 | adjective AP_AND 2 | adjective AP_BUT 0.5
    AP_NOT: negation AP_2 2 | never AP_2 1
    AP_MORE: DEGREE AP_2;  AP_AND: and AP;  AP_BUT: but AP
""")
"""The rules of sentences, subjects, predicates of things, predicates of people, and adjectives. A symbol that has no
rule is a category or a word. The weights are such that neither reading of an ambiguous phrase is much likelier than
the other."""


CATEGORIES: dict[str, tuple[str, ...]] = NEUTRAL | {
    kind: tuple(" ".join(words.values()).split()) for kind, words in WORTH.items()
}
"""Category -> its words, which are drawn uniformly."""
MARKS = {"but": "contrast", "although": "concession"}


class Meaning(NamedTuple):
    """The contribution of a phrase to the phrase that contains it."""

    role: str
    """Function of the phrase.

    An operator is `intensifier`, `diminisher` or `negator`; the words `but` and `although` have their own functions,
    and begin a `contrast` or a `concession`; everything else is `plain`.
    """
    worth: int
    """Sentiment, -2 to 2."""
    opinion: bool = False
    """Whether the phrase has a word with a sentiment."""


MEANINGS = {mark: Meaning(mark, 0) for mark in MARKS}
"""Meanings of words; a missing word is plain and worth 0."""
for role, by_category in OPERATORS.items():
    for kind, operators in by_category.items():
        CATEGORIES[kind] = (*CATEGORIES.get(kind, ()), *operators.split())
        MEANINGS |= {word: Meaning(role, 0) for word in operators.split()}
for by_worth in WORTH.values():
    for worth, opinions in by_worth.items():
        MEANINGS |= {word: Meaning("plain", worth, worth != 0) for word in opinions.split()}


def composed(left: Meaning, right: Meaning) -> Meaning:
    """The meaning of a phrase of two parts by the rules above; PHRASES have been replaced by operators before."""
    opinion = left.opinion or right.opinion
    if left.role in MARKS:
        return Meaning(MARKS[left.role], right.worth, opinion)
    for operator, other in ((left, right), (right, left)):
        if operator.role in SHIFTS:
            return Meaning("plain", SHIFTS[operator.role][other.worth], opinion)
    counting = [(left, right)[part].worth for part in _counting(left, right)]
    opposed = min(counting) < 0 < max(counting)
    return Meaning("plain", 0 if opposed else max(counting, key=abs), opinion)


def _counting(left: Meaning, right: Meaning) -> tuple[int, ...]:
    """The parts that count, 0 for left and 1 for right, if neither is an operator or a mark."""
    if right.role == "contrast" or left.role == "concession":
        return (1,) if right.worth else (0,)
    if right.role == "concession":
        return (0,) if left.worth else (1,)
    return (0, 1)


def labelled(tree: Tree) -> Labelled:
    """A binary tree, numbered from the top, with the label of every node and the evidence for that of the root.

    The root is evidence. Below a node that is evidence, a part is evidence if it counts, has the worth of the node, and
    has a word with a sentiment. So evidence leads from the root down to the origin of its label: a word with this
    worth, an operator that produced it, or two sides that cancel out.
    """
    below, meanings = tree.children, dict[int, Meaning]()
    for node in reversed(range(len(below))):
        words = tuple(tree.words[tree.word[leaf]] for leaf in below[node] or [node] if tree.word[leaf] >= 0)
        if words in PHRASES:
            meanings[node] = Meaning(PHRASES[words], 0)
        elif below[node]:
            meanings[node] = composed(*(meanings[child] for child in below[node]))
        else:
            meanings[node] = MEANINGS.get(words[0], Meaning("plain", 0))
    evidence = [node == 0 for node in range(len(below))]
    for node, children in enumerate(below):
        if evidence[node] and children:
            left, right = (meanings[child] for child in children)
            for part in (0, 1) if left.role in MARKS else _counting(left, right):
                child = meanings[children[part]]
                evidence[children[part]] = child.opinion and child.worth == meanings[node].worth
    labels: list[str | None] = [str(meanings[node].worth + 2) for node in range(len(below))]
    return Labelled(tree._replace(label=labels), "", evidence)


def generate(count: int, *, seed: int) -> Iterator[Labelled]:
    """`count` trees, strictly binary and numbered from the top; tree i depends on `seed` and i alone."""
    for index in range(count):
        draw = random.Random(f"sentiment {seed} {index}")
        while (tree := _derived(draw)) is None:
            pass
        yield labelled(tree)


_CONTENT = {word for category in (*WORTH, "thing") for word in CATEGORIES[category]}
_ALTERNATIVES = {
    symbol: ([tuple(parts.split()) for parts in weights], list(accumulate(weights.values())))
    for symbol, weights in RULES.items()
}


def _derived(draw: random.Random) -> Tree | None:
    """A sentence of the grammar without labels; None if it is too short or too long."""
    words: list[str] = []
    parent: list[int] = []
    word: list[int] = []
    waiting = [("TEXT", -1)]
    while waiting:
        symbol, above = waiting.pop()
        parts: tuple[str, ...] = (symbol,)
        while len(parts) == 1 and parts[0] in RULES:
            alternatives, weights = _ALTERNATIVES[parts[0]]
            parts = draw.choices(alternatives, cum_weights=weights)[0]
        node = len(parent)
        parent.append(above)
        if len(parts) == 2:
            word.append(-1)
            waiting += [(parts[1], node), (parts[0], node)]
        else:
            word.append(len(words))
            words.append(draw.choice(CATEGORIES.get(parts[0], parts)))
        if len(words) + len(waiting) > LENGTHS[1]:  # each waiting symbol becomes at least one word
            return None
    content = [word for word in words if word in _CONTENT]
    if len(words) < LENGTHS[0] or len(set(content)) < len(content):
        return None
    return Tree(words, parent, word, [None] * len(parent))
