"""Data whose words may have pretrained vectors: read once from their file, for the words of the vocabulary."""

from __future__ import annotations

import logging
from abc import abstractmethod
from pathlib import Path

import torch

from zoo.data.cache import fingerprint, make_once
from zoo.data.prepared import PreparedData
from zoo.data.sources import existing, identity
from zoo.data.text.vectors import WordVectors, read_vectors

log = logging.getLogger(__name__)


class Vectored(PreparedData):
    """Prepared data with `vectors_path`, the file of word vectors, or None. A family says which words there are."""

    vectors_path: str | None

    @abstractmethod
    def _words(self, folder: Path) -> list[str]:
        """The words of the vocabulary of a prepared folder, in the order of their ids."""

    def prepare_data(self) -> None:
        super().prepare_data()
        if self.vectors_path is not None:
            folder = self._folder(self.open_source())
            make_once(self._vectors_folder(folder), lambda temporary: self._prepare_vectors(folder, temporary))

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
        torch.save(read_vectors(self._vectors_file(), self._words(folder))._asdict(), temporary / "vectors.pt")

    def _vectors_file(self) -> Path:
        return existing(
            self.vectors_path or "", "data.vectors", "a file of word2vec (text or binary) or GloVe, .gz or not"
        )

    def _vectors_folder(self, folder: Path) -> Path:
        return folder.with_name(f"{folder.name}-vectors-{fingerprint({'file': identity(self._vectors_file())})}")
