"""Prepared data and files for users are there whole or not at all; prepared data are made once."""

import errno
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from PIL import Image

from zoo.data.cache import cache_root, fingerprint, make_once, steps_beside, write_new
from zoo.errors import DataError


def fill(folder):
    (folder / "a").write_text("whole")


def test_made_once(tmp_path):
    target = tmp_path / "deep" / "data"
    assert make_once(target, fill)
    assert (target / "a").read_text() == "whole"
    assert not make_once(target, lambda folder: pytest.fail("made twice"))
    assert sorted(path.name for path in target.parent.iterdir()) in (["data"], ["data", "data.lock"])


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, DataError])
def test_after_an_error_there_is_nothing(tmp_path, error):
    def broken(folder):
        fill(folder)
        raise error("in the middle")

    with pytest.raises(error, match="in the middle"):
        make_once(tmp_path / "data", broken)
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".lock"]
    assert make_once(tmp_path / "data", fill)


def started(target, make):
    """A program that calls `make_once` with this function."""
    program = f"""
import os, sys, time, pathlib
from zoo.data.cache import make_once, steps_beside
target = pathlib.Path(sys.argv[1])
{make}
make_once(target, make)
"""
    return subprocess.Popen([sys.executable, "-c", program, str(target)])


def test_what_a_kill_left_is_removed(tmp_path):
    killed = """def make(folder):
    with steps_beside(folder) as steps:
        (folder / "half").write_text("x")
        (steps / "step").write_text("x")
        os.kill(os.getpid(), 9)"""
    assert started(tmp_path / "data", killed).wait(timeout=60) == -9
    assert not (tmp_path / "data").exists()
    assert list(tmp_path.glob("data.tmp-*/half")) and list(tmp_path.glob("data.tmp-*/step"))
    assert make_once(tmp_path / "data", fill)
    assert not list(tmp_path.glob("data.tmp-*"))


def test_two_processes_make_it_once(tmp_path):
    slow = """def make(folder):
    with open(target.parent / "made", "a") as file:
        file.write("x")
    time.sleep(1)
    (folder / "a").write_text("whole")"""
    running = [started(tmp_path / "data", slow) for _ in range(3)]
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0]
    assert (tmp_path / "made").read_text() == "x" and (tmp_path / "data" / "a").read_text() == "whole"


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"file/data: the prepared data cannot be .*data\.loader\.cache_dir"):
        make_once(tmp_path / "file" / "data", fill)


def test_what_cannot_be_written_inside(tmp_path, monkeypatch):
    """However a library tells it: with the file, with a message alone, absolute or not, or as a full disk."""
    monkeypatch.chdir(tmp_path)
    target = Path("cache") / "data"

    def by_name(folder):
        (folder / "none" / "a").write_text("whole")

    def by_message(folder):
        with pytest.raises(OSError, match="Failed to open local file") as caught:
            pa.OSFile(str((folder / "none" / "a").absolute()), "wb")
        assert caught.value.filename is None
        raise caught.value

    def on_the_way(folder):
        with steps_beside(folder) as steps:
            (steps / "none" / "a").write_text("whole")

    def full(folder):
        raise OSError(errno.ENOSPC, "No space left on device")

    def over_quota(folder):
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    for make in (by_name, by_message, on_the_way, full, over_quota):
        with pytest.raises(DataError, match=rf"^{target}: the prepared data cannot be written here: .*ZOO_CACHE"):
            make_once(target, make)


def test_what_cannot_be_read_is_not_blamed_on_the_cache(tmp_path):
    source, picture = tmp_path / "data.txt", tmp_path / "a.png"
    picture.write_bytes(b"no picture")
    with pytest.raises(DataError, match=rf"^{source}: cannot be read: No such file or directory; check that its file"):
        make_once(tmp_path / "data", lambda folder: source.read_bytes())
    with pytest.raises(DataError, match=rf"^an example cannot be read: cannot identify .*{picture}'; check that"):
        make_once(tmp_path / "data", lambda folder: Image.open(picture))
    with pytest.raises(DataError, match=r"^tests: cannot be read: Is a directory"):
        make_once(tmp_path / "data", lambda folder: Path("tests").read_bytes())
    assert not (tmp_path / "data").exists()
    assert make_once(tmp_path / "data", fill)


def test_where(tmp_path, monkeypatch):
    monkeypatch.setenv("ZOO_CACHE", str(tmp_path))
    assert cache_root() == tmp_path
    assert cache_root(tmp_path / "other") == tmp_path / "other"
    monkeypatch.delenv("ZOO_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_root() == tmp_path / "home" / ".cache" / "attention-zoo"
    assert cache_root("~/x") == tmp_path / "home" / "x"


def test_fingerprint():
    assert fingerprint({"a": 1, "b": [2]}) == fingerprint({"b": [2], "a": 1})
    assert fingerprint({"a": 1}) != fingerprint({"a": 2})


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
