"""Prepared data: read and numbered once, then mapped into memory and served from there."""

import json
import logging
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zoo.data.cache import cache_root, fingerprint, make_once
from zoo.data.encodings import UTF8
from zoo.data.options import LoaderOptions
from zoo.data.order import POOL, Bucketed, Evaluation, Order
from zoo.data.rows import BadRows
from zoo.data.serving import ServedData
from zoo.data.sources import Source
from zoo.data.stored import StoredSplit
from zoo.errors import DataError, ZooError

log = logging.getLogger(__name__)

ABOUT = "about.json"


class PreparedData(ServedData[StoredSplit]):
    """Examples that are read and numbered once, and then served from the disk.

    `prepare_data` runs once per machine and makes a folder in the cache. Its name follows from the source and from
    every option that changes the examples. `setup` maps the folder into memory. A family defines how examples are
    written (`_write`), read (`_read`) and combined (`_collate`); a corpus defines their source (`open_source`).
    """

    name: str  # The name of the data, and of their folder in the cache

    def __init__(self, *, loader: Mapping[str, Any] | LoaderOptions | None = None) -> None:
        """Reads no file. `loader` defines how batches are made, see `LoaderOptions`."""
        super().__init__(loader=loader)
        self._about: dict[str, Any] | None = None
        self._splits: dict[str, StoredSplit] = {}

    @abstractmethod
    def open_source(self) -> Source:
        """The source of the examples, which reads none of them. Raises DataError if they are missing."""

    @abstractmethod
    def _facts(self, source: Source) -> dict[str, Any]:
        """Plain data that differ if the prepared data may differ."""

    @abstractmethod
    def _write(self, folder: Path, source: Source) -> dict[str, Any]:
        """Write the examples into an empty folder. Returns their description: the result of `describe` without the
        name.  Temporary files belong into a folder of `zoo.data.cache.steps_beside(folder)`."""

    @abstractmethod
    def _read(self, folder: Path, about: Mapping[str, Any]) -> dict[str, StoredSplit]:
        """The splits of a prepared folder; sets `spec` and `encoder`."""

    @abstractmethod
    def _summary(self, about: Mapping[str, Any]) -> list[str]:
        """The description in a few lines, for the log. The notes are printed after it."""

    # Preparing

    def prepare_data(self) -> None:
        source = self.open_source()
        folder = self._folder(source)

        def make(temporary: Path) -> None:
            log.info("%s: preparing %s in %s", self.name, source.place, folder)
            about = self._write(temporary, source)
            (temporary / ABOUT).write_text(json.dumps(about, ensure_ascii=False, indent=1), "utf-8")

        make_once(folder, make)

    def setup(self, stage: str | None = None) -> None:
        if self._about is not None:
            return
        folder = self._folder(self.open_source())
        if not folder.exists():
            raise DataError(f"{folder}: the data is not prepared yet: call prepare_data() first, as Trainer does")
        try:
            about = json.loads((folder / ABOUT).read_text("utf-8"))
            self._splits = self._read(folder, about)
        except ZooError:  # a ConfigError is a ValueError, too, but not damage
            raise
        except (OSError, ValueError) as error:
            raise DataError(
                f"{folder}: the prepared data is damaged ({error}); delete this folder and run again"
            ) from error
        self._about = about
        if self._rank == 0:
            for line in [*self._summary(about), *about.get("notes", ())]:
                log.info("%s: %s", self.name, line)

    def _folder(self, source: Source) -> Path:
        # `skip` may have left rows out: prepared data without them are only for runs with `skip`.
        facts = {"source": dict(source.identity), "on_bad_row": self.loader.on_bad_row, **self._facts(source)}
        if self.loader.encoding != UTF8:
            facts["encoding"] = self.loader.encoding
        return cache_root(self.loader.cache_dir) / self.name / fingerprint(facts)

    def bad_rows(self) -> BadRows:
        """The treatment of rows that cannot be used, and the encoding of the files."""
        return BadRows(self.loader.on_bad_row, self.loader.encoding)

    # Serving

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, **self._prepared()}

    @property
    def sizes(self) -> dict[str, int]:
        self._prepared()
        return {name: len(part) for name, part in self._splits.items()}

    def part(self, split: str) -> StoredSplit:
        self._prepared()
        return self._splits[split]

    def training_order(self, part: StoredSplit) -> Order:
        """By default, batches of similar length that are drawn anew in each epoch."""
        return self._bucketed(part, POOL)

    def evaluation_order(self, part: StoredSplit) -> Order:
        return Evaluation(part.lengths, **self.loader.limit, **self.ranks, nouns=self.nouns)

    def _bucketed(self, part: StoredSplit, pool: int) -> Bucketed:
        loader, shuffle = self.loader, not self.overfitting
        ranks = {**loader.limit, **self.ranks}
        return Bucketed(part.lengths, shuffle=shuffle, seed=loader.seed, pool=pool, nouns=self.nouns, **ranks)

    def _prepared(self) -> dict[str, Any]:
        if self._about is None:
            raise DataError(f"{self.name}: call prepare_data() and setup() first, as Trainer does")
        return self._about
