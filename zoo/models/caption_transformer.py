"""Attention Is All You Need, from images.

Ashish Vaswani, Noam Shazeer, Niki Parmar, Jakob Uszkoreit, Llion Jones, Aidan N. Gomez, Łukasz Kaiser, Illia
Polosukhin. NeurIPS 2017. https://arxiv.org/abs/1706.03762

Equations: those in the header of `transformer`, whose layers and decoder run here. For the source:
- The encoder's layers read Dropout(W a_j + b + PE(j)), where a_j are the cells of an image from any image encoder,
  numbered row by row.

What differs from the paper:
- An image replaces the sentence, as in Bazzani, Domhan and Hieber 2018 (https://arxiv.org/abs/1810.04101). All its
  cells are real.
- Self-attention between cells can be left out (`encoder_layers`).
- `norm`, `positions`, `inner_dropout` and the initial weights are those of `transformer`. `tied`: the vocabulary layer
  and the embedding are one matrix.
- Attention between cells is not returned, because it belongs to an image and not to a caption.

Notation: I images, B captions, S cells, A width of a cell, T words, N real words of all, K hypotheses, V vocabulary, D
hidden_dim, H heads.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.attention import MultiHeadAttention
from zoo.data.images.batch import ImageBatch, ImageSpec
from zoo.layers.embedding import Positions, TokenEmbedding, positions_called
from zoo.layers.images.encoder import image_encoder
from zoo.layers.state import Annotations
from zoo.linear import Linear
from zoo.models.transformer import Layer, Norm, TransformerDecoder, end_norm

Tied = Literal["none", "target"]


class CaptionTransformer(TransformerDecoder):
    """The Transformer's decoder writes the caption; each of its layers attends to the cells of the image.

    `encoder` describes an `ImageEncoder`: its class as `_target_`, and its arguments. `encoder_layers`: None for no
    self-attention between cells. `norm` = post (the paper's) | pre. `positions` = sinusoidal | learned, of cells and of
    words. Raises ValueError for a width that the number of heads does not divide, or that is odd with sinusoidal
    positions.
    """

    tasks = ("captioning",)
    attends = {"source": "memory_mask", "decoder": "target_mask"}

    def __init__(
        self,
        spec: ImageSpec,
        *,
        encoder: Mapping[str, Any],
        hidden_dim: Count = 512,
        layers: Count = 6,
        encoder_layers: Count | None = 6,
        heads: Count = 8,
        feedforward_dim: Count = 2048,
        dropout: Share = 0.1,
        inner_dropout: Share = 0.0,
        norm: Norm = "post",
        positions: Positions = "sinusoidal",
        tied: Tied = "none",
    ) -> None:
        super().__init__()
        layer = partial(Layer, hidden_dim, heads, feedforward_dim, (dropout, inner_dropout), norm)
        self.dim, self.neighbourhood = hidden_dim, None
        self.encoder = image_encoder(encoder, spec)
        self.cells = nn.Linear(self.encoder.dim, hidden_dim)  # W, b
        self.source_positions = positions_called(positions, spec.cells, hidden_dim)
        self.encoder_layers = nn.ModuleList(layer(cross=False) for _ in range(encoder_layers or 0))
        self.target_embedding = TokenEmbedding(spec.target_size, hidden_dim)
        self.target_positions = positions_called(positions, spec.longest_target, hidden_dim)
        self.decoder = nn.ModuleList(layer(cross=True) for _ in range(layers))
        self.encoder_norm, self.decoder_norm = (end_norm(norm, hidden_dim) for _ in range(2))
        self.vocabulary = Linear(hidden_dim, spec.target_size)
        self.dropout = nn.Dropout(dropout)
        nn.init.xavier_uniform_(self.cells.weight)
        nn.init.zeros_(self.cells.bias)
        tables = [self.target_embedding, self.source_positions, self.target_positions]
        self._initialise(tables, tied=tied == "target")

    def encode(self, batch: ImageBatch, need_weights: bool) -> tuple[Annotations, dict[str, Tensor]]:

        def attend_self(module: MultiHeadAttention, y: Tensor) -> tuple[Tensor, Tensor | None]:
            return module(y, need_weights=False)

        cells = self.cells(self.encoder(batch.image))  # (I, S, D)
        number = torch.arange(cells.shape[1], device=cells.device)
        x = self.dropout(cells + self.source_positions(number))
        for layer in self.encoder_layers:
            x, _ = layer(x, attend_self)
        return Annotations.of_cells(self.encoder_norm(x), batch.picture), {}
