"""Heads over the states of all nodes: a class for each node, or a grade for the similarity of two trees.

Notation: as in `forest`; D width of a state, C classes, B pairs, G grades.
"""

from math import prod

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.layers.pooling import AttentionPooling
from zoo.layers.trees.forest import Forest

Answer = tuple[Tensor, dict[str, Tensor]]  # Logits, and attention by its name


LEVELS = 2**16


class Dropout(nn.Dropout):
    """In training, each number of x becomes 0 with probability `p`, else x / (1 - p). Otherwise x is unchanged.

    On the CPU torch's own mask takes eight times as long to draw: a tenth of a Tree-LSTM's step, where dropout acts on
    all nodes. Here one draw of 64 bits serves four numbers, so that `p` is the nearest multiple of 2^-16. On other
    devices torch's own dropout is used.
    """

    def forward(self, x: Tensor) -> Tensor:
        """(...) -> (...)."""
        dropped = round(self.p * LEVELS)
        if not self.training or dropped in (0, LEVELS) or x.device.type != "cpu":
            return F.dropout(x, self.p, self.training)
        count = prod(x.shape)
        draws = torch.empty(-(-count // 4), dtype=torch.int64).random_(-(2**63), None)
        kept = draws.view(torch.int16)[:count].view(x.shape) >= dropped - LEVELS // 2
        return x * kept.to(x.dtype).mul_(LEVELS / (LEVELS - dropped))


class NodeClassifier(nn.Module):
    """softmax(W dropout(h) + b) at every node. With attention a root is classified by the weighted mean of its
    tree's nodes instead of its own state."""

    def __init__(self, dim: int, classes: int, dropout: float, pooling: AttentionPooling | None) -> None:
        super().__init__()
        self.pooling = pooling
        self.dropout = Dropout(dropout)
        self.classifier = nn.Linear(dim, classes)

    def forward(self, states: Tensor, forest: Forest) -> Answer:
        """(N, D) -> scores (N, C), attention `node` (T, M)."""
        if self.pooling is None:
            return self.classifier(self.dropout(states)), {}
        pooled, weights = self.pooling(states, forest.cells)  # (T, D), (T, M)
        states = states.index_copy(0, forest.root, pooled.index_select(0, forest.nonempty))
        return self.classifier(self.dropout(states)), {"node": weights}


class Similarity(nn.Module):
    """h_x = h_L h_R, h_+ = |h_L - h_R|, h_s = sigmoid(W_x h_x + W_+ h_+ + b), scores W_p h_s + b of the grades (Tai et
    al. 2015, equation 15)."""

    def __init__(
        self, dim: int, grades: int, hidden_dim: int, dropout: float, pooling: AttentionPooling | None
    ) -> None:
        super().__init__()
        self.pooling = pooling
        self.dropout = Dropout(dropout)
        self.product = nn.Linear(dim, hidden_dim)
        self.distance = nn.Linear(dim, hidden_dim, bias=False)
        self.grade = nn.Linear(hidden_dim, grades)

    def forward(self, states: Tensor, forest: Forest) -> Answer:
        """(N, D) of 2 B trees -> scores (B, G), attention `node` (B, 2, M)."""
        attention = {}
        if self.pooling is None:
            of_tree = forest.at_root(states)  # (2B, D)
        else:
            of_tree, weights = self.pooling(states, forest.cells)
            attention["node"] = weights.view(-1, 2, weights.shape[1])
        left, right = self.dropout(of_tree).view(-1, 2, states.shape[1]).unbind(1)  # (B, D)
        h = (self.product(left * right) + self.distance((left - right).abs())).sigmoid()  # (B, hidden)
        return self.grade(h), attention
