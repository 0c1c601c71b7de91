"""Connectionist temporal classification (Graves et al. 2006), as a loss that helps a listener to learn.

Notation: B utterances of at most U positions and T letters, M real positions of all, D width, V letters.
"""

from torch import Tensor, nn
from torch.nn import functional as F

from zoo.layers.packing import Packing
from zoo.layers.state import log_probabilities
from zoo.linear import Linear


class CTC(nn.Module):
    """A softmax of each state over the letters and a blank, in the column of the `padding`.

    An utterance with more letters than positions has no path, and counts as 0.
    """

    def __init__(self, width: int, letters: int, padding: int, weight: float) -> None:
        super().__init__()
        self.letters = Linear(width, letters)
        self.padding, self.weight = padding, weight

    def forward(self, h: Tensor, heard: Packing, target: Tensor, mask: Tensor) -> Tensor:
        """The weighted mean over utterances of -log p per letter, (), from states h (M, D). `target` (B, T) has the
        letters and the end, which is not a letter, and `mask` (B, T) is True at both."""
        log_probs = heard.unpack(log_probabilities(self.letters(h))).transpose(0, 1)  # (U, B, V)
        lengths = heard.sum(h.new_ones(len(h), dtype=target.dtype))
        letters = mask.sum(1) - 1
        loss = F.ctc_loss(log_probs, target, lengths, letters, blank=self.padding, zero_infinity=True)
        return self.weight * loss
