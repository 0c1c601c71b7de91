"""Decides whether a caption is true of a scene, and finds the objects that it names."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, permutations
from typing import Any

from zoo.data.images.samples.grammar import NAMED, Kind, read, relation


def is_true(caption: Sequence[str] | str, facts: Mapping[str, Any]) -> bool:
    """Whether the scene has the two objects of the caption, a text or its words, in the relation that it states.

    A sentence outside the grammar is false.

    `facts` are plain data, as `zoo.data.images.samples.scenes` gives them: `objects`, each with `size`, `colour`,
    `shape` and `centre`, (x, y) with y growing downwards.
    """
    text = caption if isinstance(caption, str) else " ".join(caption)
    said = read(" ".join(text.lower().split()).removesuffix(".").rstrip())
    if said is None:
        return False
    return any(
        _is(said.first, one) and _is(said.second, other) and relation(one["centre"], other["centre"]) == said.relation
        for one, other in permutations(facts["objects"], 2)
    )


def named_words(caption: str, facts: Mapping[str, Any]) -> Iterator[tuple[int, int, tuple[float, ...]]]:
    """The begin, the end and the box of each word that names an object of the scene.

    `facts` are those of `is_true`, each object with its `box`: left, top, right and bottom in shares of the picture.
    """
    for phrase in NAMED.finditer(caption.lower()):
        for thing in facts["objects"]:
            if _is(Kind(*phrase.groups()), thing):
                spans = (span for span in map(phrase.span, (1, 2, 3)) if span[0] >= 0)
                yield from ((*span, tuple(thing["box"])) for span in spans)


def boxes_named(words: Sequence[str], facts: Mapping[str, Any]) -> list[tuple[float, ...] | None]:
    """For each word of a caption, the box of the object that its phrase names; None for all other words."""
    ends = list(accumulate(len(word) + 1 for word in words))
    found: list[tuple[float, ...] | None] = [None] * len(words)
    for begin, _, box in named_words(" ".join(words), facts):
        found[bisect_right(ends, begin)] = box
    return found


def _is(kind: Kind, thing: Mapping[str, Any]) -> bool:
    attributes = kind.size in (None, thing["size"]), kind.colour == thing["colour"], kind.shape == thing["shape"]
    return all(attributes)
