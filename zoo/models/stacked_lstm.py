"""Neural Turing Machines: the LSTM baseline.

Alex Graves, Greg Wayne, Ivo Danihelka. 2014. https://arxiv.org/abs/1410.5401

Equations: none of its own. It is the network that section 4 of the paper compares with: three stacked LSTM layers, with
the sizes of its table 3. The LSTM is that of Hochreiter and Schmidhuber 1997, with forget gates.

What differs from the paper:
- There are no peepholes, which the paper does not mention. The output reads the highest layer alone.
- Forget gates start open, with a bias of 1; the states start at zero.

Notation: B sequences, T steps of the longest, n steps of all, I and O channels in and out, H units of a layer.
"""

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.data.bits.batch import BitBatch, BitSpec
from zoo.layers.packing import Packing
from zoo.layers.recurrent import LSTM
from zoo.models.network import Network
from zoo.models.output import Output


class StackedLSTM(Network):
    """Stacked LSTMs, and one linear layer from the highest to the bits; their states are the only memory."""

    tasks = ("algorithmic",)
    threads = 1

    def __init__(self, spec: BitSpec, *, hidden_dim: Count = 256, num_layers: Count = 3, dropout: Share = 0.0) -> None:
        super().__init__()
        self.lstm = LSTM(spec.in_width, hidden_dim, num_layers=num_layers, dropout=dropout)
        self.output = nn.Linear(hidden_dim, spec.out_width)
        with torch.no_grad():
            for layer in range(num_layers):
                bias: Tensor = getattr(self.lstm, f"bias_ih_l{layer}")
                bias.chunk(4)[1].fill_(1.0)  # input, forget, candidate, output
                getattr(self.lstm, f"bias_hh_l{layer}").zero_()

    def forward(self, batch: BitBatch) -> Output:
        """Logits (B, T, O) of the bits."""
        packing = Packing.of(batch.step_mask)
        x = packing.pack(batch.inputs).to(self.output.weight.dtype)  # (n, I)
        h, _ = self.lstm(x, packing)  # (n, H)
        return Output(packing.unpack(self.output(h)))  # (B, T, O)
