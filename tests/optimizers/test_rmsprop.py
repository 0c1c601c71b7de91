"""The RMSProp of Graves 2013 against its equations, number by number."""

import math

import pytest
import torch

from zoo.optimizers.rmsprop import GravesRMSprop


def test_it_is_the_equations() -> None:
    gradients = [[0.3, -2.0], [0.1, 5.0], [-0.4, 0.0], [0.2, 1e-3]]
    parameter = torch.nn.Parameter(torch.tensor([1.0, -1.0], dtype=torch.float64))
    optimizer = GravesRMSprop([parameter], lr=0.01, smoothing=0.95, momentum=0.9, eps=1e-4)
    expected = []
    for place, value in enumerate((1.0, -1.0)):
        n = m = d = 0.0
        for row in gradients:
            g = row[place]
            n, m = 0.95 * n + 0.05 * g * g, 0.95 * m + 0.05 * g
            d = 0.9 * d - 0.01 * g / math.sqrt(n - m * m + 1e-4)
            value += d
        expected.append(value)
    for row in gradients:
        parameter.grad = torch.tensor(row, dtype=torch.float64)
        optimizer.step()
    assert parameter.tolist() == pytest.approx(expected, rel=1e-12)


def test_the_first_step_by_hand() -> None:
    """g = 2: n = 0.2, m = 0.1, d = -1 * 2 / sqrt(0.2 - 0.01 + 0.06) = -4."""
    parameter = torch.nn.Parameter(torch.tensor([1.0]))
    parameter.grad = torch.tensor([2.0])
    GravesRMSprop([parameter], lr=1.0, eps=0.06).step()
    assert parameter.item() == pytest.approx(-3.0)


def test_gradients_that_stay_the_same_leave_numbers() -> None:
    """Their variance is 0, which rounding can take below -eps: the step then grows to lr g / sqrt(eps) / (1 - 0.9)."""
    parameter = torch.nn.Parameter(torch.zeros(500))
    optimizer = GravesRMSprop([parameter], lr=1e-4)
    gradient = torch.linspace(10, 1000, 500)
    for _ in range(600):
        before = parameter.detach().clone()
        parameter.grad = gradient.clone()
        optimizer.step()
    assert parameter.isfinite().all() and (parameter < before).all()


def test_it_goes_on_from_its_state() -> None:
    def run(interrupt: bool) -> float:
        parameter = torch.nn.Parameter(torch.tensor([1.0]))
        optimizer = GravesRMSprop([parameter], lr=0.1)
        for number in range(4):
            if interrupt and number == 2:
                state = optimizer.state_dict()
                optimizer = GravesRMSprop([parameter], lr=0.5)
                optimizer.load_state_dict(state)
            parameter.grad = 2 * parameter.detach()
            optimizer.step()
        return parameter.item()

    assert run(interrupt=True) == run(interrupt=False)
    assert run(interrupt=False) < 1.0


def test_parameters_without_a_gradient_stay_and_a_closure_is_called() -> None:
    idle, parameter = torch.nn.Parameter(torch.ones(1)), torch.nn.Parameter(torch.ones(1))
    optimizer = GravesRMSprop([idle, parameter])

    def closure() -> float:
        parameter.grad = torch.ones(1)
        return 7.0

    assert optimizer.step(closure) == 7.0
    assert idle.item() == 1.0
    assert parameter.item() < 1.0
