"""Attention in two levels: over the words of each turn of a dialogue, and over its turns (Xing et al. 2018).

Notation: B replies, K queries of each, M turns before a reply, S words of all these turns, Q width of a query, H of a
word's vector, C of a turn's, A width of the scores.
"""

from collections.abc import Mapping

from torch import Tensor, nn

from zoo.attention.scores import AdditiveScore
from zoo.attention.softmax import masked_softmax
from zoo.linear import Linear


class HierarchicalAttention(nn.Module):
    """For a query q, words h_ij and turns g_i, where word j stands in turn i:

        a_ij = softmax over the words of turn i of v . tanh(W q + U h_ij),    r_i = sum_j a_ij h_ij,
        b_i = softmax over the turns of v' . tanh(W' q + G g_i + R r_i),    c = sum_i b_i r_i.

    The weight of a word is b_i a_ij: the weights of all words sum to one, and c is the mean of the words under them.
    """

    def __init__(self, query_dim: int, word_dim: int, turn_dim: int, attention_dim: int) -> None:
        super().__init__()
        self.words = AdditiveScore(query_dim, word_dim, attention_dim)  # v, W, U
        self.turns = AdditiveScore(query_dim, turn_dim, attention_dim)  # v', W', G
        self.read = Linear(word_dim, attention_dim, bias=False)  # R

    def forward(self, query: Tensor, memory: Mapping[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        """The context c (B, K, H) of queries (B, K, Q), and the weights of words `source` (B, K, S) and of turns `turn`
        (B, K, M).

        Args:
            query: (B, K, Q).
            memory: `words` (B, S, H), `word_keys` (B, S, A) and `turn_keys` (B, M, A), the prepared words and turns,
                and `member` (B, M, S), True where a word stands in a turn.
        """
        member = memory["member"]
        scores = self.words(query, memory["word_keys"])  # (B, K, S)
        within = masked_softmax(scores[:, :, None].expand(*scores.shape[:2], *member.shape[1:]), member[:, None])
        found = (within.flatten(1, 2) @ memory["words"]).unflatten(1, within.shape[1:3])  # r_i (B, K, M, H)
        keys = memory["turn_keys"][:, None] + self.read(found)  # (B, K, M, A)
        turn = masked_softmax(self.turns(query, keys), member.any(-1)[:, None])  # (B, K, M)
        context = (turn[:, :, None] @ found).squeeze(2)  # (B, K, H)
        return context, {"source": (turn[:, :, None] @ within).squeeze(2), "turn": turn}
