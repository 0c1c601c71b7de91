"""Words that the vocabulary lacks, taken from the memory."""

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
    """The hypothesis' `words`, with what was read in place of each unknown one.

    A word whose id is `unknown` becomes the word of `read` with the largest attention at that step, the mean over
    layers and heads; of equals the first. `dictionary` translates that word where it has it (Jean et al. 2015, Luong
    et al. 2015). `words` has a word for each id, `read` one for each of the memory's first positions: what stands
    behind them, such as an end mark, is never copied. Raises ConfigError where the network has no attention, ValueError
    where counts do not fit.
    """
    if len(words) != len(hypothesis.ids):
        raise ValueError(f"{len(words)} words for {len(hypothesis.ids)} ids")
    if unknown not in hypothesis.ids or not read:
        return list(words)
    weights = hypothesis.alignment
    if weights is None:
        raise ConfigError("this network has no attention, by which unknown words could be replaced")
    if len(read) > weights.shape[1]:
        raise ValueError(f"{len(read)} words were read, but attention on {weights.shape[1]}")
    best = weights[:, : len(read)].argmax(1).tolist()
    found = [read[s] for s in best]
    return [
        (dictionary or {}).get(copied, copied) if id == unknown else word
        for word, id, copied in zip(words, hypothesis.ids, found, strict=True)
    ]
