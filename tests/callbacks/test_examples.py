"""The names of the classes of the callbacks."""

import re
from pathlib import Path

ZOO = Path(__file__).resolve().parents[2] / "zoo"


def test_a_class_of_the_callbacks_has_a_name_of_its_own():
    homes = {}
    for path in ZOO.rglob("*.py"):
        for name in re.findall(r"^class (\w+)", path.read_text("utf-8"), re.MULTILINE):
            homes.setdefault(name, []).append(path.relative_to(ZOO).parts[0])
    assert "FirstExamples" in homes
    assert {name: rooms for name, rooms in homes.items() if "callbacks" in rooms and len(rooms) > 1} == {}
