"""One time step of a neural Turing machine (`zoo/models/ntm.py`) forward, and the way back through it, by hand.

`forward` is the same function of the same numbers as `NTM.step`, which is its definition, with the memory the other way
round, so that products and sums run along its rows. `backward` gives the gradients of what came in from those of what
went out; what it needs besides them depends on the way forward alone, and `slopes` takes that for all steps at once.
None of them keeps anything, and none knows autograd: `turing_loop` calls them step after step, as they are or compiled.

Notation: b sequences that still run at a step, T positions of all sequences, L layers of the controller, C units of
each, G = 4 C (LSTM) or C numbers inside it, H heads, R of them that read, V = H - R that write, N rows of the memory, W
their width, S = 2 r + 1 shifts, D numbers that a head is told to find its place, P all that the heads are told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from zoo.attention.addressing import CLIP, LENGTH_FLOOR, Heads

GRADIENT_LIMIT = 1e6
"""What is carried back from a step to the one before it is kept within this: where it grows from step to step, it would
leave float32 after some dozens of them, and what is no number any more cannot be clipped. Where training goes well it
is far smaller."""

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


class Carried(NamedTuple):
    """What a step takes over from the one before; on the way back, the gradients of it."""

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


class Kept(NamedTuple):
    """What the way back needs of a step, besides what it began with and what it left."""

    inputs: Sequence[Tensor]
    """What multiplied the matrix of each layer."""
    gates: Sequence[Tensor]
    """Of each layer of an LSTM o, i, f (b, 3 C), g and tanh c' (b, C); of others h'."""
    raw: Tensor
    """(b, P) what the heads are told, before it is kept within CLIP."""
    by_length: Tensor
    """(b, 1, N) 1 / length of each row of the memory."""
    content: Tensor
    """(b, H, N) weighting by content."""
    scores: Tensor
    """(b, H, N) strength times cosine."""
    gated: Tensor
    """(b, H, N + 2 r) after interpolation, with the rows that come round again at both ends."""
    moved: Tensor
    """(b, H, N) after the shift. No number is 0: by CLIP a gate is 2e-9 at least, and a strength 20 at most."""


class Slopes(NamedTuple):
    """What the way back through a step multiplies gradients with: everything in it that the way forward decides."""

    of_layers: Sequence[Tensor]
    """Of each layer of an LSTM (b, 3, C) of c' by the sums in i, f and g, then (b, C) of h' by that in o, of h' by c',
    and f; of others (b, C) of h' by its sum."""
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
    """(b, H, N) as in `Kept`."""
    scores: Tensor
    """(b, H, N) as in `Kept`."""
    of_gate: Tensor
    """(b, H, N) content less the last weighting."""
    windows: Tensor
    """(b, H, S, N) what each shift alone would make, the last one first."""
    logarithm: Tensor
    """(b, H, N) of the weighting before it is sharpened."""
    of_moved: Tensor
    """(b, H, N) of sharpness times logarithm, by the weighting."""
    weighting: Tensor
    """(b, H, N) what the step left."""
    of_places: Tensor
    """(b, H, D) of what the heads are told, by the sums in it."""
    of_changes: Tensor
    """(b, V, 2 W) the same of what is erased and added."""


def forward(heads: Heads, x: Tensor, before: Carried, weights: Weights) -> tuple[Carried, Kept]:
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
        Carried(reads, hidden, cells, memory, weighting),
        Kept(inputs, gates, raw, by_length, content, scores, gated, moved),
    )


def slopes(heads: Heads, previous: Tensor, cells: Sequence[Tensor], kept: Kept, weighting: Tensor) -> Slopes:
    """Of all T positions at once, from what every step kept, the weightings before and after it (T, H, N), and the c
    before it of each layer (T, C)."""
    raw = kept.raw
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
    return Slopes(
        of_layers=_control_slopes(cells, kept.gates),
        key=key,
        scaled=key * by_key,
        by_key=by_key,
        by_key_squared=by_key_squared,
        by_length=kept.by_length,
        by_length_squared=kept.by_length.square(),
        by_strength=1 / strength,
        gate=gate,
        erase=erase,
        add=add,
        shift=shift.softmax(2),
        content=kept.content,
        scores=kept.scores,
        of_gate=kept.content - previous,
        windows=kept.gated.unfold(2, rows, 1),
        logarithm=kept.moved.log(),
        of_moved=(1 + sharpness) / kept.moved,
        weighting=weighting,
        of_places=of_places,
        of_changes=of_changes,
    )


def backward(
    heads: Heads, d: Carried, memory: Tensor, slopes: Slopes, weights: Weights
) -> tuple[Carried, list[Tensor], Tensor]:
    """From the gradients `d` of what the step left, and the memory (b, W, N) that it began with: the gradients of what
    it began with, of the sums in each layer (b, G), and of what the heads are told (b, P)."""
    reading, writing = slopes.weighting.split_with_sizes([heads.read, heads.write], 1)

    # writing (4), (3), from the last head that erased back, and reading (2)
    d_memory, memories, erased = d.memory, [memory], []
    for e, w in _one_by_one(slopes.erase, writing):
        erased.append(e.mT * w)
        if len(erased) < heads.write:
            memories.append(torch.addcmul(memories[-1], memories[-1], erased[-1], value=-1))
    d_add, by_writing = _times(writing, d_memory.mT), _times(slopes.add, d_memory)
    d_erase: list[Tensor] = []
    by_erasing: list[Tensor] = []
    for (e, w), part, was in reversed(list(zip(_one_by_one(slopes.erase, writing), erased, memories, strict=True))):
        lost = d_memory * was
        d_erase.insert(0, _times(w, lost.mT))
        by_erasing.insert(0, _times(e, lost))
        d_memory = torch.addcmul(d_memory, d_memory, part, value=-1)
    d_reads = _of_heads(d.reads, heads.read)
    d_weighting = torch.cat([_times(d_reads, memory), by_writing - _together(by_erasing)], 1) + d.weighting
    for d_read, w in _one_by_one(d_reads, reading):
        d_memory = torch.addcmul(d_memory, d_read.mT, w)
    d_changes = torch.cat([-_together(d_erase), d_add], 2) * slopes.of_changes

    # sharpening (9) and the shift (8): what came from row j + o goes back there, rows that come round among them
    by_power = softmax_backward(d_weighting, slopes.weighting, 2, d_weighting.dtype)
    d_sharpness = (by_power * slopes.logarithm).sum(2, keepdim=True)
    d_moved = by_power * slopes.of_moved
    d_shift = (slopes.windows * d_moved.unsqueeze(2)).sum(3).flip(2)
    d_gated = _moved(_round(d_moved, heads.shift_range), slopes.shift, 1)

    # interpolation (7) and content (6), (5)
    d_gate = (d_gated * slopes.of_gate).sum(2, keepdim=True)
    d_content = d_gated * slopes.gate
    d_scores = softmax_backward(d_content, slopes.content, 2, d_content.dtype)
    shares = d_scores * slopes.scores
    of_heads = shares.sum(2, keepdim=True)
    d_dots = d_scores * slopes.by_length
    d_key = _times(d_dots, memory.mT) * slopes.by_key - slopes.key * (of_heads * slopes.by_key_squared)
    d_memory = d_memory + _times(slopes.scaled.mT, d_dots)
    d_memory = torch.addcmul(d_memory, memory, shares.sum(1, keepdim=True) * slopes.by_length_squared, value=-1)

    d_shift = softmax_backward(d_shift, slopes.shift, 2, d_shift.dtype)
    d_places = torch.cat([d_key, of_heads * slopes.by_strength, d_sharpness, d_gate, d_shift], 2) * slopes.of_places
    d_raw = torch.cat([d_places.flatten(1), d_changes.flatten(1)], 1)
    d_hidden = [*d.hidden[:-1], torch.addmm(d.hidden[-1], d_raw, weights.heads)]
    d_sums, d_below, d_hidden, d_cells = _control_backward(d_hidden, d.cells, slopes.of_layers, weights)
    before = Carried(
        _held(d_below), _each_held(d_hidden), _each_held(d_cells), _held(d_memory), _held(d_gated - d_content)
    )
    return before, d_sums, d_raw


def backward_of_one(
    heads: Heads, d: Carried, before: Carried, weighting: Tensor, kept: Kept, weights: Weights
) -> tuple[Carried, list[Tensor], Tensor]:
    """`backward` with the slopes of this step alone, which compiled is faster than taking those of all steps first."""
    own = slopes(heads, before.weighting, before.cells, kept, weighting)
    return backward(heads, d, before.memory, own, weights)


def _held(gradient: Tensor) -> Tensor:
    return gradient.clamp(-GRADIENT_LIMIT, GRADIENT_LIMIT)


def _each_held(gradients: list[Tensor]) -> list[Tensor]:
    return [_held(gradient) for gradient in gradients]


def _times(left: Tensor, right: Tensor) -> Tensor:
    """(b, K, J) @ (b, J, M). Compiled it is written as a sum, which becomes one loop with others over the memory; the
    matrices are too small to be worth a call of the library."""
    if torch.compiler.is_compiling():
        return (left.unsqueeze(3) * right.unsqueeze(1)).sum(2)
    return torch.bmm(left, right)


def _of_heads(values: Tensor, heads: int) -> Tensor:
    """(b, heads * K) -> (b, heads, K)."""
    return values.view(values.shape[0], heads, -1)


def _one_by_one(*parts: Tensor) -> list[tuple[Tensor, ...]]:
    """Of each head its rows (b, 1, K) of parts (b, heads, K)."""
    if parts[0].shape[1] == 1:
        return [parts]
    return list(zip(*(part.split(1, 1) for part in parts), strict=True))


def _together(parts: list[Tensor]) -> Tensor:
    """The inverse of that."""
    return parts[0] if len(parts) == 1 else torch.cat(parts, 1)


def _round(weights: Tensor, reach: int) -> Tensor:
    """(b, H, N) -> (b, H, N + 2 reach), with the rows that come round again at both ends."""
    if not reach:
        return weights
    rows = weights.shape[2]
    return torch.cat([weights.narrow(2, rows - reach, reach), weights, weights.narrow(2, 0, reach)], 2)


def _moved(round_weights: Tensor, shift: Tensor, sign: int) -> Tensor:
    """What `_round` gave and shares of the shifts (b, H, S) -> (b, H, N), in row i sum_o share_o weight_i+sign*o."""
    rows = round_weights.shape[2] - shift.shape[2] + 1
    shares, windows = shift.unsqueeze(3).unbind(2), round_weights.unfold(2, rows, 1).unbind(2)
    total = shares[0] * windows[0 if sign > 0 else -1]
    for share, window in zip(shares[1:], windows[1:] if sign > 0 else windows[-2::-1], strict=True):
        total = torch.addcmul(total, share, window)
    return total


def _control(
    x: Tensor, before: Carried, weights: Weights
) -> tuple[list[Tensor], list[Tensor], list[Tensor], list[Tensor]]:
    """New h and c of each layer, and `inputs` and `gates` of `Kept`."""
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


def _control_slopes(cells: Sequence[Tensor], gates: Sequence[Tensor]) -> list[Tensor]:
    """`of_layers` of `Slopes`, from the c before each step and the `gates` of `Kept`."""
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
