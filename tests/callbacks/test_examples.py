"""The classes of the callbacks: their names, and the settings that they refuse."""

import re
from pathlib import Path

import pytest

from zoo.callbacks import AttentionMaps, ExponentialAverage, LastCheckpoint, PredictionsTable

ZOO = Path(__file__).resolve().parents[2] / "zoo"


def test_a_class_of_the_callbacks_has_a_name_of_its_own():
    homes = {}
    for path in ZOO.rglob("*.py"):
        for name in re.findall(r"^class (\w+)", path.read_text("utf-8"), re.MULTILINE):
            homes.setdefault(name, []).append(path.relative_to(ZOO).parts[0])
    assert "FirstExamples" in homes
    assert {name: rooms for name, rooms in homes.items() if "callbacks" in rooms and len(rooms) > 1} == {}


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
