"""Files for others: all of them or none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from zoo.data.cache import write_new
from zoo.errors import DataError


def broken() -> Iterator[str]:
    yield "a line\n"
    raise DataError("bad.txt, line 2: is none")


def test_all_are_written(tmp_path: Path) -> None:
    files = write_new(tmp_path / "new" / "folder", {"a.txt": ["one\n", "two\n"], "b.txt": iter(["drei ß\n"])})
    assert [file.read_bytes() for file in files] == [b"one\ntwo\n", "drei ß\n".encode()]
    assert sorted(tmp_path.joinpath("new", "folder").iterdir()) == files


def test_or_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"bad\.txt, line 2"):
        write_new(tmp_path / "out", {"a.txt": ["one\n"], "b.txt": broken()})
    with pytest.raises(DataError, match=r"xxx\.txt: cannot be written: File name too long"):
        write_new(tmp_path / "out", {"a.txt": ["one\n"], f"{'x' * 300}.txt": ["two\n"]})
    assert not list(tmp_path.iterdir())
    (tmp_path / "b.txt").write_text("mine")
    with pytest.raises(DataError, match=r"b\.txt: is there already, and stays as it is"):
        write_new(tmp_path, {"a.txt": ["one\n"], "b.txt": ["two\n"]})
    assert [file.read_text() for file in tmp_path.iterdir()] == ["mine"]
