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

from zoo.data.bucketing import POOL, BucketBatchSampler, EvaluationBatchSampler, Nouns, TrainingLoader
from zoo.data.cache import cache_root, fingerprint, make_once
from zoo.data.rows import BadRows
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
    any_length: ClassVar[bool] = False
    """Whether a batch of `batch_size` holds examples of any length; one of `max_tokens` is of similar ones always."""
    name: str
    """Of the data, and of its folder in the cache."""
    spec: Spec
    encoder: Any

    def __init__(
        self,
        *,
        batch_size: int = 64,
        max_tokens: int | None = None,
        num_workers: int = 0,
        on_bad_row: str = "error",
        cache_dir: str | None = None,
        seed: int = 0,
    ) -> None:
        """No file is touched here.

        Args:
            batch_size: examples in a batch, over all processes.
            max_tokens: words in a batch, over all processes; takes the place of batch_size.
            num_workers: processes that make batches beside the one that trains.
            on_bad_row: `error` stops at a row that cannot be used, `skip` counts it and goes on.
            cache_dir: folder of the prepared data; None: the environment's ZOO_CACHE, else ~/.cache/attention-zoo.
            seed: of the order in which examples are seen.
        """
        super().__init__()
        self.limit = {"batch_size": batch_size} if max_tokens is None else {"max_tokens": max_tokens}
        self.num_workers = num_workers
        self.on_bad_row = BadRows(on_bad_row).policy
        self.cache_dir = cache_dir
        self.seed = seed
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
        # Rows that are left out must have been asked for: a set prepared with `skip` is another one.
        facts = {"source": dict(source.identity), "on_bad_row": self.on_bad_row, **self._facts(source)}
        return cache_root(self.cache_dir) / self.name / fingerprint(facts)

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

    def train_dataloader(self) -> TrainingLoader:
        part = self._part("train")
        order = BucketBatchSampler(
            part.lengths,
            **self.limit,
            pool=1 if self.any_length and "batch_size" in self.limit else POOL,
            # overfit_batches asks for the same few batches in each epoch.
            shuffle=not getattr(self.trainer, "overfit_batches", 0),
            seed=self.seed,
            rank=self._rank,
            world_size=self._world_size,
            nouns=self.nouns,
        )
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
        ranks = {"rank": self._rank, "world_size": self._world_size}
        order = EvaluationBatchSampler(part.lengths, **self.limit, **ranks, nouns=self.nouns)
        return DataLoader(part, batch_sampler=order, **self._loading())

    def _loading(self) -> dict[str, Any]:
        on_cuda = self.trainer is not None and self.trainer.strategy.root_device.type == "cuda"
        return {
            "collate_fn": self._collate,
            "num_workers": self.num_workers,
            "pin_memory": on_cuda,
            # Without one of its own a loader draws from the generator of the dropout, and a resumed run differs from
            # then on.
            "generator": torch.Generator().manual_seed(self.seed),
        }

    def _batches_done(self) -> int:
        """Batches of the current epoch that were trained before a resume."""
        trainer = self.trainer
        if trainer is None or not trainer.training:
            return 0
        return trainer.fit_loop.epoch_loop.batch_progress.current.ready

    @property
    def _rank(self) -> int:
        return 0 if self.trainer is None else self.trainer.global_rank

    @property
    def _world_size(self) -> int:
        return 1 if self.trainer is None else self.trainer.world_size
