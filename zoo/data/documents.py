"""What every corpus of documents shares as a LightningDataModule: prepare once, map into memory, serve batches."""

from __future__ import annotations

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import datasets
import torch
from lightning.pytorch import LightningDataModule
from torch.utils.data import DataLoader

from zoo.data.bucketing import BucketBatchSampler, EvaluationBatchSampler, TrainingLoader
from zoo.data.cache import cache_root, fingerprint, make_once
from zoo.data.encoding import DocumentEncoder, EncodedDocuments, collate
from zoo.data.options import SplitOptions, TextOptions
from zoo.data.prepare import ABOUT, DOCUMENTS, FORMAT, VOCABULARY, prepare
from zoo.data.rows import BadRows
from zoo.data.sources import Source, existing, identity
from zoo.data.spec import DocumentSpec
from zoo.data.vectors import WordVectors, read_vectors
from zoo.data.vocabulary import Vocabulary
from zoo.errors import DataError

log = logging.getLogger(__name__)


class DocumentData(LightningDataModule, ABC):
    """Documents with one class each. A corpus says by `open_source` where its documents come from.

    `prepare_data` runs once per machine and leaves a folder in the cache, whose name follows from the source and from
    every option that changes it; `setup` maps it into memory. After that there are `spec`, `encoder`, `describe()` and
    the loaders.
    """

    task: ClassVar[str] = "classification"
    name: str
    """Of the corpus, and of its folder in the cache."""
    spec: DocumentSpec
    encoder: DocumentEncoder

    def __init__(
        self,
        *,
        text: Mapping[str, Any] | TextOptions | None = None,
        split: SplitOptions | None = None,
        vectors: str | None = None,
        batch_size: int = 64,
        max_tokens: int | None = None,
        num_workers: int = 0,
        on_bad_row: str = "error",
        cache_dir: str | None = None,
        seed: int = 0,
    ) -> None:
        """No file is touched here.

        Args:
            text: how text becomes words, see `TextOptions`.
            split: shares of the splits that the corpus comes without, see `SplitOptions`.
            vectors: file of pretrained word vectors.
            batch_size: documents in a batch, over all processes.
            max_tokens: words in a batch, over all processes; takes the place of batch_size.
            num_workers: processes that make batches beside the one that trains.
            on_bad_row: `error` stops at a row that cannot be used, `skip` counts it and goes on.
            cache_dir: folder of the prepared data; None: the environment's ZOO_CACHE, else ~/.cache/attention-zoo.
            seed: of the order in which documents are seen.
        """
        super().__init__()
        self.text = TextOptions.of(text)
        self.split = split or SplitOptions()
        self.vectors_path = vectors
        self.limit = {"batch_size": batch_size} if max_tokens is None else {"max_tokens": max_tokens}
        self.num_workers = num_workers
        self.on_bad_row = BadRows(on_bad_row).policy
        self.cache_dir = cache_dir
        self.seed = seed
        self._about: dict[str, Any] | None = None
        self._splits: dict[str, EncodedDocuments] = {}

    @abstractmethod
    def open_source(self) -> Source:
        """The documents, unread. Raises DataError where they are not there."""

    # Preparing

    def prepare_data(self) -> None:
        source = self.open_source()
        folder = self._folder(source)

        def make(temporary: Path) -> None:
            log.info("%s: preparing %s in %s", self.name, source.place, folder)
            prepare(temporary, source, self.text, self.split, self.on_bad_row)

        make_once(folder, make)
        if self.vectors_path is not None:
            make_once(self._vectors_folder(folder), lambda temporary: self._prepare_vectors(folder, temporary))

    def setup(self, stage: str | None = None) -> None:
        if self._about is not None:
            return
        folder = self._folder(self.open_source())
        if not folder.exists():
            raise DataError(f"{folder}: the data is not prepared yet: call prepare_data() first, as Trainer does")
        try:
            about = json.loads((folder / ABOUT).read_text("utf-8"))
            vocabulary = Vocabulary.from_state(json.loads((folder / VOCABULARY).read_text("utf-8")))
            stored = datasets.load_from_disk(folder / DOCUMENTS)
        except (OSError, ValueError) as error:
            raise DataError(
                f"{folder}: the prepared data is damaged ({error}); delete this folder and run again"
            ) from error
        self._splits = {name: EncodedDocuments(part) for name, part in stored.items()}
        self.encoder = DocumentEncoder(vocabulary, self.text)
        self.spec = DocumentSpec(vocabulary_size=len(vocabulary), classes=tuple(about["classes"]))
        self._about = about
        if self._rank == 0:
            for line in summary(about):
                log.info("%s: %s", self.name, line)

    def _folder(self, source: Source) -> Path:
        facts = {"format": FORMAT, "source": dict(source.identity), "text": vars(self.text), "split": vars(self.split)}
        facts["classes"] = list(source.classes or ())
        # Rows that are left out must have been asked for: a set prepared with `skip` is another one.
        return cache_root(self.cache_dir) / self.name / fingerprint({**facts, "on_bad_row": self.on_bad_row})

    # Serving

    def describe(self) -> dict[str, Any]:
        """What the prepared data is, as plain data: source, classes, sizes, lengths, unknown words, what was left out,
        examples."""
        return {"name": self.name, **self._prepared()}

    @property
    def source_description(self) -> str:
        """Where the documents come from and how many there are, in one line."""
        return str(self._prepared()["source"])

    def _prepared(self) -> dict[str, Any]:
        if self._about is None:
            raise DataError(f"{self.name}: call prepare_data() and setup() first, as Trainer does")
        return self._about

    def train_dataloader(self) -> TrainingLoader:
        part = self._part("train")
        order = BucketBatchSampler(
            part.lengths,
            **self.limit,
            # overfit_batches asks for the same few batches in each epoch.
            shuffle=not getattr(self.trainer, "overfit_batches", 0),
            seed=self.seed,
            rank=self._rank,
            world_size=self._world_size,
        )
        return TrainingLoader(part, batch_sampler=order, batches_done=self._batches_done, **self._loading())

    def val_dataloader(self) -> DataLoader[Any]:
        return self._evaluation_loader("val")

    def test_dataloader(self) -> DataLoader[Any]:
        return self._evaluation_loader("test")

    def predict_dataloader(self) -> DataLoader[Any]:
        return self._evaluation_loader("test")

    def vectors(self) -> WordVectors | None:
        """The pretrained vectors of the vocabulary's words; None where `data.vectors` names no file."""
        if self.vectors_path is None:
            return None
        self._prepared()
        stored = torch.load(self._vectors_folder(self._folder(self.open_source())) / "vectors.pt", weights_only=True)
        vectors = WordVectors(**stored)
        if self._rank == 0:
            words = f"{vectors.coverage:.1%} of {len(vectors.found):,} words"
            log.info("%s: %s has vectors for %s, the others keep random ones", self.name, self.vectors_path, words)
        return vectors

    def _prepare_vectors(self, folder: Path, temporary: Path) -> None:
        words = Vocabulary.from_state(json.loads((folder / VOCABULARY).read_text("utf-8"))).words
        torch.save(read_vectors(self._vectors_file(), words)._asdict(), temporary / "vectors.pt")

    def _vectors_file(self) -> Path:
        return existing(
            self.vectors_path or "", "data.vectors", "a file of word2vec (text or binary) or GloVe, .gz or not"
        )

    def _vectors_folder(self, folder: Path) -> Path:
        return folder.with_name(f"{folder.name}-vectors-{fingerprint({'file': identity(self._vectors_file())})}")

    def _part(self, split: str) -> EncodedDocuments:
        self._prepared()
        return self._splits[split]

    def _evaluation_loader(self, split: str) -> DataLoader[Any]:
        part = self._part(split)
        order = EvaluationBatchSampler(part.lengths, **self.limit, rank=self._rank, world_size=self._world_size)
        return DataLoader(part, batch_sampler=order, **self._loading())

    def _loading(self) -> dict[str, Any]:
        on_cuda = self.trainer is not None and self.trainer.strategy.root_device.type == "cuda"
        return {
            "collate_fn": collate,
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


def summary(about: Mapping[str, Any]) -> list[str]:
    """The description of prepared data in a few lines."""
    splits = about["splits"]
    lines = [
        about["source"],
        ", ".join(f"{name} {part['documents']:,}" for name, part in splits.items())
        + f" documents, {len(about['classes'])} classes, vocabulary {about['vocabulary_size']:,}, "
        + f"unknown words in test {splits['test']['unknown_rate']:.1%}",
    ]
    if cut := sum(part["truncated"] for part in splits.values()):
        lines.append(f"{cut:,} documents were cut (data.text.max_sentences, max_words, max_word_length)")
    if skipped := about["skipped"]:
        lines.append(
            f"left out {sum(skipped.values()):,} rows: " + ", ".join(f"{n:,} {what}" for what, n in skipped.items())
        )
    return lines
