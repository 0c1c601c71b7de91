"""The time loops of LSTMs with peepholes over packed rows, alone and with a soft window over a text.

Backward takes all steps' local derivatives at once, then walks back through time; the gradient of each matrix is one
product at the end. The derivative by the sums in the gates can be limited at each step, as Graves (2013) does it.

Notation: N packed positions, R rows, b rows at a step, I inputs, H hidden_size, K windows, U positions of a text, C
symbols. The gates are i, f, g, o.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import torch
from torch import Tensor

from zoo.layers.loops.loop import Loop, PackedSteps, sigmoid_backward, tanh_backward
from zoo.linear import multiplied, repeated


class PeepholeWeights(NamedTuple):
    """The weights of one layer."""

    x: Tensor  # (4H, I) of the inputs that are known before the loop
    state: Tensor  # (4H, S) of what the step before gives: h, and with a window also its content
    peephole: Tensor  # (3, H) of c in the gates i, f, o
    bias: Tensor  # (4H,)


class WindowWeights(NamedTuple):
    """The weights of a soft window, and what it looks at."""

    weight: Tensor  # (3K, H) from h to the three parameters of each window
    bias: Tensor  # (3K,)
    symbols: Tensor  # (R, U, C) the symbol at each position as a one-hot vector; zeros at padding


class PeepholeSteps:
    """The cells of all time steps in the forward pass.

    `gates` (N, 4H) hold the sums of the inputs and become the gates; `cells`, their `tanh` and `hidden` (N, H) are
    filled.
    """

    def __init__(
        self, steps: PackedSteps, gates: Tensor, cells: Tensor, tanh: Tensor, hidden: Tensor, peephole: Tensor
    ) -> None:
        width = hidden.shape[1]
        i_f, g, o = gates.split([2 * width, width, width], 1)
        pairs = i_f.unflatten(1, (2, width))
        self.steps = steps.steps(gates, i_f, pairs, *pairs.unbind(1), g, o, cells, tanh, hidden)
        self.of_i_f, self.of_o = peephole[:2], peephole[2]

    def forward(self, t: int, c: Tensor) -> tuple[Tensor, Tensor]:
        """h' and c' (b, H) of step t from c (b, H), when the product with h has been added to the sums."""
        _, i_f, pairs, i, f, g, o, cell, tanh, hidden = self.steps[t]
        pairs.addcmul_(c.unsqueeze(1), self.of_i_f)
        i_f.sigmoid_()
        g.tanh_()
        torch.mul(f, c, out=cell).addcmul_(i, g)
        o.addcmul_(cell, self.of_o).sigmoid_()
        return torch.mul(torch.tanh(cell, out=tanh), o, out=hidden), cell


class PeepholeStepsBackward:
    """The backward pass of `PeepholeSteps`, last step first."""

    def __init__(
        self, steps: PackedSteps, gates: Tensor, before: Tensor, tanh: Tensor, peephole: Tensor, limit: float
    ) -> None:
        """`before` is c before each step, and `tanh` that of c after it, (N, H) both; derivatives by the sums in the
        gates are limited to [-limit, limit]."""
        width = tanh.shape[1]
        self.gates = torch.empty_like(gates)  # first the derivatives of c', and of h' by the sum in o
        i, f, g, o = gates.split(width, 1)
        d_i, d_f, d_g, d_o = self.gates.split(width, 1)
        sigmoid_backward.grad_input(g, i, grad_input=d_i)
        sigmoid_backward.grad_input(before, f, grad_input=d_f)
        tanh_backward.grad_input(i, g, grad_input=d_g)
        sigmoid_backward.grad_input(tanh, o, grad_input=d_o)
        h_by_c = tanh_backward(o, tanh)
        d_ifg = self.gates[:, : 3 * width]
        self.steps = steps.steps(h_by_c, f, d_ifg, d_ifg.unflatten(1, (3, width)), d_i, d_f, d_o, self.gates)
        self.of_gates, self.limit = peephole.unbind(), limit

    def backward(self, t: int, d_h: Tensor, d_c: Tensor) -> Tensor:
        """The gradient of the sums in the gates at step t (b, 4H), from those of h' and c'. `d_c` becomes the gradient
        of c."""
        h_by_c, f, d_ifg, parts, d_i, d_f, d_o, d_gates = self.steps[t]
        of_i, of_f, of_o = self.of_gates
        d_o.mul_(d_h)
        if self.limit < inf:
            d_o.clamp_(-self.limit, self.limit)
        d_c.addcmul_(d_h, h_by_c).addcmul_(d_o, of_o)
        parts.mul_(d_c.unsqueeze(1))
        if self.limit < inf:
            d_ifg.clamp_(-self.limit, self.limit)
        d_c.mul_(f).addcmul_(d_i, of_i).addcmul_(d_f, of_f)
        return d_gates


class PeepholeLoop(Loop):
    """i, f = sigmoid(W x + U h + p c + b);  g = tanh(...);  c' = f c + i g;  o = sigmoid(W x + U h + p c' + b);
    h' = o tanh(c').

    Reads x (N, I) and `PeepholeWeights`; the states before the first step are 0. Returns h (N, H).
    """

    def __init__(self, sizes: tuple[int, ...], limit: float = inf) -> None:
        """`sizes` are the rows at each step; derivatives by the sums in the gates are limited to [-limit, limit]."""
        self.walk, self.limit = PackedSteps(sizes), limit

    def forward(self, x: Tensor, weights: PeepholeWeights) -> Tensor:
        width, rows = weights.peephole.shape[1], self.walk.sizes[0] if self.walk.sizes else 0
        self.x, self.weights = x, weights
        self.gates = multiplied(x, weights.x, weights.bias)
        self.cells, self.tanh, hidden = (x.new_empty(len(x), width) for _ in range(3))
        steps = PeepholeSteps(self.walk, self.gates, self.cells, self.tanh, hidden, weights.peephole)
        h = c = x.new_zeros(rows, width)
        back = repeated(weights.state)
        for t, size in enumerate(self.walk.sizes):
            steps.steps[t][0].add_(back(h[:size]))
            h, c = steps.forward(t, c[:size])
        self.hidden = hidden
        return hidden.clone()

    def backward(self, d_hidden: Tensor) -> tuple[Tensor | None, PeepholeWeights]:
        rows = self.walk.sizes[0] if self.walk.sizes else 0
        nothing = d_hidden.new_zeros(rows, d_hidden.shape[1])
        before_c = self.walk.previous(nothing, self.cells)
        steps = PeepholeStepsBackward(self.walk, self.gates, before_c, self.tanh, self.weights.peephole, self.limit)
        d_h, d_c = nothing[:0], nothing.clone()
        back = repeated(self.weights.state.t())
        for t, (given,) in reversed(list(enumerate(self.walk.steps(d_hidden)))):
            d_gates = steps.backward(t, _joined(d_h, given), d_c[: len(given)])
            d_h = back(d_gates)
        before_h = self.walk.previous(nothing, self.hidden)
        return _gradients(steps.gates, self.x, before_h, before_c, self.cells, self.weights, self.needs[0])


class SoftWindowLoop(Loop):
    """`PeepholeLoop` whose inputs also have the content w of a soft window over a text, from the step before.

    After each step, with (a, b, k) = W h' + bias for each window: alpha, beta = exp(a), exp(b); kappa' = kappa +
    exp(k); phi(u) = sum of alpha exp(-beta (kappa' - u)^2) over the windows, for u = 1, ..., U; w' = sum of phi(u)
    times symbol u. The states before the first step are 0. Reads x (N, I), `PeepholeWeights` whose `state` (4H, H + C)
    has the columns of h and w, and `WindowWeights`. Returns h (N, H), w (N, C), phi (N, U) and kappa (N, K).
    """

    def __init__(self, sizes: tuple[int, ...], limit: float = inf) -> None:
        """As for `PeepholeLoop`."""
        self.walk, self.limit = PackedSteps(sizes), limit

    def forward(self, x: Tensor, weights: PeepholeWeights, window: WindowWeights) -> tuple[Tensor, ...]:
        n, width, rows = len(x), weights.peephole.shape[1], self.walk.sizes[0] if self.walk.sizes else 0
        count, (_, length, symbols) = len(window.bias) // 3, window.symbols.shape
        self.x, self.weights, self.window = x, weights, window
        self.gates = multiplied(x, weights.x, weights.bias)
        self.cells, self.tanh = x.new_empty(n, width), x.new_empty(n, width)
        self.states = x.new_empty(n, width + symbols)  # h and w side by side
        self.parameters, self.kappa = x.new_empty(n, 3 * count), x.new_empty(n, count)
        self.bells, phi = x.new_empty(n, count, length), x.new_empty(n, length)
        hidden, content = self.states.split([width, symbols], 1)
        steps = PeepholeSteps(self.walk, self.gates, self.cells, self.tanh, hidden, weights.peephole)
        places = self.walk.steps(self.states, content, self.parameters, self.kappa, self.bells, phi)
        state, c = x.new_zeros(rows, width + symbols), x.new_zeros(rows, width)
        kappa, back, project = x.new_zeros(rows, count), repeated(weights.state), window.weight.t()
        self.positions = torch.arange(1, length + 1, device=x.device, dtype=x.dtype)
        for t, size in enumerate(self.walk.sizes):
            steps.steps[t][0].add_(back(state[:size]))
            h, c = steps.forward(t, c[:size])
            state, w_t, parameters, kappa_t, bells, phi_t = places[t]
            torch.addmm(window.bias, h, project, out=parameters).exp_()
            alpha, beta, pace = parameters.split(count, 1)
            kappa = torch.add(kappa[:size], pace, out=kappa_t)
            torch.sub(kappa.unsqueeze(2), self.positions, out=bells).square_().mul_(beta.unsqueeze(2)).neg_().exp_()
            torch.bmm(alpha.unsqueeze(1), bells, out=phi_t.unsqueeze(1))
            w_t.copy_(torch.bmm(phi_t.unsqueeze(1), window.symbols[:size]).squeeze(1))
        return hidden.clone(), content.clone(), phi, self.kappa.clone()

    def backward(
        self, d_hidden: Tensor, d_content: Tensor, d_phi: Tensor, d_kappa: Tensor
    ) -> tuple[Tensor | None, PeepholeWeights, WindowWeights]:
        (rows, _, symbols), width = self.window.symbols.shape, d_hidden.shape[1]
        count = self.kappa.shape[1]
        nothing = d_hidden.new_zeros(rows, width + symbols)
        before_c = self.walk.previous(nothing[:, :width], self.cells)
        steps = PeepholeStepsBackward(self.walk, self.gates, before_c, self.tanh, self.weights.peephole, self.limit)
        d_parameters = torch.empty_like(self.parameters)
        d_given, slopes = torch.cat([d_hidden, d_content], 1), self._slopes()
        d_state, d_c, later = nothing[:0], nothing[:, :width].clone(), d_kappa.new_zeros(rows, count)
        back, pace, by_pace = (
            repeated(self.weights.state.t()),
            *(part[:, 2 * count :] for part in (self.parameters, d_parameters)),
        )
        given = self.walk.steps(d_given, d_phi.unsqueeze(2), d_kappa, slopes, pace, d_parameters.unsqueeze(2), by_pace)
        for t in range(len(given) - 1, -1, -1):
            state_t, phi_t, kappa_t, slopes_t, pace_t, found, by_pace_t = given[t]
            size = len(state_t)
            d_h, d_w = _joined(d_state, state_t).split([width, symbols], 1)
            by_phi = torch.baddbmm(phi_t, self.window.symbols[:size], d_w.unsqueeze(2))  # (b, U, 1)
            torch.bmm(slopes_t, by_phi, out=found)  # (b, 3K, 1)
            torch.mul(later[:size].add_(kappa_t).add_(by_pace_t), pace_t, out=by_pace_t)
            d_h = torch.addmm(d_h, found.squeeze(2), self.window.weight)
            d_gates = steps.backward(t, d_h, d_c[:size])
            d_state = back(d_gates)
        before = self.walk.previous(nothing, self.states)
        d_x, d_weights = _gradients(steps.gates, self.x, before, before_c, self.cells, self.weights, self.needs[0])
        d_window = WindowWeights(
            d_parameters.t() @ self.states[:, :width],
            d_parameters.sum(0),
            None,  # type: ignore[arg-type]  # a one-hot vector has no gradient
        )
        return d_x, d_weights, d_window

    def _slopes(self) -> Tensor:
        """(N, 3K, U) the derivatives of phi(u) by a, b and kappa of each Gaussian."""
        alpha, beta, _ = self.parameters.unsqueeze(2).chunk(3, 1)
        weighted, away = self.bells * alpha, self.kappa.unsqueeze(2) - self.positions
        slope = weighted * away * -beta
        return torch.cat([weighted, slope * away, 2 * slope], 1)


def _joined(later: Tensor, given: Tensor) -> Tensor:
    """`given` (b, D) plus the gradients of the rows that had a later step, `later` (b' <= b, D), which is overwritten.
    A row joins at its last step."""
    if len(later) == len(given):
        return later.add_(given)
    found = given.clone()
    found[: len(later)] += later
    return found


def _gradients(
    d_gates: Tensor, x: Tensor, before: Tensor, before_c: Tensor, cells: Tensor, weights: PeepholeWeights, needed: bool
) -> tuple[Tensor | None, PeepholeWeights]:
    """The gradients of x and of the weights, from that of the sums in the gates (N, 4H)."""
    width = cells.shape[1]
    d_i, d_f, _, d_o = d_gates.split(width, 1)
    peephole = torch.stack([(d_i * before_c).sum(0), (d_f * before_c).sum(0), (d_o * cells).sum(0)])
    turned = d_gates.t()
    of_x, of_state = (multiplied(part.t(), turned).t() for part in (x, before))
    found = PeepholeWeights(of_x, of_state, peephole, d_gates.sum(0))
    return (multiplied(d_gates, weights.x.t()) if needed else None), found
