"""Documents with one class each: what every corpus of them shares."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import datasets

from zoo.data.cache import steps_beside
from zoo.data.documents.encoding import DocumentEncoder, EncodedDocuments, collate
from zoo.data.documents.options import DocumentTextOptions
from zoo.data.documents.prepare import DOCUMENTS, ENCODER, FORMAT, prepare
from zoo.data.documents.sources import DocumentSource
from zoo.data.documents.spec import DocumentSpec
from zoo.data.options import LoaderOptions, SplitOptions
from zoo.data.order import Nouns
from zoo.data.prepared import PreparedData
from zoo.data.rows import counted
from zoo.data.stored import StoredSplit
from zoo.data.text.vectored import Vectored


class DocumentData(Vectored, PreparedData[DocumentSource]):
    """Documents with one class each."""

    task: ClassVar[str] = "classification"
    nouns: ClassVar[Nouns] = Nouns("documents", "words")
    spec: DocumentSpec
    encoder: DocumentEncoder

    def __init__(
        self,
        *,
        text: Mapping[str, Any] | DocumentTextOptions | None = None,
        split: SplitOptions | None = None,
        vectors: str | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """No file is touched here.

        Args:
            text: how text becomes words, see `DocumentTextOptions`.
            split: shares of the splits that the corpus comes without, see `SplitOptions`.
            vectors: file of pretrained word vectors.
            loader: how batches are made, see `LoaderOptions`.
        """
        super().__init__(
            loader=loader,
        )
        self.text = DocumentTextOptions.of(text)
        self.split = split or SplitOptions()
        self.vectors_path = vectors

    # Preparing

    def _facts(self, source: DocumentSource) -> dict[str, Any]:
        classes = list(source.classes or ())
        return {"format": FORMAT, "text": vars(self.text), "split": vars(self.split), "classes": classes}

    def _write(self, folder: Path, source: DocumentSource) -> dict[str, Any]:
        with steps_beside(folder) as steps:
            return prepare(folder, steps, source, self.text, self.split, self.loader.on_bad_row)

    def _read(self, folder: Path, about: Mapping[str, Any]) -> dict[str, StoredSplit]:
        self.encoder = self._encoder(folder)
        self.spec = DocumentSpec(vocabulary_size=about["vocabulary_size"], classes=tuple(about["classes"]))
        stored = datasets.load_from_disk(folder / DOCUMENTS)
        return {name: EncodedDocuments(part) for name, part in stored.items()}

    @staticmethod
    def _encoder(folder: Path) -> DocumentEncoder:
        return DocumentEncoder.from_state(json.loads((folder / ENCODER).read_text("utf-8")))

    @property
    def _collate(self) -> Callable[[Any], Any]:
        return collate

    # Serving

    def describe(self) -> dict[str, Any]:
        about = super().describe()
        return about | {"contents": [f"vocabulary {about['vocabulary_size']:,} words, {len(about['classes'])} classes"]}

    def _words(self, folder: Path) -> list[str]:
        return self._encoder(folder).vocabulary.words

    def _summary(self, about: Mapping[str, Any]) -> list[str]:
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
            lines.append(f"left out {sum(skipped.values()):,} rows: {counted(skipped)}")
        return lines
