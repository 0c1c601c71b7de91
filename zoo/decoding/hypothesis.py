"""The result of decoding: a sequence of tokens, its probability and the attention of each step. Its unknown words can
be replaced by words of the source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from zoo.errors import ConfigError
from zoo.layers.state import Memories, source_attention


@dataclass(frozen=True)
class Hypothesis:
    """One written sequence of T tokens."""

    ids: tuple[int, ...]
    """(T,) the tokens with the end, if it was written; without begin, padding and the prompt."""
    log_prob: float
    """Sum of the log-probabilities of `ids`, the end included. With a language model beside the network, its own are
    added by weight, and the sum is not a log-probability."""
    score: float
    """The number that it was ranked by: `log_prob` unless a beam search adds penalties."""
    finished: bool
    """Whether it ends in the end token. False if the rules and the network allow no next token. Also False if a text
    that is continued, or has no end token, was cut at the maximum length."""
    attention: dict[str, Tensor] = field(default_factory=dict)
    """(T, S) weights by name, the mean of the heads, on the CPU. Row t belongs to the step that wrote token t, and the
    columns are the positions that exist in the memory of this name. Empty where the network gives none."""
    joins: int | None = 1
    """The number of positions of the batch's memory, such as source tokens, that each column of `source` joins. None
    where the columns do not join neighbours."""

    @property
    def alignment(self) -> Tensor | None:
        """(T, S) the mean of the layers' attention on the batch's memory, for pictures and unknown words. None
        where the network has none, or chooses the positions itself."""
        return self.looks if self.joins == 1 else None

    @property
    def looks(self) -> Tensor | None:
        """(T, S) the mean of the layers' attention on columns that join `joins` positions each. None where the network
        has no attention, or where `joins` is None."""
        return None if self.joins is None else source_attention(self.attention)


def heads_mean(attention: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a step, (B, K, S) or with heads (B, K, H, S) -> (B, K, S)."""
    return {name: weights.mean(2) if weights.dim() == 4 else weights for name, weights in attention.items()}


def as_hypotheses(
    ids: Tensor,
    lengths: Tensor,
    log_probs: Tensor,
    scores: Tensor,
    finished: Tensor,
    attention: Mapping[str, Tensor],
    memories: Memories,
) -> list[list[Hypothesis]]:
    """For each of B examples the hypotheses whose score is above -inf, in the order given.

    `ids` (B, N, T), `lengths` (B, N) tokens of each, `log_probs` and `scores` (B, N), `finished` (B, N), `attention`
    (B, N, T, S) by name, and in `memories` the positions of each of these names.
    Raises FloatingPointError where a log-probability is NaN.
    """
    if log_probs.isnan().any():
        raise FloatingPointError("the network gave NaN as the log-probability of a token")
    weights = {name: (values.cpu(), memories[name].mask.cpu()) for name, values in attention.items()}
    joins = next((memories[name].joins for name in attention if name.split(".")[0] == "source"), 1)
    rows = zip(*(part.tolist() for part in (ids, lengths, log_probs, scores, finished)), strict=True)
    result: list[list[Hypothesis]] = []
    for b, columns in enumerate(rows):
        result.append([])
        for n, (tokens, length, log_prob, score, ended) in enumerate(zip(*columns, strict=True)):
            if score > -torch.inf:
                seen = {name: values[b, n, :length, real[b]] for name, (values, real) in weights.items()}
                result[b].append(Hypothesis(tuple(tokens[:length]), log_prob, score, ended, seen, joins))
    return result


def replace_unknown(
    words: Sequence[str],
    hypothesis: Hypothesis,
    read: Sequence[str],
    *,
    unknown: int,
    dictionary: Mapping[str, str] | None = None,
) -> list[str]:
    """Return the `words` of the hypothesis, each unknown one replaced by a word that was read.

    A word with the id `unknown` becomes the word of `read` with the largest attention at that step, averaged over
    layers and heads; of equal ones the first. `dictionary` translates that word if it has an entry (Jean et al.
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
