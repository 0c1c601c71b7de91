"""What every data set shares as a LightningDataModule: prepare once, map into memory, serve batches."""

from __future__ import annotations

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import torch
from lightning.pytorch import LightningDataModule
from torch.utils.data import DataLoader

from zoo.data.bucketing import POOL, Bucketed, Evaluation
from zoo.data.cache import cache_root, fingerprint, make_once
from zoo.data.options import LoaderOptions
from zoo.data.order import Nouns, Order, TrainingLoader
from zoo.data.sources import Source
from zoo.data.spec import Spec
from zoo.data.stored import StoredSplit
from zoo.data.text.vectors import WordVectors
from zoo.errors import DataError

log = logging.getLogger(__name__)

ABOUT = "about.json"
S = TypeVar("S", bound=Source)


class PreparedData(LightningDataModule, ABC, Generic[S]):
    """Examples that are read and numbered once, and then served from the disk.

    `prepare_data` runs once per machine and leaves a folder in the cache, whose name follows from the source and from
    every option that changes it; `setup` maps it into memory. After that there are `spec`, `encoder`, `describe()` and
    the loaders. A family of data fills in how examples are written (`_write`), read (`_read`) and put together
    (`_collate`); a corpus says by `open_source` where they come from.
    """

    task: ClassVar[str]
    """The task that the data are for."""
    nouns: ClassVar[Nouns]
    """What its examples and their parts are called."""
    name: str
    """Of the data, and of its folder in the cache."""
    spec: Spec
    encoder: Any

    def __init__(self, *, loader: Mapping[str, Any] | LoaderOptions | None = None) -> None:
        """No file is touched here. `loader` says how batches are made, see `LoaderOptions`."""
        super().__init__()
        self.loader = LoaderOptions.of(loader)
        self._about: dict[str, Any] | None = None
        self._splits: dict[str, StoredSplit] = {}

    @abstractmethod
    def open_source(self) -> S:
        """The examples, unread. Raises DataError where they are not there."""

    @abstractmethod
    def _facts(self, source: S) -> dict[str, Any]:
        """Plain data that differs wherever the prepared data may differ."""

    @abstractmethod
    def _write(self, folder: Path, source: S) -> dict[str, Any]:
        """Fill an empty folder with the examples; their description: plain data, with `source` and `splits`."""

    @abstractmethod
    def _read(self, folder: Path, about: Mapping[str, Any]) -> dict[str, StoredSplit]:
        """The splits of a prepared folder; sets `spec` and `encoder`."""

    @abstractmethod
    def _summary(self, about: Mapping[str, Any]) -> list[str]:
        """The description in a few lines."""

    @property
    @abstractmethod
    def _collate(self) -> Callable[[Any], Any]:
        """From the rows of a split to a batch."""

    # Preparing

    def prepare_data(self) -> None:
        source = self.open_source()
        folder = self._folder(source)

        def make(temporary: Path) -> None:
            log.info("%s: preparing %s in %s", self.name, source.place, folder)
            about = self._write(temporary, source)
            (temporary / ABOUT).write_text(json.dumps(about, ensure_ascii=False, indent=1), "utf-8")
            for file in temporary.glob("*.arrow"):  # steps on the way
                file.unlink()

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
        except (OSError, ValueError) as error:
            raise DataError(
                f"{folder}: the prepared data is damaged ({error}); delete this folder and run again"
            ) from error
        self._about = about
        if self._rank == 0:
            for line in self._summary(about):
                log.info("%s: %s", self.name, line)

    def _folder(self, source: S) -> Path:
        # `skip` may have left rows out: who did not ask for that is never given such a set.
        facts = {"source": dict(source.identity), "on_bad_row": self.loader.on_bad_row, **self._facts(source)}
        return cache_root(self.loader.cache_dir) / self.name / fingerprint(facts)

    # Serving

    def describe(self) -> dict[str, Any]:
        """What the prepared data is, as plain data: source, sizes, lengths, unknown words, what was left out,
        examples."""
        return {"name": self.name, **self._prepared()}

    @property
    def source_description(self) -> str:
        """Where the examples come from and how many there are, in one line."""
        return str(self._prepared()["source"])

    @property
    def sizes(self) -> dict[str, int]:
        """Examples of each split."""
        self._prepared()
        return {name: len(part) for name, part in self._splits.items()}

    def vectors(self) -> WordVectors | None:
        """Pretrained vectors of the vocabulary's words, where the data has any."""
        return None

    def _prepared(self) -> dict[str, Any]:
        if self._about is None:
            raise DataError(f"{self.name}: call prepare_data() and setup() first, as Trainer does")
        return self._about

    def training_order(self, part: StoredSplit) -> Order:
        """How the examples of `part` are seen in training: by default in batches of similar length, drawn anew in each
        epoch. Another family overrides it; `self.ranks` says which process this is."""
        return self._bucketed(part, POOL)

    def evaluation_order(self, part: StoredSplit) -> Order:
        """How the examples of `part` are seen in validation, test and prediction: each once over all processes."""
        return Evaluation(part.lengths, **self.loader.limit, **self.ranks, nouns=self.nouns)

    def _bucketed(self, part: StoredSplit, pool: int) -> Bucketed:
        return Bucketed(
            part.lengths,
            **self.loader.limit,
            **self.ranks,
            pool=pool,
            shuffle=not self._overfitting,
            seed=self.loader.seed,
            nouns=self.nouns,
        )

    def train_dataloader(self) -> TrainingLoader:
        part = self._part("train")
        order = self.training_order(part)
        return TrainingLoader(part, batch_sampler=order, batches_done=self._batches_done, **self._loading())

    def val_dataloader(self) -> DataLoader[Any]:
        return self._evaluation_loader("val")

    def test_dataloader(self) -> DataLoader[Any]:
        return self._evaluation_loader("test")

    def predict_dataloader(self) -> DataLoader[Any]:
        return self._evaluation_loader("test")

    def _part(self, split: str) -> StoredSplit:
        self._prepared()
        return self._splits[split]

    def _evaluation_loader(self, split: str) -> DataLoader[Any]:
        part = self._part(split)
        return DataLoader(part, batch_sampler=self.evaluation_order(part), **self._loading())

    def _loading(self) -> dict[str, Any]:
        on_cuda = self.trainer is not None and self.trainer.strategy.root_device.type == "cuda"
        return {
            "collate_fn": self._collate,
            "num_workers": self.loader.num_workers,
            "pin_memory": on_cuda,
            # Without one of its own a loader draws from the generator of the dropout, and a resumed run differs from
            # then on.
            "generator": torch.Generator().manual_seed(self.loader.seed),
        }

    def _batches_done(self) -> int:
        """Batches of the current epoch that were trained before a resume."""
        trainer = self.trainer
        if trainer is None or not trainer.training:
            return 0
        return trainer.fit_loop.epoch_loop.batch_progress.current.ready

    @property
    def _overfitting(self) -> bool:
        """`overfit_batches` asks for the same few batches in each epoch."""
        return bool(getattr(self.trainer, "overfit_batches", 0))

    @property
    def ranks(self) -> dict[str, int]:
        """Which process this is, and of how many: for an order."""
        return {"rank": self._rank, "world_size": self._world_size}

    @property
    def _rank(self) -> int:
        return 0 if self.trainer is None else self.trainer.global_rank

    @property
    def _world_size(self) -> int:
        return 1 if self.trainer is None else self.trainer.world_size
