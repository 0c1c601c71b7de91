"""Replaces unknown words of a hypothesis by words of its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from zoo.decoding.hypothesis import Hypothesis
from zoo.errors import ConfigError


def replace_unknown(
    words: Sequence[str],
    hypothesis: Hypothesis,
    read: Sequence[str],
    *,
    unknown: int,
    dictionary: Mapping[str, str] | None = None,
) -> list[str]:
    """Return the `words` of the hypothesis, each unknown one replaced by a word that was read.

    A word with the id `unknown` becomes the word of `read` with the largest attention at that step, the mean over
    layers and heads; of equal ones the first. `dictionary` translates that word where it has an entry (Jean et al.
    2015, Luong et al. 2015). `words` has a word for each id, and `read` one for each of the memory's first positions.
    Positions after these, such as that of an end mark, are never copied. Raises ConfigError if the network has no
    attention on the source, and ValueError where counts do not fit.
    """
    if len(words) != len(hypothesis.ids):
        raise ValueError(f"{len(words)} words for {len(hypothesis.ids)} ids")
    if unknown not in hypothesis.ids or not read:
        return list(words)
    weights = hypothesis.alignment
    if weights is None:
        raise ConfigError("replace_unknown: this network has no attention on the words of the source; set it to false")
    if len(read) > weights.shape[1]:
        raise ValueError(f"{len(read)} words were read, but attention on {weights.shape[1]}")
    best = weights[:, : len(read)].argmax(1).tolist()
    found = [read[s] for s in best]
    return [
        (dictionary or {}).get(copied, copied) if id == unknown else word
        for word, id, copied in zip(words, hypothesis.ids, found, strict=True)
    ]
