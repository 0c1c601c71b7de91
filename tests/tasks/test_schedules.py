"""Learning rates: numbers by hand, peaks, slopes, torch's own for long runs, and resumed runs."""

import copy

import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR

from zoo.tasks.schedules import FlatThenFalling, Noam, SlantedTriangle


def optimizer(groups=1):
    layers = [nn.Linear(1, 1) for _ in range(groups)]
    return torch.optim.Adam([{"params": layer.parameters(), "lr": 0.1 * i} for i, layer in enumerate(layers)])


def rates(schedule, steps):
    """The rate that each of the next steps of the optimizer uses."""
    found = []
    for _ in range(steps):
        found.append(schedule.get_last_lr()[0])
        schedule.optimizer.step()
        schedule.step()
    return found


def test_numbers_by_hand():
    # dim 4, warmup 4: 1/2 * step/8 up to step 4, then 1/2 / sqrt(step)
    found = rates(Noam(optimizer(), dim=4, warmup=4), 16)
    assert found[:4] == pytest.approx([1 / 16, 2 / 16, 3 / 16, 4 / 16])
    assert found[8] == pytest.approx(1 / 6)  # step 9
    assert found[15] == pytest.approx(1 / 8)  # step 16
    assert rates(Noam(optimizer(), dim=4, warmup=4, scale=2.0), 1) == pytest.approx([1 / 8])


def test_flat_epochs_and_then_a_fall_before_each():
    made = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=20.0)
    assert rates(FlatThenFalling(made, flat=4, gamma=0.5), 7) == [20, 20, 20, 20, 10, 5, 2.5]


def test_the_papers_base_model_peaks_at_seven_ten_thousandths_in_step_4000():
    found = rates(Noam(optimizer(), dim=512), 4100)
    assert found.index(max(found)) + 1 == 4000
    assert max(found) == pytest.approx(6.9877e-4, rel=1e-4)  # 1 / sqrt(512 * 4000)


def test_every_group_gets_the_rate_whatever_its_own_was():
    schedule = Noam(optimizer(groups=2), dim=16, warmup=2)
    assert [group["lr"] for group in schedule.optimizer.param_groups] == schedule.get_last_lr()
    assert schedule.get_last_lr()[0] == schedule.get_last_lr()[1] == pytest.approx(2**-1.5 / 4)


@pytest.mark.parametrize("sizes", [{"dim": 0}, {"dim": 4, "warmup": 0}])
def test_sizes_are_positive(sizes):
    with pytest.raises(ValueError, match="positive"):
        Noam(optimizer(), **sizes)


def test_a_network_that_names_no_width():
    with pytest.raises(ValueError, match=r"set scheduler\.scheduler\.dim to the width"):
        Noam(optimizer(), dim=None)


def torchs(steps, top):
    """The schedule that the triangle took the place of."""
    return OneCycleLR(
        optimizer(), max_lr=top, total_steps=steps, pct_start=0.1, anneal_strategy="linear", cycle_momentum=False
    )


def triangle(steps, top):
    return SlantedTriangle(torch.optim.Adam(nn.Linear(1, 1).parameters(), lr=top), total_steps=steps)


@pytest.mark.parametrize("steps", [100, 376, 1000])  # 376: the default run
def test_the_triangle_of_a_long_run_is_torchs_to_the_last_digit(steps):
    assert rates(triangle(steps, 3e-3), steps) == rates(torchs(steps, 3e-3), steps)


@pytest.mark.parametrize("steps", range(1, 41))
def test_a_run_of_any_length_has_its_full_rate(steps):
    found = rates(triangle(steps, 1.0), steps)
    assert max(found) > 0.9 and min(found) > 0
    assert found[0] == 1 or steps > 10
    top = found.index(max(found))
    assert found[:top] == sorted(found[:top]) and found[top:] == sorted(found[top:], reverse=True)
    assert steps == 1 or found[-1] == pytest.approx(4e-6)


def test_triangle_numbers_by_hand():
    found = rates(triangle(21, 1.0), 21)  # peak at 1.1 steps after the first
    assert found[0] == 1 / 25
    assert found[1] == pytest.approx(0.04 + 0.96 / 1.1)
    assert found[11] == pytest.approx(1 - (1 - 4e-6) * 9.9 / 18.9)


@pytest.mark.parametrize("made", [lambda: Noam(optimizer(), dim=8, warmup=5), lambda: triangle(30, 0.5)])
def test_a_resumed_run_goes_on_with_the_same_rates(made):
    whole, resumed = made(), made()
    rates(whole, 3)
    optimizer_state, state = copy.deepcopy((whole.optimizer.state_dict(), whole.state_dict()))
    assert all(isinstance(value, (int, float, bool, str, list, type(None))) for value in state.values())
    resumed.optimizer.load_state_dict(optimizer_state)
    resumed.load_state_dict(state)
    assert resumed.optimizer.param_groups[0]["lr"] == whole.optimizer.param_groups[0]["lr"]
    assert rates(resumed, 19) == rates(whole, 19)


@pytest.mark.parametrize("steps", [0, float("inf")])
def test_a_run_without_an_end_has_no_triangle(steps):
    with pytest.raises(ValueError, match=r"trainer\.max_steps"):
        triangle(steps, 1.0)
