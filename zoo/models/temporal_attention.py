"""Describing Videos by Exploiting Temporal Structure.

Li Yao, Atousa Torabi, Kyunghyun Cho, Nicolas Ballas, Christopher Pal, Hugo Larochelle, Aaron Courville. ICCV 2015.
https://arxiv.org/abs/1502.08029

Equations: those of `attending_lstm`, whose code runs here, over the frames of a clip instead of the places of an image.
- The temporal features V = (v_1 ... v_F): v_i is what an image encoder sees in frame i and, with `motion`, how it
  moves.
- The weights of a word, alpha_t = softmax over the frames of w . tanh(W_a h_{t-1} + U_a v_i + b_a), and the context
  phi_t(V) = sum_i alpha_ti v_i, which the LSTM and the output read.
- h_0 = tanh(W_h mean_i v_i + b_h), c_0 = tanh(W_c mean_i v_i + b_c).

What differs from the paper:
- The padding of a batch has weight 0. In the authors' code it has weights: their mask is used for the mean alone.
- The paper's motion is that of a 3-D convolutional network over histograms of gradients and of flow, trained on
  recognising actions. `motion=conv3d` is one 3-D convolution over the cells of neighbouring frames, trained with the
  rest. `motion=differences` has no weights: it is the change since the frame before, up and down.
- With `times` v_i also has sines and cosines of the time of its frame. The attention of the paper does not see the
  order of the frames, apart from the motion between neighbours: without `times` two events have no order.
- The gate on the context and the tanh of the output are those of the code; the paper's equations do not have them.
  `gate=none` and `deep_output=false` leave them out.
- A frame is the mean of its cells with data.grid=[1,1], as the last pool of GoogLeNet in the paper. With a finer grid
  it is the vectors of the cells, concatenated, so that a place in the frame matters.
- `dropout` acts on h_t before the output and on s_t, and `init` is that of `attending_lstm`; the paper does not state
  them. The penalty on unused frames is `regularizer=doubly_stochastic`, whose weight is 0.7 in the authors' code.

Notation: I clips, B captions, F frames, D width of a frame's vector; the rest as in `attending_lstm`.
"""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.data.clips.batch import ClipBatch, ClipSpec
from zoo.layers.images.frames import FrameEncoder, Motion
from zoo.models.attending_lstm import AttendingLSTM, Gate, Init, Widths


class TemporalAttention(AttendingLSTM):
    """An LSTM writes the caption and attends to the frames of the clip before each word.

    `encoder` describes an `ImageEncoder`: its class as `_target_`, and its arguments. `motion` = none | differences |
    conv3d and `times`, see `FrameEncoder`; `motion_dim` is the width of conv3d.
    """

    tasks = ("clip_captioning",)

    def __init__(
        self,
        spec: ClipSpec,
        *,
        encoder: Mapping[str, Any],
        motion: Motion = "none",
        motion_dim: Count = 352,
        times: bool = False,
        embedding_dim: Count = 468,
        hidden_dim: Count = 3518,
        attention_dim: Count = 512,
        gate: Gate = "scalar",
        deep_output: bool = True,
        dropout: Share = 0.5,
        init: Init = "orthogonal",
    ) -> None:
        super().__init__()
        self.frames = FrameEncoder(spec, encoder, motion, motion_dim, times=times)
        widths = Widths(self.frames.dim, embedding_dim, hidden_dim, attention_dim)
        self.add_decoder(spec, widths, gate=gate, energy="tanh", deep_output=deep_output, shared=False)
        self.dropout = nn.Dropout(dropout)
        self._initialise(init)

    def annotations(self, batch: ClipBatch) -> tuple[Tensor, Tensor]:
        return self.frames(batch), batch.frame_mask
