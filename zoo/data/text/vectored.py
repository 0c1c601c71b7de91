"""Data whose words may have pretrained vectors, which are read once for the words of the vocabulary."""

import logging
from abc import abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Unpack

import torch

from zoo.data.cache import fingerprint, make_once
from zoo.data.prepared import PreparedData
from zoo.data.sources import existing, identity
from zoo.data.table_data import TableArguments, TableData
from zoo.data.text.vectors import WordVectors, read_vectors
from zoo.data.text.vocabulary import PLAIN

log = logging.getLogger(__name__)

FORMAT = 3  # Increase this number if the same file is read in another way


class VectorArguments(TableArguments, total=False):
    """The arguments of a family whose words may have pretrained vectors."""

    vectors: str | None


class WordsWithVectors(PreparedData):
    """Prepared data with one vocabulary, whose words may have pretrained vectors."""

    def __init__(self, *, vectors: str | None = None, **rest: Any) -> None:
        """`vectors` is a file of word2vec or GloVe; the rest goes to the family."""
        super().__init__(**rest)
        self.vectors_path = vectors

    @abstractmethod
    def stored_words(self, folder: Path) -> list[str]:
        """The words of the vocabulary of a prepared folder, in the order of their ids."""

    def prepare_data(self) -> None:
        super().prepare_data()
        if self.vectors_path is not None:
            folder = self._folder(self.open_source())
            make_once(self._vectors_folder(folder), lambda temporary: self._prepare_vectors(folder, temporary))

    def vectors(self) -> WordVectors | None:
        """The pretrained vectors of the vocabulary's words; None without `data.vectors`."""
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
        words = self.stored_words(folder)
        found = with_plain_marks(words, lambda those: read_vectors(self._vectors_file(), those))
        torch.save(found._asdict(), temporary / "vectors.pt")

    def _vectors_file(self) -> Path:
        return existing(
            self.vectors_path or "", "data.vectors", "a file of word2vec (text or binary) or GloVe, .gz or not"
        )

    def _vectors_folder(self, folder: Path) -> Path:
        facts = {"format": FORMAT, "file": identity(self._vectors_file())}
        return folder.with_name(f"{folder.name}-vectors-{fingerprint(facts)}")


class Vectored(WordsWithVectors, TableData):
    """A table with one vocabulary, whose words may have pretrained vectors."""

    def __init__(self, **rest: Unpack[VectorArguments]) -> None:
        super().__init__(**rest)

    def stored_words(self, folder: Path) -> list[str]:
        return self._stored_encoder(folder).vocabulary.words


def with_plain_marks(words: Sequence[str], read: Callable[[Sequence[str]], WordVectors]) -> WordVectors:
    """The vectors of `words`, read by `read`. A Treebank mark without a vector, e.g. -LRB-, gets the vector of the
    ordinary mark, e.g. (."""
    every = list(dict.fromkeys([*words, *(PLAIN[word] for word in words if word in PLAIN)]))
    rows, found = read(every)
    for number, word in enumerate(words):
        if word in PLAIN and not found[number] and found[plain := every.index(PLAIN[word])]:
            rows[number], found[number] = rows[plain], True
    return WordVectors(rows[: len(words)].clone(), found[: len(words)].clone())
