"""What a family writes stays, and what it says of itself is not taken for damage."""

import json

import pytest

from tests.data.pairs.toy import Toy, prepared
from zoo.errors import ConfigError, DataError


class WritesArrow(Toy):
    """Keeps an Arrow file of its own beside the pairs."""

    def _write(self, folder, source):
        (folder / "own.arrow").write_text("mine")
        return super()._write(folder, source)

    def _read(self, folder, about):
        self.own = (folder / "own.arrow").read_text()
        return super()._read(folder, about)


class Refuses(Toy):
    """Cannot be served as it is configured."""

    def _read(self, folder, about):
        raise ConfigError("data.width=0: expected a whole number from 1 on")


def test_all_that_a_family_writes_stays_and_its_steps_do_not(cache_dir):
    assert prepared(WritesArrow()).own == "mine"
    (folder,) = (folder for folder in (cache_dir / "toy").iterdir() if folder.is_dir())
    assert sorted(file.name for file in folder.iterdir()) == ["about.json", "encoder.json", "examples", "own.arrow"]


def test_what_a_family_refuses_is_no_damage(cache_dir):
    with pytest.raises(ConfigError, match=r"^data\.width=0: expected a whole number from 1 on$"):
        prepared(Refuses())


@pytest.mark.parametrize("content", ["{", json.dumps([])[:1], None])
def test_damage_is_told(cache_dir, content):
    prepared(Toy())
    about = next(cache_dir.rglob("about.json"))
    about.unlink() if content is None else about.write_text(content)
    with pytest.raises(DataError, match=rf"^{about.parent}: the prepared data is damaged .* delete this folder and"):
        prepared(Toy())
