"""The Transformer's whole training step against the library kernels that it cannot do without. Run: python -m
benchmarks.transformer

Batch and step are those of `benchmarks.pairs`; D 512, 3 + 3 layers, 8 heads, 2048 units, no dropout. Floor: the same
net in plain library calls on the padded grid, the vocabulary on the real tokens, forward and backward alone. Beside it
the whole step of nn.Transformer as public code has it, the vocabulary on the padded grid.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.pairs import HIDDEN, SPEC, VOCABULARY, floor_step, run, whole_step
from zoo.data.pairs.batch import PairBatch
from zoo.models.transformer import Transformer

LAYERS, HEADS, FEEDFORWARD = 3, 8, 2048


class Kernels(nn.Module):
    """The weights of one layer and its library calls, on tokens (B, L, D)."""

    def __init__(self, source: bool) -> None:
        super().__init__()
        d = HIDDEN
        self.self_attention, self.self_attention_out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        if source:
            self.query, self.memory, self.source_out = nn.Linear(d, d), nn.Linear(d, 2 * d), nn.Linear(d, d)
        self.wide, self.narrow = nn.Linear(d, FEEDFORWARD), nn.Linear(FEEDFORWARD, d)
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(3 if source else 2))

    def forward(
        self, x: Tensor, mask: Tensor | None, memory: Tensor | None = None, see: Tensor | None = None
    ) -> Tensor:
        q, k, v = heads(self.self_attention(x), 3)
        x = self.norms[0](
            x + self.self_attention_out(merge(F.scaled_dot_product_attention(q, k, v, mask, is_causal=mask is None)))
        )
        if memory is not None:
            (q,), (k, v) = heads(self.query(x), 1), heads(self.memory(memory), 2)
            x = self.norms[1](x + self.source_out(merge(F.scaled_dot_product_attention(q, k, v, see))))
        return self.norms[-1](x + self.narrow(self.wide(x).relu_()))


def heads(x: Tensor, parts: int) -> tuple[Tensor, ...]:
    """(B, L, parts * D) -> `parts` views (B, H, L, E)."""
    return x.view(*x.shape[:2], parts, HEADS, -1).permute(2, 0, 3, 1, 4).unbind(0)


def merge(x: Tensor) -> Tensor:
    """(B, H, L, E) -> (B, L, D)."""
    return x.transpose(1, 2).flatten(2)


def padded_floor(batch: PairBatch) -> Callable[[], None]:
    """Library calls on the padded grid, and the vocabulary layer on the real tokens."""
    embeddings = [nn.Embedding(VOCABULARY, HIDDEN) for _ in range(2)]
    encoder, decoder = ([Kernels(source) for _ in range(LAYERS)] for source in (False, True))
    vocabulary = nn.Linear(HIDDEN, VOCABULARY)
    mask = batch.source_mask[:, None, None]
    assert batch.target_packing is not None
    packing = batch.target_packing

    def forward() -> Tensor:
        memory, x = embeddings[0](batch.source), embeddings[1](batch.target_input)
        for layer in encoder:
            memory = layer(memory, mask)
        for layer in decoder:
            x = layer(x, None, memory, mask)
        return vocabulary(packing.pack(x))

    return floor_step([*embeddings, *encoder, *decoder, vocabulary], forward)


class Public(nn.Module):
    """nn.Transformer with embeddings and a vocabulary layer, as tutorials have it: on the padded grid throughout."""

    def __init__(self) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(VOCABULARY, HIDDEN), nn.Embedding(VOCABULARY, HIDDEN)
        self.transformer = nn.Transformer(HIDDEN, HEADS, LAYERS, LAYERS, FEEDFORWARD, dropout=0.0, batch_first=True)
        self.vocabulary = nn.Linear(HIDDEN, VOCABULARY)

    def forward(self, batch: PairBatch) -> Tensor:
        blocked = ~batch.source_mask
        assert batch.target_input is not None
        length = batch.target_input.shape[1]
        x = self.transformer(
            self.source(batch.source),
            self.target(batch.target_input),
            tgt_mask=torch.ones(length, length, dtype=torch.bool).triu(1),
            src_key_padding_mask=blocked,
            memory_key_padding_mask=blocked,
            tgt_key_padding_mask=~batch.target_mask,
            tgt_is_causal=True,
        )
        return self.vocabulary(x)


def public_step(batch: PairBatch) -> Callable[[], None]:
    """A whole training step of nn.Transformer: padded scores, `ignore_index`, clip, fused Adam."""
    model = Public()
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    assert batch.target is not None

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(batch).flatten(0, 1), batch.target.flatten(), ignore_index=SPEC.padding).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step


def steps(batch: PairBatch) -> dict[str, Callable[[], None]]:
    """The steps that are timed on one batch."""
    torch.manual_seed(0)

    def model(dropout: float) -> Transformer:
        return Transformer(
            SPEC, hidden_dim=HIDDEN, layers=LAYERS, heads=HEADS, feedforward_dim=FEEDFORWARD, dropout=dropout
        )

    return {
        "step": whole_step(model(0.0), batch),
        "step with dropout": whole_step(model(0.1), batch),
        "floor": padded_floor(batch),
        "nn.Transformer": public_step(batch),
    }


if __name__ == "__main__":
    run(
        "transformer",
        steps,
        {
            "step_by_floor": ("step", "floor"),
            "step_with_dropout_by_floor": ("step with dropout", "floor"),
            "nn_transformer_by_floor": ("nn.Transformer", "floor"),
        },
    )
