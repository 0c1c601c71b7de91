"""Neural Machine Translation by Jointly Learning to Align and Translate, from images.

Dzmitry Bahdanau, Kyunghyun Cho, Yoshua Bengio. ICLR 2015. https://arxiv.org/abs/1409.0473

Equations: decoder, attention and output as in the header of `rnnsearch`, whose code runs here. For the source:
- The annotations are the cells of an image, h_j = a_j, from any image encoder.
- s_0 = tanh(W_s mean_j a_j).

What differs from the paper:
- An image replaces the sentence, as in Bazzani, Domhan and Hieber 2018 (https://arxiv.org/abs/1810.04101). s_0 is
  computed from the mean of its cells; the paper computes it from the backward state of the first word.
- If the keys of `score` must be as wide as the query (dot, scaled_dot, cosine), the key is a projection of a_j.
- `dropout` and `init` are those of `rnnsearch`; they do not affect the image encoder.

Notation: I images, B captions, S cells, D width of a cell, T words, N real words of all, K hypotheses, E embedding, n
hidden units, l maxout units, V vocabulary.
"""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.attention.scores import ScoreName, score_class
from zoo.attention.scores import score as score_called
from zoo.data.images.batch import ImageBatch, ImageSpec
from zoo.layers.images.encoder import image_encoder
from zoo.layers.state import Annotations
from zoo.models.rnnsearch import Init, RNNSearchDecoder


class CaptionRNNSearch(RNNSearchDecoder):
    """RNNsearch's GRU writes the caption and attends to the cells of the image before each word.

    `encoder` describes an `ImageEncoder`: its class as `_target_`, and its arguments. `score` = additive (the paper's)
    | any other of `zoo.attention.SCORES` | the dotted name of your own `Score`.
    """

    tasks = ("captioning",)

    def __init__(
        self,
        spec: ImageSpec,
        *,
        encoder: Mapping[str, Any],
        embedding_dim: Count = 620,
        hidden_dim: Count = 1000,
        attention_dim: Count = 1000,
        maxout_dim: Count = 500,
        score: ScoreName = "additive",
        dropout: Share = 0.0,
        init: Init = "orthogonal",
    ) -> None:
        super().__init__()
        self.encoder = image_encoder(encoder, spec)
        cell_dim = self.encoder.dim
        self.initial_state = nn.Linear(cell_dim, hidden_dim, bias=False)  # W_s
        same = score_class(score).equal_widths
        self.key = nn.Linear(cell_dim, hidden_dim, bias=False) if same else nn.Identity()
        self._add_decoder(
            score_called(score, hidden_dim, hidden_dim if same else cell_dim, attention_dim, spec.cells),
            (spec.target_size, spec.begin),
            cell_dim,
            (embedding_dim, hidden_dim, maxout_dim),
            dropout,
        )
        self._initialise(init, (part for part in self.children() if part is not self.encoder))

    def encode(self, batch: ImageBatch) -> tuple[Annotations, Tensor]:
        cells = self.encoder(batch.image)  # (I, S, D)
        s = self.initial_state(cells.mean(1)).tanh()  # (I, n)
        return Annotations.of_cells(cells, batch.picture), s.index_select(0, batch.picture)

    def _keys(self, h: Tensor) -> Tensor:
        """(I, S, D) -> keys as wide as the score requires."""
        return self.key(h)
