"""Cloze questions: what every corpus of them shares."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import datasets
from torch.utils.data import DataLoader

from zoo.data.bucketing import Evaluation
from zoo.data.cache import steps_beside
from zoo.data.cloze.encoding import BLANK_ID, ClozeEncoder, EncodedQuestions, collate
from zoo.data.cloze.options import ClozeTextOptions
from zoo.data.cloze.prepare import ENCODER, FORMAT, QUESTIONS, prepare
from zoo.data.cloze.spec import ClozeSpec
from zoo.data.options import LoaderOptions, SplitOptions
from zoo.data.order import Nouns
from zoo.data.prepared import PreparedData
from zoo.data.rows import counted
from zoo.data.sources import Source
from zoo.data.stored import StoredSplit


class ClozeData(PreparedData[Source]):
    """Documents, each with a query that has a blank, and candidates for it. A batch holds documents of similar length,
    drawn anew in each epoch."""

    task: ClassVar[str] = "cloze"
    nouns: ClassVar[Nouns] = Nouns("questions", "words")
    spec: ClozeSpec
    encoder: ClozeEncoder

    def __init__(
        self,
        *,
        text: Mapping[str, Any] | ClozeTextOptions | None = None,
        split: Mapping[str, Any] | SplitOptions | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """No file is touched here.

        Args:
            text: how words become ids, see `ClozeTextOptions`.
            split: shares of the splits that the corpus comes without, see `SplitOptions`.
            loader: how batches are made, see `LoaderOptions`; `max_tokens` counts the words of documents.
        """
        super().__init__(
            loader=loader,
        )
        self.text = ClozeTextOptions.of(text)
        self.split = SplitOptions.of(split)

    # Preparing

    def _facts(self, source: Source) -> dict[str, Any]:
        return {"family": "cloze", "format": FORMAT, "text": vars(self.text), "split": vars(self.split)}

    def _write(self, folder: Path, source: Source) -> dict[str, Any]:
        with steps_beside(folder) as steps:
            return prepare(folder, steps, source, self.text, self.split, self.loader.on_bad_row)

    def _read(self, folder: Path, about: Mapping[str, Any]) -> dict[str, StoredSplit]:
        self.encoder = ClozeEncoder.from_state(json.loads((folder / ENCODER).read_text("utf-8")))
        self.spec = ClozeSpec(vocabulary_size=about["vocabulary_size"], blank=BLANK_ID)
        stored = datasets.load_from_disk(folder / QUESTIONS)
        return {name: EncodedQuestions(part) for name, part in stored.items()}

    @property
    def _collate(self) -> Callable[[Any], Any]:
        return collate

    # Serving

    def part(self, split: str) -> EncodedQuestions:
        part = super().part(split)
        assert isinstance(part, EncodedQuestions)
        return part

    def every_batch(self, split: str) -> DataLoader[Any]:
        """All questions of a split on this process alone, for what one process does for all: fitting the re-ranking."""
        part = self.part(split)
        order = Evaluation(part.lengths, **self.loader.limit, nouns=self.nouns)
        return DataLoader(part, batch_sampler=order, **self._loading())

    def describe(self) -> dict[str, Any]:
        about = super().describe()
        return about | {"contents": [f"vocabulary {about['vocabulary_size']:,} words"]}

    def _summary(self, about: Mapping[str, Any]) -> list[str]:
        splits = about["splits"]
        lines = [
            about["source"],
            ", ".join(f"{name} {part['questions']:,}" for name, part in splits.items())
            + f" questions, {splits['train']['candidates']:g} candidates and {splits['train']['words']['mean']:,.0f} "
            + f"words each, vocabulary {about['vocabulary_size']:,}, "
            + f"unknown words in test {splits['test']['unknown_rate']:.1%}",
        ]
        if dropped := splits["train"].get("dropped"):
            lines.append(f"train: left out {sum(dropped.values()):,} questions: {counted(dropped)}")
        if skipped := about["skipped"]:
            lines.append(f"left out {sum(skipped.values()):,} rows: {counted(skipped)}")
        return lines
