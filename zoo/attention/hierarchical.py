"""Attention in two levels: over the words of each turn of a dialogue, and over its turns (Xing et al. 2018).

Notation: B replies, K queries of each, M turns before a reply of at most W words, S words of all these turns, Q width
of a query, H of a word's vector, C of a turn's, A width of the scores.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from zoo.attention.scores import AdditiveScore
from zoo.attention.softmax import masked_softmax


class HierarchicalAttention(nn.Module):
    """For a query q, words h_ij and turns g_i, where word j is in turn i:

        a_ij = softmax over the words of turn i of v . tanh(W q + U h_ij),    r_i = sum_j a_ij h_ij,
        b_i = softmax over the turns of v' . tanh(W' q + G g_i + R r_i),    c = sum_i b_i r_i.

    The weight of a word is b_i a_ij: the weights of all words sum to one, and c is the mean of the words under them.
    """

    def __init__(self, query_dim: int, word_dim: int, turn_dim: int, attention_dim: int) -> None:
        super().__init__()
        self.words = AdditiveScore(query_dim, word_dim, attention_dim)  # v, W, U
        self.turns = AdditiveScore(query_dim, turn_dim, attention_dim)  # v', W', G
        self.read = nn.Linear(word_dim, attention_dim, bias=False)  # R

    def prepare(self, words: Tensor, turns: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Words (..., H) and turns (..., C) -> [h; R h] (..., H + A) and the keys of both, (..., A) each. R r_i is the
        mean of R h_ij, so that a query costs no product with R."""
        return torch.cat([words, self.read(words)], -1), self.words.prepare(words), self.turns.prepare(turns)

    def forward(self, query: Tensor, memory: Mapping[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        """The context c (B, K, H) of queries (B, K, Q), and the weights of words `source` (B, K, S) and of turns `turn`
        (B, K, M).

        Args:
            query: (B, K, Q).
            memory: what `prepare` returns, `words` (B, M, W, H + A), `word_keys` (B, M, W, A) and `turn_keys`
                (B, M, A); `mask` (B, M, W), True at words; and for each word of the source, as `place` (B, S) its cell
                in (M, W) and as `real` (B, S) True, False at padding.
        """
        mask, keys = memory["mask"], memory["word_keys"]
        scores = self.words(query, keys.flatten(1, 2)).unflatten(-1, keys.shape[1:3])  # (B, K, M, W)
        within = masked_softmax(scores, mask[:, None])
        found = (within.transpose(1, 2) @ memory["words"]).transpose(1, 2)  # [r_i; R r_i] (B, K, M, H + A)
        read, of_read = found.split([found.shape[-1] - keys.shape[-1], keys.shape[-1]], -1)
        scores = self.turns(query, memory["turn_keys"][:, None] + of_read)  # (B, K, M)
        turn = masked_softmax(scores, mask.any(-1)[:, None])
        context = (turn[:, :, None] @ read).squeeze(2)  # (B, K, H)
        of_words = (turn[..., None] * within).flatten(2)  # (B, K, M W)
        place = memory["place"][:, None].expand(-1, query.shape[1], -1)
        return context, {"source": of_words.gather(2, place) * memory["real"][:, None], "turn": turn}
