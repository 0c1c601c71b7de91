"""Progress of predicting: nothing for what is quick, then bars on a terminal or a line per minute."""

import io

from rich.console import Console

from tests.decoding.toys import SPEC, Table, batch_of
from zoo.decoding import Greedy
from zoo.run.prediction_progress import AGAIN, DELAY, prediction_progress


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def shown(*, terminal, seconds, inputs=1):
    """The output while 9 tokens are written, each in so many seconds."""
    out, clock = io.StringIO(), Clock()

    class Slow(Table):
        def step(self, tokens, state):
            clock.now += seconds
            return super().step(tokens, state)

    with prediction_progress(inputs, Console(file=out, force_terminal=terminal, width=100), clock) as predicted:
        Greedy(min_length=(2.0, 1.0), max_length=(2.0, 1.0))(Slow(), batch_of(4), SPEC)
        predicted(1)
    return out.getvalue()


def test_quick_predictions_show_nothing():
    for terminal in (True, False):
        assert shown(terminal=terminal, seconds=DELAY / 20) == ""


def test_a_long_text_shows_a_bar_on_a_terminal():
    out = shown(terminal=True, seconds=DELAY)
    assert "writing token 2 of at most 9" in out and "predicting" not in out  # later ones are drawn by a thread
    assert "predicting" in shown(terminal=True, seconds=DELAY, inputs=2)


def test_a_long_text_prints_a_line_per_minute_into_a_file():
    out = shown(terminal=False, seconds=AGAIN / 4)
    assert out.splitlines() == [
        "writing token 2 of at most 9",
        "writing token 6 of at most 9",
        "1 of 1 inputs predicted",
    ]


def test_nothing_is_reported_after_it():
    shown(terminal=False, seconds=0.0)
    assert Greedy()(Table(), batch_of(2), SPEC)  # no report to a progress that has ended
