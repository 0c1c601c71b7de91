"""The schedules at worked points."""

import math

import pytest

from zoo.errors import ConfigError
from zoo.objectives.feeding import schedule


@pytest.mark.parametrize(
    ("name", "constants", "step", "share"),
    [
        ("linear", dict(k=1.0, slope=1e-3, floor=0.25), 0, 1.0),
        ("linear", dict(k=1.0, slope=1e-3, floor=0.25), 100, 0.9),
        ("linear", dict(k=1.0, slope=1e-3, floor=0.25), 800, 0.25),
        ("linear", dict(k=0.8, slope=0.1), 10**9, 0.0),
        ("linear", dict(k=1.5, slope=1e-2, floor=0.25), 50, 1.0),
        ("linear", dict(k=1.5, slope=1e-2, floor=0.25), 80, 0.7),
        ("exponential", dict(k=0.99), 0, 1.0),
        ("exponential", dict(k=0.99), 3, 0.970299),
        ("exponential", dict(k=0.99, floor=0.1), 10**6, 0.1),
        ("inverse_sigmoid", dict(k=100.0), 0, 100 / 101),
        ("inverse_sigmoid", dict(k=100.0), 200, 100 / (100 + math.exp(2))),
        ("inverse_sigmoid", dict(k=100.0), 1000, 100 / (100 + math.exp(10))),
        ("inverse_sigmoid", dict(k=1.0), 700, math.exp(-700)),
        ("inverse_sigmoid", dict(k=1.0), 10**6, 0.0),
        ("inverse_sigmoid", dict(k=10.0, floor=0.2), 10**9, 0.2),
        ("constant", dict(k=0.3), 12345, 0.3),
        ("constant", dict(k=0.1, floor=0.3), 0, 0.3),
    ],
)
def test_the_papers_formulas(name, constants, step, share):
    assert schedule(name, **constants)(step) == pytest.approx(share, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "constants"),
    [
        ("linear", dict(k=-0.5, slope=1e-3)),
        ("linear", dict(k=1.0)),
        ("exponential", dict(k=1.0)),
        ("exponential", dict(k=0.9, slope=0.1)),
        ("inverse_sigmoid", dict(k=0.5)),
        ("constant", dict(k=1.5)),
        ("constant", dict(k=0.5, floor=1.5)),
    ],
)
def test_constants_of_another_schedule_raise(name, constants):
    with pytest.raises(ConfigError, match=f"decay={name}"):
        schedule(name, **constants)


def test_another_name_raises():
    with pytest.raises(ConfigError, match=r"decay=cosine: expected .*linear.*, found 'cosine'"):
        schedule("cosine", k=1.0)
