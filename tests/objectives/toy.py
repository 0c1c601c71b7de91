"""A small network that follows the protocol of generation, and batches for it."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from zoo.attention import masked_softmax
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.state import State, Step
from zoo.models.output import Output

SPEC = PairSpec(source_size=9, target_size=8, longest_source=6, longest_target=9)


class Toy(nn.Module):
    """A GRU cell over the target with dot attention on the source's embeddings; float64."""

    def __init__(self, spec: PairSpec = SPEC, width: int = 5, dropout: float = 0.0, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.source = nn.Embedding(spec.source_size, width)
        self.target = TokenEmbedding(spec.target_size, width)
        self.cell = nn.GRUCell(width, width)
        self.output = nn.Linear(width, spec.target_size)
        self.dropout = nn.Dropout(dropout)
        self.double()

    def start(self, batch: PairBatch) -> State:
        source = self.source(batch.source) * batch.source_mask[..., None]
        return State({"source": source, "mask": batch.source_mask}, {"hidden": source.sum(1, keepdim=True).tanh()})

    def read(self, tokens: Tensor, state: State) -> tuple[Tensor, State, Tensor]:
        """Logits (B, K, V), the new state, the weights (B, K, S)."""
        x, hidden = self.target(tokens), state.hypotheses["hidden"]
        hidden = self.cell(x.flatten(0, 1), hidden.flatten(0, 1)).view(hidden.shape)
        source = state.memory["source"]
        weights = masked_softmax(hidden @ source.transpose(1, 2), state.memory["mask"][:, None])
        logits = self.output(self.dropout(hidden + weights @ source))
        return logits, State(state.memory, {"hidden": hidden}), weights

    def step(self, tokens: Tensor, state: State) -> Step:
        logits, state, weights = self.read(tokens, state)
        return Step(logits.log_softmax(-1), state, {"source": weights})

    def forward(self, batch: PairBatch, *, need_weights: bool = True) -> Output:
        assert batch.target_input is not None
        assert batch.target_mask is not None
        assert batch.target_packing is not None
        state, steps = self.start(batch), []
        for t in range(batch.target_input.shape[1]):
            logits, state, weights = self.read(batch.target_input[:, t, None], state)
            steps.append((logits, weights))
        scores, weights = (torch.cat(part, 1) for part in zip(*steps, strict=True))
        attention = {"source": weights * batch.target_mask[..., None]} if need_weights else {}
        return Output(batch.target_packing.pack(scores), attention)


def grid(rows: Sequence[Sequence[int]], padding: int = 0) -> tuple[Tensor, Tensor]:
    """Ids and mask (R, T) of rows of unequal length."""
    width = max(len(row) for row in rows)
    ids = torch.tensor([[*row, *[padding] * (width - len(row))] for row in rows])
    return ids, torch.arange(width) < torch.tensor([len(row) for row in rows])[:, None]


SOURCES = [[5, 6, 3], [4, 3], [7, 8, 5, 4, 3], [6, 3]]
TARGETS = [[4, 5, 3], [6, 6, 7, 4, 3], [3], [5, 4, 7, 3]]


def pairs(sources: Sequence[Sequence[int]] = SOURCES, targets: Sequence[Sequence[int]] = TARGETS) -> PairBatch:
    target, target_mask = grid(targets)
    return PairBatch(*grid(sources), target=target, target_mask=target_mask)


def gradients(total: Tensor, network: nn.Module) -> dict[str, Tensor]:
    """The gradient of `total` in each parameter, zero where it has none."""
    names, parameters = zip(*network.named_parameters(), strict=True)
    found = torch.autograd.grad(total, parameters, allow_unused=True, retain_graph=True)
    return {
        name: torch.zeros_like(parameter) if gradient is None else gradient
        for name, parameter, gradient in zip(names, parameters, found, strict=True)
    }
