"""Linear layers for decoding: the same product, from a matrix that is laid out for few rows.

A step of decoding multiplies a handful of rows by large matrices. Within `packed_matrices` the products of `Linear` and
`linear` use oneDNN's blocked layout, where that is possible and the matrix is large. Everything else is
torch.nn.functional.linear: training, other devices and types, small matrices, and a torch without these operators.

A packed matrix is kept for as long as its parameter lives. It is in no module, so that no checkpoint and no copy of a
network has it. Each call of `packed_matrices` compares it with the parameter before its first use, and packs again
where the parameter has changed. An in-place operation counts as a change, and so does another address. Writing through
`.data` leaves both as they are: for that case one entry of each row is compared too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.weak import WeakTensorKeyDictionary


def _processor() -> str:
    """The processor's name, or nothing where torch does not know it."""
    capabilities = getattr(torch.cpu, "get_capabilities", None)
    return capabilities().get("cpu_name", "") if capabilities else ""


AMD = "AMD" in _processor()
LARGE = 2**17 if AMD else 2**19
"""The number of entries from which a matrix is packed. With fewer, the product takes at least as long packed. torch
multiplies by MKL, which is slow for few rows on AMD's processors and fast on Intel's (benchmarks/README.md)."""


class Linear(nn.Linear):
    """torch.nn.Linear, with the same parameters, that uses the packed matrix within `packed_matrices`."""

    def forward(self, input: Tensor) -> Tensor:
        """(..., I) -> (..., O)."""
        return linear(input, self.weight, self.bias)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, *, rows: slice | None = None) -> Tensor:
    """Return x W^T + b as torch.nn.functional.linear does, where W is `weight` or some of its rows.

    Args:
        x: (..., I) rows to multiply.
        weight: (O, I) a parameter. Any other tensor is never packed.
        bias: (O',) for the O' rows that are used.
        rows: The rows of `weight` that are used, all by default.
    """
    packs = None if torch.compiler.is_compiling() else _packs.get()
    if packs is not None and x.dtype == torch.float32 and x.numel() and not torch.is_grad_enabled():
        packed = packs.of(weight, rows)
        if packed is not None and not torch.is_autocast_enabled("cpu"):
            return torch.ops.mkldnn._linear_pointwise(x, packed, bias, "none", [], "")
    return F.linear(x, weight if rows is None else weight[rows], bias)


def repeated(weight: Tensor) -> Callable[[Tensor], Tensor]:
    """Return the function x (R, I) -> x W^T (R, O) of a `weight` (O, I), for many x of few rows, without gradients.

    A large matrix is packed once for all of them.
    """
    if not _packable(weight):
        turned = weight.t()
        return lambda x: x @ turned
    packed = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous())
    return lambda x: torch.ops.mkldnn._linear_pointwise(x, packed, None, "none", [], "")


def multiplied(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x W^T + b of many rows x (R, I) and a `weight` (O, I), without gradients.

    On AMD's processors oneDNN multiplies large matrices, in half of the time of torch's MKL.
    """
    if AMD and x.numel() and _packable(weight):
        return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return F.linear(x, weight, bias)


def _packable(weight: Tensor) -> bool:
    """Whether oneDNN can multiply by a matrix, and the matrix is large."""
    large = weight.dtype == torch.float32 and weight.numel() >= LARGE
    return large and weight.device.type == "cpu" and not torch.compiler.is_compiling() and _available()


@contextmanager
def packed_matrices() -> Iterator[None]:
    """Within this context, large matrices are packed at their first use. They must not change before its end."""
    token = _packs.set(_Packs())
    try:
        yield
    finally:
        _packs.reset(token)


class _Packed(NamedTuple):
    """A packed matrix, and what shows that its parameter has not changed since."""

    version: int
    address: int
    sample: Tensor
    matrix: Tensor

    @classmethod
    def of(cls, weight: Tensor, rows: slice) -> _Packed:
        with torch.inference_mode(False), torch.no_grad():
            matrix = torch.ops.mkldnn._reorder_linear_weight(weight.detach()[rows])
            return cls(weight._version, weight.data_ptr(), _sample(weight).clone(), matrix)

    def fits(self, weight: Tensor) -> bool:
        same = self.version == weight._version and self.address == weight.data_ptr()
        return same and torch.equal(self.sample, _sample(weight))


_kept = WeakTensorKeyDictionary()  # by parameter, then by its first and last row: a _Packed


class _Packs:
    """The packed matrices of one context, which were compared with their parameters at their first use."""

    def __init__(self) -> None:
        self.compared: dict[tuple[int, Any], tuple[Tensor, Tensor | None]] = {}

    def of(self, weight: Tensor, rows: slice | None) -> Tensor | None:
        """The packed rows of `weight`, or None if they are not to be packed."""
        if type(weight) is not nn.Parameter:
            return None
        key = id(weight), rows and (rows.start, rows.stop)
        if key not in self.compared:  # with a reference to the parameter, since its id may be used again without
            self.compared[key] = weight, _packed(weight, rows or slice(0, len(weight)))
        return self.compared[key][1]


_packs: ContextVar[_Packs | None] = ContextVar("_packs", default=None)


def _packed(weight: Tensor, rows: slice) -> Tensor | None:
    dense = weight.layout == torch.strided and weight.is_contiguous() and not weight.is_inference()
    small = weight.dtype != torch.float32 or weight[rows].numel() < LARGE
    if not dense or small or weight.device.type != "cpu" or not _available():
        return None
    kept = _kept.setdefault(weight, {})
    found = kept.get((rows.start, rows.stop))
    if found is None or not found.fits(weight):
        found = kept[rows.start, rows.stop] = _Packed.of(weight, rows)
    return found.matrix


def _available() -> bool:
    """Whether this torch has the operators. They are private: torch.compile uses them on the CPU."""
    names = "_reorder_linear_weight", "_linear_pointwise"
    return torch.backends.mkldnn.is_available() and all(hasattr(torch.ops.mkldnn, name) for name in names)


def _sample(weight: Tensor) -> Tensor:
    """One entry of each row, each in another column than the one before."""
    return weight.detach().view(-1)[:: weight.shape[1] + 1]
