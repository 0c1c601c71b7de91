"""Words that the vocabulary lacks, taken from the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from zoo.decoding.hypothesis import Hypothesis
from zoo.errors import ConfigError


def replace_unknown(
    words: Sequence[str],
    hypothesis: Hypothesis,
    source: Sequence[str],
    *,
    unknown: int,
    dictionary: Mapping[str, str] | None = None,
) -> list[str]:
    """The hypothesis' `words`, with what stands in the source in place of each unknown one.

    A word whose id is `unknown` becomes the word of `source` with the largest attention at that step, the mean over
    layers and heads; of equals the first. `dictionary` translates that word where it has it (Jean et al. 2015, Luong
    et al. 2015). `words` has a word for each id, `source` the source's words without their end mark, so that the end is
    never copied. Raises ConfigError where the network has no attention, ValueError where counts do not fit.
    """
    if len(words) != len(hypothesis.ids):
        raise ValueError(f"{len(words)} words for {len(hypothesis.ids)} ids")
    if unknown not in hypothesis.ids or not source:
        return list(words)
    weights = hypothesis.alignment
    if weights is None:
        raise ConfigError("this network has no attention, by which unknown words could be replaced")
    if len(source) > weights.shape[1]:
        raise ValueError(f"{len(source)} source words, but attention on {weights.shape[1]}")
    best = weights[:, : len(source)].argmax(1).tolist()
    found = [source[s] for s in best]
    return [
        (dictionary or {}).get(copied, copied) if id == unknown else word
        for word, id, copied in zip(words, hypothesis.ids, found, strict=True)
    ]
