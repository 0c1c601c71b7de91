"""Stories with questions: what every source of them shares."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from zoo.data.options import LoaderOptions
from zoo.data.order import Nouns, Order
from zoo.data.prepared import PreparedData
from zoo.data.rows import counted
from zoo.data.sources import SPLITS
from zoo.data.stored import StoredSplit
from zoo.data.stories.encoding import StoryEncoder, collate
from zoo.data.stories.options import StoryTextOptions
from zoo.data.stories.order import Replaced
from zoo.data.stories.prepare import ENCODER, FORMAT, SENTENCES, SplitChoice, prepare
from zoo.data.stories.sources import StorySource
from zoo.data.stories.spec import StorySpec
from zoo.data.stories.stored import EncodedStories, Questions, Sentences, shown_sentences
from zoo.errors import ConfigError


class StoryData(PreparedData[StorySource]):
    """Questions about stories, each with one answer.

    A training batch is a draw from all questions, of stories of any length: from those that are left in the epoch, or,
    with `replacement`, from all of them again.
    """

    tasks: ClassVar[tuple[str, ...]] = ("answering",)
    nouns: ClassVar[Nouns] = Nouns("questions", "words")
    spec: StorySpec
    encoder: StoryEncoder

    def __init__(
        self,
        *,
        split: SplitChoice,
        text: Mapping[str, Any] | StoryTextOptions | None = None,
        replacement: bool = False,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """No file is touched here.

        Args:
            split: which questions validate and test where there are no files for that.
            text: how stories become words, see `StoryTextOptions`.
            replacement: a training batch may hold what another one of its epoch held.
            loader: how batches are made, see `LoaderOptions`.
        """
        super().__init__(
            loader=loader,
        )
        self.text = StoryTextOptions.of(text)
        self.split = split
        self.replacement = replacement
        if replacement and self.loader.max_tokens is not None:
            raise ConfigError(
                f"data.loader.max_tokens={self.loader.max_tokens}: with data.replacement=true a batch has "
                "data.loader.batch_size questions; leave one of the two out"
            )

    def _facts(self, source: StorySource) -> dict[str, Any]:
        tasks = {str(number): name for number, name in source.tasks.items()}
        options = {"text": vars(self.text), "split": vars(self.split), "drawn": source.drawn, "tasks": tasks}
        return {"family": "stories", "format": FORMAT, **options}

    def _write(self, folder: Path, source: StorySource) -> dict[str, Any]:
        return prepare(folder, source, self.text, self.split, self.bad_rows())

    def _read(self, folder: Path, about: Mapping[str, Any]) -> dict[str, StoredSplit]:
        self.encoder = StoryEncoder.from_state(json.loads((folder / ENCODER).read_text("utf-8")))
        self.spec = StorySpec(
            vocabulary_size=about["vocabulary_size"],
            longest_sentence=about["longest_sentence"],
            tasks=tuple(about["tasks"]),
        )
        sentences, shown = Sentences.load(folder / SENTENCES), shown_sentences(folder / SENTENCES)
        return {
            name: EncodedStories(Questions.load(folder / name), sentences, None if name == "train" else shown)
            for name in SPLITS
        }

    def training_order(self, part: StoredSplit) -> Order:
        if not self.replacement:
            return self._bucketed(part, 1)
        return Replaced(
            len(part),
            batch_size=self.loader.batch_size,
            shuffle=not self.overfitting,
            seed=self.loader.seed,
            rank=self._rank,
            world_size=self._world_size,
            nouns=self.nouns,
        )

    def describe(self) -> dict[str, Any]:
        about = super().describe()
        longest, tasks = about["longest_sentence"], about["tasks"]
        of_tasks = f", {len(tasks)} tasks" if len(tasks) > 1 else ""
        words = f"vocabulary {about['vocabulary_size']:,} words and answers, sentences of up to {longest} words"
        return about | {"contents": [words + of_tasks]}

    @property
    def _collate(self) -> Callable[[Any], Any]:
        return collate

    def _summary(self, about: Mapping[str, Any]) -> list[str]:
        splits = about["splits"]
        lines = [
            about["source"],
            ", ".join(f"{name} {part['questions']:,}" for name, part in splits.items())
            + f" questions, vocabulary {about['vocabulary_size']:,}, {splits['train']['different_answers']:,} "
            + f"different answers, unknown words in test {splits['test']['unknown_rate']:.1%}",
        ]
        if cut := sum(part["truncated"] for part in splits.values()):
            lines.append(f"{cut:,} stories were cut (data.text.max_sentences, max_words)")
        if skipped := about["skipped"]:
            lines.append(f"left out {sum(skipped.values()):,} rows: {counted(skipped)}")
        return lines
