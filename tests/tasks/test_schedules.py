"""The Transformer's learning rate: numbers by hand, its peak, its slope, and a resumed run."""

import copy

import pytest
import torch
from torch import nn

from zoo.tasks.schedules import Noam


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


def test_the_papers_base_model_peaks_at_seven_ten_thousandths_in_step_4000():
    found = rates(Noam(optimizer(), dim=512), 4100)
    assert found.index(max(found)) + 1 == 4000
    assert max(found) == pytest.approx(6.9877e-4, rel=1e-4)  # 1 / sqrt(512 * 4000)


def test_every_group_gets_the_rate_whatever_its_own_was():
    schedule = Noam(optimizer(groups=2), dim=16, warmup=2)
    assert [group["lr"] for group in schedule.optimizer.param_groups] == schedule.get_last_lr()
    assert schedule.get_last_lr()[0] == schedule.get_last_lr()[1] == pytest.approx(2**-1.5 / 4)


def test_a_resumed_run_goes_on_with_the_same_rates():
    whole = Noam(optimizer(), dim=8, warmup=5)
    rates(whole, 3)
    optimizer_state, state = copy.deepcopy((whole.optimizer.state_dict(), whole.state_dict()))
    assert all(isinstance(value, (int, float, bool, str, list, type(None))) for value in state.values())
    resumed = Noam(optimizer(), dim=8, warmup=5)
    resumed.optimizer.load_state_dict(optimizer_state)
    resumed.load_state_dict(state)
    assert resumed.optimizer.param_groups[0]["lr"] == whole.optimizer.param_groups[0]["lr"]
    assert rates(resumed, 9) == rates(whole, 9)


@pytest.mark.parametrize("sizes", [{"dim": 0}, {"dim": 4, "warmup": 0}])
def test_sizes_are_positive(sizes):
    with pytest.raises(ValueError, match="positive"):
        Noam(optimizer(), **sizes)


def test_a_network_that_names_no_width():
    with pytest.raises(ValueError, match=r"scheduler\.scheduler\.dim=512"):
        Noam(optimizer(), dim=None)
