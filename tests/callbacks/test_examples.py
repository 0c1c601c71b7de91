"""The classes of the callbacks: their names, and the settings that they refuse."""

from pathlib import Path

import pytest

from zoo.callbacks import AttentionMaps, ExponentialAverage, LastCheckpoint, PredictionsTable

ZOO = Path(__file__).resolve().parents[2] / "zoo"


@pytest.mark.parametrize(
    ("callback", "key", "value"),
    [
        (AttentionMaps, "count", -1),
        (AttentionMaps, "every_n_minutes", 0),
        (PredictionsTable, "count", -1),
        (LastCheckpoint, "every_n_steps", 0),
        (ExponentialAverage, "decay", -0.1),
        (ExponentialAverage, "decay", 1.0),
    ],
)
def test_impossible_settings_are_refused(callback, key, value):
    with pytest.raises(ValueError, match=f"{key}.*; got .*{value}"):
        callback(**{key: value})
