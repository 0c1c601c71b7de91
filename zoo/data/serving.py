"""The base class of every data set: a LightningDataModule with loaders in the order of the family."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import torch
from lightning.pytorch import LightningDataModule
from torch.utils.data import DataLoader, Dataset

from zoo.data.batch import Encoder, Spec
from zoo.data.options import LoaderOptions
from zoo.data.order import InOrder, Nouns, Order, TrainingLoader
from zoo.data.text.vectors import WordVectors
from zoo.errors import ConfigError

P = TypeVar("P", bound=Dataset[Any])


class ServedData(LightningDataModule, ABC, Generic[P]):
    """Batches of the examples of three splits. After `setup` there are `spec`, `encoder`, `describe()` and the loaders.

    A family defines the examples of a split (`part`), their order (`training_order`, `evaluation_order`) and how they
    are combined (`_collate`).
    """

    tasks: ClassVar[tuple[str, ...]]
    """The tasks that the data are for."""
    continues: ClassVar[bool] = False
    """Whether the examples are a stream, in which row b of each batch continues row b of the batch before. Training and
    evaluation then both read it in this order (`zoo.data.order.InOrder`)."""
    nouns: ClassVar[Nouns]
    """The names of its examples and of their parts."""
    name: str
    spec: Spec
    encoder: Encoder

    def __init__(self, *, loader: Mapping[str, Any] | LoaderOptions | None = None) -> None:
        """Reads no file. `loader` defines how batches are made, see `LoaderOptions`."""
        super().__init__()
        self.loader = LoaderOptions.of(loader)

    def begin_with(self, encoder: Encoder) -> None:
        """Continue the vocabulary of the encoder of a checkpoint. By default data have none to continue."""

    @abstractmethod
    def part(self, split: str) -> P:
        """The examples of `train`, `val` or `test`. Indexed by a list of numbers, they are the input of `_collate`."""

    def training_order(self, part: P) -> Order:
        """The order of the examples of `part` in training, unless the data `continues`. By default as they are listed.
        `ranks` identifies this process."""
        return self._in_order(part)

    def evaluation_order(self, part: P) -> Order:
        """The order in validation, test and prediction, unless the data `continues`: each example once over all
        processes. By default as they are listed."""
        return self._in_order(part)

    def _in_order(self, part: P) -> InOrder:
        if self.loader.max_tokens is not None:
            raise ConfigError(
                f"data.loader.max_tokens={self.loader.max_tokens}: {self.name} is read in order, in batches of one "
                "size; remove it and set data.loader.batch_size"
            )
        size: int = len(part)  # type: ignore[arg-type]
        return InOrder(size, batch_size=self.loader.batch_size, **self.ranks, nouns=self.nouns)

    @property
    @abstractmethod
    def _collate(self) -> Callable[[Any], Any]:
        """The function from some examples of a split to a batch."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The description of the data as plain data, which `zoo data` prints:

        - `name`, and `source`, the source of the examples;
        - `splits`: the facts about each split, by name. A whole number is a count. A float is shown in percent if its
          name ends in `rate` or `share`. `classes` has the number of examples of each class by its name, which is shown
          as a share and read by `task.class_weights=balanced`. Lengths are a result of
          `zoo.data.stored.histogram`. `dropped` has the numbers of examples that were left out, by reason;
        - optionally `contents`, lines on all splits together; `skipped`, the numbers of rows that could not be used, by
          reason; `examples`, the parts of a few examples by name; `notes`, see `zoo.data.notes`.

        Other keys are only for programs.
        """

    @property
    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """Examples of each split."""

    @property
    def source_description(self) -> str:
        """The source of the examples and their number, in one line."""
        return str(self.describe()["source"])

    def vectors(self) -> WordVectors | None:
        """Pretrained vectors of the vocabulary's words, if the data have any."""
        return None

    def training_references(self) -> Iterable[Sequence[Sequence[int]]]:
        """All right outputs for each training example, in the order of `Batch.index`, as ids without begin and end.
        Some rewards need them. Raises ConfigError if the data do not have them."""
        raise ConfigError(
            f"the reward needs all references of the training data, and data={self.name} does not have them: use data "
            "of images with captions, or another objective"
        )

    def write(self, folder: Path) -> list[Path]:
        """Write the examples as files of their official format into a folder, for `zoo data --write`. Returns the
        files. Raises ConfigError if the data have no such format."""
        raise ConfigError(f"--write: data={self.name} cannot be written as files; leave it out")

    def from_text(self, files: Sequence[Path]) -> None:
        """Replace the source by plain texts from which examples are made, for `zoo data --from-text`. Raises
        ConfigError for data that are not made from texts."""
        raise ConfigError(f"--from-text: data={self.name} is not made from plain text; data=cbt is")

    # Loaders

    def train_dataloader(self) -> TrainingLoader:
        part = self.part("train")
        order = self._in_order(part) if self.continues else self.training_order(part)
        return TrainingLoader(part, batch_sampler=order, batches_done=self._batches_done, **self._loading())

    def val_dataloader(self) -> DataLoader[Any]:
        return self._evaluation_loader("val")

    def test_dataloader(self) -> DataLoader[Any]:
        return self._evaluation_loader("test")

    def predict_dataloader(self) -> DataLoader[Any]:
        return self._evaluation_loader("test")

    def _evaluation_loader(self, split: str) -> DataLoader[Any]:
        part = self.part(split)
        order = self._in_order(part) if self.continues else self.evaluation_order(part)
        return DataLoader(part, batch_sampler=order, **self._loading())

    def _loading(self) -> dict[str, Any]:
        on_cuda = self.trainer is not None and self.trainer.strategy.root_device.type == "cuda"
        return {
            "collate_fn": self._collate,
            "num_workers": self.loader.num_workers,
            "pin_memory": on_cuda,
            # Without its own generator a loader draws from the one of dropout, and a resumed run would differ.
            "generator": torch.Generator().manual_seed(self.loader.seed),
        }

    def _batches_done(self) -> int:
        """Batches of the current epoch that were trained before a resume."""
        trainer = self.trainer
        if trainer is None or not trainer.training:
            return 0
        return trainer.fit_loop.epoch_loop.batch_progress.current.ready

    @property
    def overfitting(self) -> bool:
        """Whether `overfit_batches` requires the same few batches in each epoch."""
        return bool(getattr(self.trainer, "overfit_batches", 0))

    @property
    def ranks(self) -> dict[str, int]:
        """The rank of this process and the number of processes, for an order."""
        return {"rank": self._rank, "world_size": self._world_size}

    @property
    def _rank(self) -> int:
        return 0 if self.trainer is None else self.trainer.global_rank

    @property
    def _world_size(self) -> int:
        return 1 if self.trainer is None else self.trainer.world_size
