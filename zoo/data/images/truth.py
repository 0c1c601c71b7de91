"""Whether a caption is true of a scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

from zoo.data.images.samples.grammar import Kind, read


def is_true(caption: Sequence[str] | str, facts: Mapping[str, Any]) -> bool:
    """Whether the scene has two objects as the caption, a text or its words, names them, and the one stands as it says,
    seen from the other. A sentence outside the grammar is false.

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


def relation(one: Sequence[float], other: Sequence[float]) -> str:
    """Where a point (x, y) lies, seen from another: `left`, `right`, `above` or `below`, the way it is farther off."""
    right, down = one[0] - other[0], one[1] - other[1]
    if abs(right) > abs(down):
        return "right" if right > 0 else "left"
    return "below" if down > 0 else "above"


def _is(kind: Kind, thing: Mapping[str, Any]) -> bool:
    attributes = kind.size in (None, thing["size"]), kind.colour == thing["colour"], kind.shape == thing["shape"]
    return all(attributes)
