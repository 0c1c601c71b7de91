"""One map of a decoder's attention on the source, from the weights of all its layers and heads."""

from collections.abc import Mapping

import torch
from torch import Tensor


def source_attention(attention: Mapping[str, Tensor]) -> Tensor | None:
    """The mean over layers and heads of the attention on the source, (B, T, S); None where there is none.

    Takes the entries `source` and `source.<layer>`, (B, T, S) or, with several heads, (B, H, T, S). A layer counts once
    however many heads it has.
    """
    layers = [weights for name, weights in attention.items() if name.split(".")[0] == "source"]
    if not layers:
        return None
    means = [weights.mean(1) if weights.dim() == 4 else weights for weights in layers]
    return means[0] if len(means) == 1 else torch.stack(means).mean(0)
