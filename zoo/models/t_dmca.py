"""Generating Wikipedia by Summarizing Long Sequences.

Peter J. Liu, Mohammad Saleh, Etienne Pot, Ben Goodrich, Ryan Sepassi, Łukasz Kaiser, Noam Shazeer. ICLR 2018.
https://arxiv.org/abs/1801.10198

Equations: those of `zoo.attention.reach` for local and memory-compressed attention, section 4.2.3; the others are those
of `transformer`. The decoder alone over (documents, separator, summary) 4.2.2, extraction of paragraphs 4.1
(`data.text.extraction`). `layers=LMLML` is the paper's T-DMCA, `layers=FFFFF` its T-D with five layers; its T-ED is
`model=transformer`.

What differs from the paper:
- Block j of a compressed memory covers the tokens 3j ... 3j + 2, and token i sees it if 3j + 2 <= i. The paper does not
  say which tokens see a block.
- An empty slot with score 0 and value 0 is always seen. Without it the first two tokens would see nothing.
- Positions count from the first token of the documents. The separator is the token `begin`.
- The loss is the sum over the summary's tokens and `source_loss` times the sum over the documents' tokens, divided by
  the number of the summary's tokens. With 1 it is the paper's mean over all tokens, up to a factor. Only training
  computes the second sum: all metrics are those of the summary.
- No mixture of experts.
- Biases, `norm`, `positions`, `inner_dropout` and initial weights are those of `transformer`.

Notation: B examples, K hypotheses, S tokens of the documents, T tokens of the summary, W = S + T, N real tokens of all,
V vocabulary, D hidden_dim, H heads, n tokens in the history, t tokens written so far.
"""

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Annotated, Any, cast

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from zoo.arguments import Count, NonNegative, Share
from zoo.attention import MultiHeadAttention
from zoo.attention.reach import Compressed, Full, Local, Prefix, Reach, attend_on_both
from zoo.data.copying.batch import CopyBatch, CopySpec
from zoo.layers.embedding import Positions, TokenEmbedding, positions_called
from zoo.layers.history import appended
from zoo.layers.packing import Cells
from zoo.layers.state import State, Step, log_probabilities
from zoo.linear import Linear
from zoo.models.network import WritingNetwork
from zoo.models.output import Output
from zoo.models.transformer import Layer, Norm, end_norm, initialise
from zoo.precision import precise

Letters = Annotated[str, Field(pattern="^[LMF]+$", description="a word of the letters L, M and F, such as LMLML")]


class CompressedDecoder(WritingNetwork):
    """One decoder that reads documents and goes on with their summary.

    `layers` is a word with a letter for each layer: L local attention within blocks of `block` tokens, M attention on a
    memory in which `compression` tokens are one slot, F attention to all tokens. The attention `source.<layer>`
    (B, H, T, S) of M and F is the part that falls on the documents. A slot's weight is spread evenly over its tokens,
    and the last S % 3 tokens of documents get none from M.

    Raises ValueError for a width that the number of heads does not divide, or that is odd with sinusoidal positions.
    """

    tasks = ("summarization",)
    attends = {"source": "memory_mask"}
    not_exported = "continues its documents, and `zoo export` writes an encoder and a decoder"

    def __init__(
        self,
        spec: CopySpec,
        *,
        hidden_dim: Count = 512,
        layers: Letters = "LMLML",
        heads: Count = 8,
        feedforward_dim: Count = 2048,
        block: Count = 256,
        compression: Count = 3,
        dropout: Share = 0.1,
        inner_dropout: Share = 0.0,
        norm: Norm = "post",
        positions: Positions = "sinusoidal",
        source_loss: NonNegative = 1.0,
    ) -> None:
        super().__init__()
        self.dim, self.source_loss = hidden_dim, source_loss
        kinds: dict[str, Callable[[], Reach]] = {
            "L": lambda: Local(block),
            "M": lambda: Compressed(hidden_dim, compression),
            "F": Full,
        }
        self.embedding = TokenEmbedding(spec.vocabulary_size, hidden_dim)
        self.positions = positions_called(positions, spec.longest_source + spec.longest_target, hidden_dim)
        self.layers = nn.ModuleList(
            Layer(hidden_dim, heads, feedforward_dim, (dropout, inner_dropout), norm, cross=False) for _ in layers
        )
        self.reaches = nn.ModuleList(kinds[letter]() for letter in layers)
        self.norm = end_norm(norm, hidden_dim)
        self.vocabulary = Linear(hidden_dim, spec.vocabulary_size)
        self.dropout = nn.Dropout(dropout)
        initialise(self.vocabulary, [self.embedding, self.positions])

    @property
    def unnormalised(self) -> tuple[str, ...]:
        """The rest of the weights is on the summary, and on the empty slot."""
        return tuple(f"source.{n}" for n, reach in enumerate(self.reaches) if not isinstance(reach, Local))

    def forward(self, batch: CopyBatch, *, need_weights: bool = True) -> Output:
        """Scores (N', V) of the summary's tokens, and the attention `source.<layer>`; in training the loss `source` of
        the documents' tokens."""
        read, rows, target = batch.forced
        source, lengths = batch.source_packing, batch.source_mask.sum(1)
        count, row = len(source.row), torch.cat([source.row, target.row])
        position = torch.cat([source.time, lengths.index_select(0, target.row) + target.time])
        shape = len(batch), batch.source.shape[1] + read.shape[1]
        cells = Cells(shape, row * shape[1] + position, row)  # a summary comes right after its documents
        x = self._embed(torch.cat([source.pack(batch.source), target.pack(read)]), position)
        asked = lengths[:, None] + torch.arange(read.shape[1], device=lengths.device)  # (B, T)
        attention = dict[str, Tensor]()
        for number, (layer, reach) in enumerate(self._stack()):

            def attend(module: MultiHeadAttention, y: Tensor, reach: Reach = reach) -> tuple[Tensor, Tensor | None]:
                projected = module.project(y)  # (N, 3D)
                grid = cells.unpack(projected)  # (B, W, 3D)
                output = module.output(cells.pack(reach(module, grid)))
                if not need_weights:
                    return output, None
                return output, reach.weights(module, grid, target.unpack(projected[count:, : self.dim]), asked, lengths)

            x, (weights,) = layer(x, attend)
            if weights is not None:
                attention[f"source.{number}"] = weights[..., : batch.source.shape[1]].masked_fill(
                    ~(rows[:, :, None] & batch.source_mask[:, None])[:, None], 0.0
                )
        losses = {}
        if self.training and self.source_loss:
            total = self._source_loss(x[:count], batch) / max(1, len(target.row))
            losses["source"] = self.source_loss * total
        return Output(self.vocabulary(self.norm(x[count:])), attention, losses)

    def start(self, batch: CopyBatch) -> State:
        """Reads the documents: the slots of every layer that the summary can see."""
        packing, lengths = batch.source_packing, batch.source_mask.sum(1)
        memory, history = {"mask": batch.source_mask}, {}
        hypotheses = {"position": lengths[:, None], "own": lengths.new_zeros(len(batch), 1, 0)}
        x = self._embed(packing.pack(batch.source), packing.time)
        for number, (layer, reach) in enumerate(self._stack()):

            def attend(
                module: MultiHeadAttention, y: Tensor, reach: Reach = reach, number: int = number
            ) -> tuple[Tensor, None]:
                grid = packing.unpack(module.project(y))  # (B, S, 3D)
                known = reach.prefix(module, grid, lengths)
                memory.update({f"{name}.{number}": part.contiguous() for name, part in known._asdict().items()})
                hypotheses[f"opened.{number}"] = reach.opened(grid, lengths)[:, None]
                history[f"read.{number}"] = grid.new_zeros(len(batch), 0, 2 * self.dim)
                return module.output(packing.pack(reach(module, grid))), None

            x, _ = layer(x, attend)
        return State(memory, hypotheses, history=history)

    def step(self, tokens: Tensor, state: State) -> Step:
        """Reads one token of each hypothesis: (B, K) ids or (B, K, V) probabilities.

        The history of a layer has an entry (B, n, 2D) for each token that the hypotheses of an example read; `own`
        (B, K, t) has the numbers of those of a hypothesis. `opened` is what an M layer has of a block that is not full.
        """
        before, mask = state.hypotheses, state.memory["mask"]
        lengths, position = mask.sum(1), before["position"]  # (B,), (B, K)
        count = state.history["read.0"].shape[1]
        new = torch.arange(count, count + tokens.shape[1], device=position.device)
        own = torch.cat([before["own"], new[:, None].expand(len(tokens), -1, 1)], 2)  # (B, K, t + 1)
        written = lengths[:, None, None] + torch.arange(own.shape[2], device=own.device)  # (B, 1, t + 1)
        after, history, attention = {"position": position + 1, "own": own}, {}, {}
        x = self._embed(tokens, position)
        for number, (layer, reach) in enumerate(self._stack()):
            prefix = Prefix(*(state.memory[f"{name}.{number}"] for name in Prefix._fields))
            seen = reach.continued(written, position[..., None]).expand_as(own)
            seen = seen.new_zeros(*own.shape[:2], count + tokens.shape[1]).scatter(2, own, seen)
            visible = reach.visible(prefix.mask, lengths, position), seen

            def attend(
                module: MultiHeadAttention,
                y: Tensor,
                reach: Reach = reach,
                number: int = number,
                prefix: Prefix = prefix,
                visible: tuple[Tensor, Tensor] = visible,
            ) -> tuple[Tensor, Tensor | None]:
                q, new = module.project(y).split([self.dim, 2 * self.dim], -1)
                entry, after[f"opened.{number}"] = reach.entry(new, before[f"opened.{number}"], position)
                history[f"read.{number}"] = appended(state.history[f"read.{number}"], entry)
                context, weights = attend_on_both(module, q, prefix, history[f"read.{number}"], visible)
                return module.output(context), reach.on_tokens(weights, mask.shape[1])

            x, (weights,) = layer(x, attend)
            if weights is not None:
                attention[f"source.{number}"] = weights.transpose(1, 2)  # (B, K, H, S)
        log_probs = log_probabilities(self.vocabulary(self.norm(x)))
        return Step(log_probs, State(state.memory, after, history=history), attention)

    def _stack(self) -> Sequence[tuple[Layer, Reach]]:
        return cast(Any, list(zip(self.layers, self.reaches, strict=True)))

    def _embed(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Tokens (...) or probabilities (..., V) and their positions (...) -> (..., D)."""
        return self.dropout(self.embedding(tokens) * sqrt(self.dim) + self.positions(positions))

    def _source_loss(self, x: Tensor, batch: CopyBatch) -> Tensor:
        """Sum of -log p of the documents' tokens but the first of each, from the outputs (N, D) at the documents."""
        following = torch.cat([batch.source[:, 1:], batch.source[:, :1]], 1)
        follows = torch.cat([batch.source_mask[:, 1:], torch.zeros_like(batch.source_mask[:, :1])], 1)
        wanted = batch.source_packing.pack(following.masked_fill(~follows, -100))
        return F.cross_entropy(precise(self.vocabulary(self.norm(x))), wanted, reduction="sum")
