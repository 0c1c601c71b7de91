"""One time step of a neural Turing machine (`zoo/models/ntm.py`), forward and backward by hand.

`forward` computes the same function as `NTM.step`, which defines it. Its memory is transposed, so that products and
sums run along contiguous rows. `backward` computes the gradients of a step's inputs from those of its outputs. The
other factors depend only on the forward pass, and `derivatives` computes them for all steps at once. All three are pure
functions without autograd: `turing` calls them step by step, plain or compiled.

Notation: b sequences that still run at a step, T positions of all sequences, L layers of the controller, C units of
each, G = 4 C (LSTM) or C numbers inside it, H heads, R of them that read, V = H - R that write, N rows of the memory, W
their width, S = 2 r + 1 shifts, D parameters of a head's addressing, P parameters of all heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from zoo.attention.addressing import CLIP, LENGTH_FLOOR, Heads

GRADIENT_LIMIT = 1e6
"""The gradients that pass from a step to the step before are clamped to this range. Gradients that grow from step to
step would overflow float32 after some dozens of steps, and NaN cannot be clipped. In normal training they are far
smaller."""

softmax_backward = torch.ops.aten._softmax_backward_data  # (gradient, softmax, dimension, dtype) -> gradient


class Weights(NamedTuple):
    """The matrices of the recurrence, the same at all steps."""

    layers: Sequence[Tensor]
    """L matrices (G, R W + C) and (G, 2 C) of an LSTM, (C, R W) and (C, C) without its own state."""
    biases: Sequence[Tensor]
    """L - 1 of (G,); that of the lowest layer is in its input."""
    heads: Tensor
    """(P, C)."""
    heads_bias: Tensor
    """(P,)."""


class StepState(NamedTuple):
    """The state that a step passes on; in the backward pass, its gradients."""

    reads: Tensor
    """(b, R W)."""
    hidden: Sequence[Tensor]
    """L of (b, C)."""
    cells: Sequence[Tensor]
    """L of (b, C) in an LSTM, else none."""
    memory: Tensor
    """(b, W, N)."""
    weighting: Tensor
    """(b, H, N)."""


class SavedForBackward(NamedTuple):
    """Tensors that the backward pass of a step reads, besides the states before and after it."""

    inputs: Sequence[Tensor]
    """The inputs that are multiplied with the matrix of each layer."""
    gates: Sequence[Tensor]
    """For each layer of an LSTM: o, i, f (b, 3 C), g and tanh c' (b, C); for each other layer h'."""
    raw: Tensor
    """(b, P) the parameters of the heads before they are clamped."""
    by_length: Tensor
    """(b, 1, N) 1 / length of each row of the memory."""
    content: Tensor
    """(b, H, N) weighting by content."""
    scores: Tensor
    """(b, H, N) strength times cosine."""
    gated: Tensor
    """(b, H, N + 2 r) after interpolation, with wrapped rows at both ends."""
    moved: Tensor
    """(b, H, N) after the shift. No number is 0: by CLIP a gate is 2e-9 at least, and a strength 20 at most."""


class StepDerivatives(NamedTuple):
    """The factors of the gradients in the backward pass of a step, which depend only on the forward pass."""

    of_layers: Sequence[Tensor]
    """For each layer of an LSTM: (b, 3, C) the derivatives of c' by the sums in i, f and g, then (b, C) those of h' by
    the sum in o and by c', and f. For each other layer: (b, C) the derivative of h' by its sum."""
    key: Tensor
    """(b, H, W)."""
    scaled: Tensor
    """(b, H, W) the key by its length, times the strength."""
    by_key: Tensor
    """(b, H, 1) strength by the key's length."""
    by_key_squared: Tensor
    """(b, H, 1) 1 / square of the key's length."""
    by_length: Tensor
    """(b, 1, N) 1 / length of each row of the memory."""
    by_length_squared: Tensor
    """(b, 1, N)."""
    by_strength: Tensor
    """(b, H, 1)."""
    gate: Tensor
    """(b, H, 1)."""
    erase: Tensor
    """(b, V, W)."""
    add: Tensor
    """(b, V, W)."""
    shift: Tensor
    """(b, H, S)."""
    content: Tensor
    """(b, H, N) as in `SavedForBackward`."""
    scores: Tensor
    """(b, H, N) as in `SavedForBackward`."""
    of_gate: Tensor
    """(b, H, N) content minus the last weighting."""
    windows: Tensor
    """(b, H, S, N) the weighting after each single shift, the last shift first."""
    logarithm: Tensor
    """(b, H, N) of the weighting before it is sharpened."""
    of_moved: Tensor
    """(b, H, N) of sharpness times logarithm, by the weighting."""
    weighting: Tensor
    """(b, H, N) the weighting after the step."""
    of_places: Tensor
    """(b, H, D) the derivatives of the addressing parameters by their sums."""
    of_changes: Tensor
    """(b, V, 2 W) the derivatives of the vectors to erase and to add by their sums."""


def forward(heads: Heads, x: Tensor, before: StepState, weights: Weights) -> tuple[StepState, SavedForBackward]:
    """One step of inputs x (b, G), which are already multiplied with their matrix."""
    hidden, cells, inputs, gates = _control(x, before, weights)
    raw = torch.addmm(weights.heads_bias, hidden[-1], weights.heads.T)
    places, changes = raw.clamp(-CLIP, CLIP).split_with_sizes(heads.sizes, 1)
    key, scales, gate, shift = _of_heads(places, heads.number).split_with_sizes(heads.parts, 2)
    strength, sharpness = F.softplus(scales).chunk(2, 2)
    erase, add = _of_heads(changes, heads.write).chunk(2, 2)
    memory = before.memory

    by_length = (memory.square().sum(1, keepdim=True) + LENGTH_FLOOR).rsqrt()
    by_key = (key.square().sum(2, keepdim=True) + LENGTH_FLOOR).rsqrt() * strength
    scores = _times(key * by_key, memory) * by_length
    content = scores.softmax(2)  # (5), (6)
    gated = _round(torch.lerp(before.weighting, content, gate.sigmoid()), heads.shift_range)  # (7)
    moved = _moved(gated, shift.softmax(2), -1)  # (8)
    weighting = (moved.log() * (1 + sharpness)).softmax(2)  # (9)

    reading, writing = weighting.split_with_sizes([heads.read, heads.write], 1)
    reads = _times(reading, memory.mT).flatten(1)  # (2)
    for e, w in _one_by_one(erase.sigmoid(), writing):
        memory = torch.addcmul(memory, memory, e.mT * w, value=-1)  # (3)
    for a, w in _one_by_one(add, writing):
        memory = torch.addcmul(memory, a.mT, w)  # (4)
    return (
        StepState(reads, hidden, cells, memory, weighting),
        SavedForBackward(inputs, gates, raw, by_length, content, scores, gated, moved),
    )


def derivatives(
    heads: Heads, previous: Tensor, cells: Sequence[Tensor], saved: SavedForBackward, weighting: Tensor
) -> StepDerivatives:
    """The derivatives of all T positions at once, from the tensors that every step saved, the weightings before and
    after it (T, H, N), and the c of each layer before it (T, C)."""
    raw = saved.raw
    within = raw.clamp(-CLIP, CLIP)
    places, changes = within.split_with_sizes(heads.sizes, 1)
    key, scales, gate, shift = _of_heads(places, heads.number).split_with_sizes(heads.parts, 2)
    strength, sharpness = F.softplus(scales).chunk(2, 2)
    erase, add = _of_heads(changes, heads.write).chunk(2, 2)
    gate, erase, rows = gate.sigmoid(), erase.sigmoid(), weighting.shape[2]
    by_key_squared = 1 / (key.square().sum(2, keepdim=True) + LENGTH_FLOOR)
    by_key = by_key_squared.sqrt() * strength
    counted = (raw.abs() <= CLIP).to(raw.dtype)
    of_places, of_changes = counted.split_with_sizes(heads.sizes, 1)
    of_places = _of_heads(of_places, heads.number) * torch.cat(
        [torch.ones_like(key), scales.sigmoid(), gate - gate.square(), torch.ones_like(shift)], 2
    )
    of_changes = _of_heads(of_changes, heads.write) * torch.cat([erase - erase.square(), torch.ones_like(add)], 2)
    return StepDerivatives(
        of_layers=_control_derivatives(cells, saved.gates),
        key=key,
        scaled=key * by_key,
        by_key=by_key,
        by_key_squared=by_key_squared,
        by_length=saved.by_length,
        by_length_squared=saved.by_length.square(),
        by_strength=1 / strength,
        gate=gate,
        erase=erase,
        add=add,
        shift=shift.softmax(2),
        content=saved.content,
        scores=saved.scores,
        of_gate=saved.content - previous,
        windows=saved.gated.unfold(2, rows, 1),
        logarithm=saved.moved.log(),
        of_moved=(1 + sharpness) / saved.moved,
        weighting=weighting,
        of_places=of_places,
        of_changes=of_changes,
    )


def backward(
    heads: Heads, d: StepState, memory: Tensor, derivatives: StepDerivatives, weights: Weights
) -> tuple[StepState, list[Tensor], Tensor]:
    """The gradients of the state before the step, of the sums in each layer (b, G), and of the heads' parameters (b,
    P), from the gradients `d` of the state after the step and the memory (b, W, N) before it."""
    reading, writing = derivatives.weighting.split_with_sizes([heads.read, heads.write], 1)

    # writing (4), (3), from the last head that erased back, and reading (2)
    d_memory, memories, erased = d.memory, [memory], []
    for e, w in _one_by_one(derivatives.erase, writing):
        erased.append(e.mT * w)
        if len(erased) < heads.write:
            memories.append(torch.addcmul(memories[-1], memories[-1], erased[-1], value=-1))
    d_add, by_writing = _times(writing, d_memory.mT), _times(derivatives.add, d_memory)
    d_erase: list[Tensor] = []
    by_erasing: list[Tensor] = []
    for (e, w), part, was in reversed(
        list(zip(_one_by_one(derivatives.erase, writing), erased, memories, strict=True))
    ):
        lost = d_memory * was
        d_erase.insert(0, _times(w, lost.mT))
        by_erasing.insert(0, _times(e, lost))
        d_memory = torch.addcmul(d_memory, d_memory, part, value=-1)
    d_reads = _of_heads(d.reads, heads.read)
    d_weighting = torch.cat([_times(d_reads, memory), by_writing - _together(by_erasing)], 1) + d.weighting
    for d_read, w in _one_by_one(d_reads, reading):
        d_memory = torch.addcmul(d_memory, d_read.mT, w)
    d_changes = torch.cat([-_together(d_erase), d_add], 2) * derivatives.of_changes

    # sharpening (9) and the shift (8): row j + o receives the gradient of what it gave, wrapped rows included
    by_power = softmax_backward(d_weighting, derivatives.weighting, 2, d_weighting.dtype)
    d_sharpness = (by_power * derivatives.logarithm).sum(2, keepdim=True)
    d_moved = by_power * derivatives.of_moved
    d_shift = (derivatives.windows * d_moved.unsqueeze(2)).sum(3).flip(2)
    d_gated = _moved(_round(d_moved, heads.shift_range), derivatives.shift, 1)

    # interpolation (7) and content (6), (5)
    d_gate = (d_gated * derivatives.of_gate).sum(2, keepdim=True)
    d_content = d_gated * derivatives.gate
    d_scores = softmax_backward(d_content, derivatives.content, 2, d_content.dtype)
    shares = d_scores * derivatives.scores
    of_heads = shares.sum(2, keepdim=True)
    d_dots = d_scores * derivatives.by_length
    d_key = _times(d_dots, memory.mT) * derivatives.by_key - derivatives.key * (of_heads * derivatives.by_key_squared)
    d_memory = d_memory + _times(derivatives.scaled.mT, d_dots)
    d_memory = torch.addcmul(d_memory, memory, shares.sum(1, keepdim=True) * derivatives.by_length_squared, value=-1)

    d_shift = softmax_backward(d_shift, derivatives.shift, 2, d_shift.dtype)
    d_places = (
        torch.cat([d_key, of_heads * derivatives.by_strength, d_sharpness, d_gate, d_shift], 2) * derivatives.of_places
    )
    d_raw = torch.cat([d_places.flatten(1), d_changes.flatten(1)], 1)
    d_hidden = [*d.hidden[:-1], torch.addmm(d.hidden[-1], d_raw, weights.heads)]
    d_sums, d_below, d_hidden, d_cells = _control_backward(d_hidden, d.cells, derivatives.of_layers, weights)
    before = StepState(
        _held(d_below), _each_held(d_hidden), _each_held(d_cells), _held(d_memory), _held(d_gated - d_content)
    )
    return before, d_sums, d_raw


def backward_of_one(
    heads: Heads, d: StepState, before: StepState, weighting: Tensor, saved: SavedForBackward, weights: Weights
) -> tuple[StepState, list[Tensor], Tensor]:
    """`backward` with the derivatives of this step alone; compiled, this is faster than computing all of them first."""
    own = derivatives(heads, before.weighting, before.cells, saved, weighting)
    return backward(heads, d, before.memory, own, weights)


def _held(gradient: Tensor) -> Tensor:
    return gradient.clamp(-GRADIENT_LIMIT, GRADIENT_LIMIT)


def _each_held(gradients: list[Tensor]) -> list[Tensor]:
    return [_held(gradient) for gradient in gradients]


def _times(left: Tensor, right: Tensor) -> Tensor:
    """(b, K, J) @ (b, J, M). Compiled it is a sum, which is fused with other loops over the memory: these matrices
    are too small for a call of the library."""
    if torch.compiler.is_compiling():
        return (left.unsqueeze(3) * right.unsqueeze(1)).sum(2)
    return torch.bmm(left, right)


def _of_heads(values: Tensor, heads: int) -> Tensor:
    """(b, heads * K) -> (b, heads, K)."""
    return values.view(values.shape[0], heads, -1)


def _one_by_one(*parts: Tensor) -> list[tuple[Tensor, ...]]:
    """For each head its rows (b, 1, K) of parts (b, heads, K)."""
    if parts[0].shape[1] == 1:
        return [parts]
    return list(zip(*(part.split(1, 1) for part in parts), strict=True))


def _together(parts: list[Tensor]) -> Tensor:
    """The inverse of `_one_by_one` for one part."""
    return parts[0] if len(parts) == 1 else torch.cat(parts, 1)


def _round(weights: Tensor, reach: int) -> Tensor:
    """(b, H, N) -> (b, H, N + 2 reach), with wrapped rows at both ends."""
    if not reach:
        return weights
    rows = weights.shape[2]
    return torch.cat([weights.narrow(2, rows - reach, reach), weights, weights.narrow(2, 0, reach)], 2)


def _moved(round_weights: Tensor, shift: Tensor, sign: int) -> Tensor:
    """The result of `_round` and shares of the shifts (b, H, S) -> (b, H, N), in row i sum_o share_o
    weight_i+sign*o."""
    rows = round_weights.shape[2] - shift.shape[2] + 1
    shares, windows = shift.unsqueeze(3).unbind(2), round_weights.unfold(2, rows, 1).unbind(2)
    total = shares[0] * windows[0 if sign > 0 else -1]
    for share, window in zip(shares[1:], windows[1:] if sign > 0 else windows[-2::-1], strict=True):
        total = torch.addcmul(total, share, window)
    return total


def _control(
    x: Tensor, before: StepState, weights: Weights
) -> tuple[list[Tensor], list[Tensor], list[Tensor], list[Tensor]]:
    """New h and c of each layer, and `inputs` and `gates` of `SavedForBackward`."""
    hidden: list[Tensor] = []
    cells: list[Tensor] = []
    inputs: list[Tensor] = []
    gates: list[Tensor] = []
    below = before.reads
    for layer, matrix in enumerate(weights.layers):
        given = torch.cat([below, before.hidden[layer]], 1) if before.cells else below
        sums = torch.addmm(weights.biases[layer - 1] if layer else x, given, matrix.T)
        if before.cells:
            width = before.hidden[layer].shape[1]
            o_i_f, g = sums.split_with_sizes([3 * width, width], 1)
            o_i_f, g = o_i_f.sigmoid(), g.tanh()
            o, i, f = o_i_f.chunk(3, 1)
            cells.append(torch.addcmul(f * before.cells[layer], i, g))
            bounded = cells[layer].tanh()
            below = o * bounded
            gates += [o_i_f, g, bounded]
        else:
            below = sums.tanh()
            gates.append(below)
        hidden.append(below)
        inputs.append(given)
    return hidden, cells, inputs, gates


def _control_derivatives(cells: Sequence[Tensor], gates: Sequence[Tensor]) -> list[Tensor]:
    """`of_layers` of `StepDerivatives`, from the c before each step and the `gates` of `SavedForBackward`."""
    if not cells:
        return [1 - h.square() for h in gates]
    found = []
    for c, o_i_f, g, bounded in zip(cells, gates[::3], gates[1::3], gates[2::3], strict=True):
        o, i, f = o_i_f.chunk(3, 1)
        by_i_f_g = torch.stack([g * (i - i.square()), c * (f - f.square()), i * (1 - g.square())], 1)
        found += [by_i_f_g, bounded * (o - o.square()), o * (1 - bounded.square()), f]
    return found


def _control_backward(
    d_hidden: list[Tensor], d_cells: Sequence[Tensor], of_layers: Sequence[Tensor], weights: Weights
) -> tuple[list[Tensor], Tensor, list[Tensor], list[Tensor]]:
    """From the gradients of the new h and c of each layer: those of its sums (b, G), of what was read, of the old h
    and c."""
    d_sums: list[Tensor] = []
    d_hidden_before: list[Tensor] = []
    d_cells_before: list[Tensor] = []
    d_below = d_hidden[-1]
    for layer in reversed(range(len(weights.layers))):
        d_h = d_below if layer == len(weights.layers) - 1 else d_hidden[layer] + d_below
        width = d_h.shape[1]
        if d_cells:
            by_i_f_g, by_o, by_c, f = of_layers[4 * layer : 4 * layer + 4]
            d_c = torch.addcmul(d_cells[layer], d_h, by_c)
            d_sum = torch.cat([d_h * by_o, (by_i_f_g * d_c.unsqueeze(1)).flatten(1)], 1)
            d_given = d_sum @ weights.layers[layer]
            d_below, d_own = d_given.split_with_sizes([d_given.shape[1] - width, width], 1)
            d_cells_before.insert(0, d_c * f)
        else:
            d_sum = d_h * of_layers[layer]
            d_below, d_own = d_sum @ weights.layers[layer], torch.zeros_like(d_h)
        d_sums.insert(0, d_sum)
        d_hidden_before.insert(0, d_own)
    return d_sums, d_below, d_hidden_before, d_cells_before
