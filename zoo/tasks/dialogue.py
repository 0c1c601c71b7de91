"""Dialogues to their next turns: how likely the true replies are, and what the written ones repeat and vary."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from torchmetrics import Metric

from zoo.data.dialogues.batch import DialogueBatch
from zoo.decoding import Hypothesis
from zoo.metrics import Share
from zoo.metrics.distinct import Distinct
from zoo.predicting.dialogue import DialoguePredictions
from zoo.tasks.texts import TextGeneration

WORD = re.compile(r"\w+(?:[.:,'&-]\w+)*")
BEGINNING = re.compile(r"(?:^|[.!?:]\s)\W*$")  # The text before the first word of a sentence


class Dialogue(DialoguePredictions, TextGeneration):
    """Any network that serves `dialogue`.

    - `distinct_1`, `distinct_2`: the different words, and pairs of them, in all written replies, divided by all words
      or pairs. Few mean that the replies are the same everywhere.
    - `entity_accuracy`: of the names and numbers of a true reply, the share that the written one has, too: of words
      with a digit, and of those with a capital within a sentence. An entity counts as often as it is in both.
    """

    headline = (*TextGeneration.headline, "entity_accuracy", "distinct_1", "distinct_2")
    monitors: ClassVar[Mapping[str, str]] = {
        **TextGeneration.monitors,
        "distinct_1": "max",
        "distinct_2": "max",
        "entity_accuracy": "max",
    }

    def metrics(self) -> dict[str, Metric]:
        own: dict[str, Metric] = {f"distinct_{size}": Distinct(size) for size in (1, 2)}
        return {**super().metrics(), **own, "entity_accuracy": Share()}

    def score_written(self, stage: str, batch: DialogueBatch, hypotheses: list[Hypothesis]) -> None:  # type: ignore[override]
        super().score_written(stage, batch, hypotheses)
        assert batch.target_texts is not None
        written = [WORD.findall(text.lower()) for text in self.texts(batch, hypotheses)]
        for size in (1, 2):
            self.record(stage, f"distinct_{size}", written)
        found: list[bool] = []
        for (reference,), words in zip(batch.target_texts, written, strict=True):
            wanted = entities(reference)
            right = (Counter(wanted) & Counter(words)).total()
            found += [True] * right + [False] * (len(wanted) - right)
        self.record(stage, "entity_accuracy", found)


def entities(text: str) -> list[str]:
    """The names and numbers of a text, in small letters: the words with a digit, and those with a capital that do not
    begin a sentence. "I" is not a name."""
    found = []
    for match in WORD.finditer(text):
        word = match[0]
        number = any(letter.isdigit() for letter in word)
        name = word[0].isupper() and word.split("'")[0] != "I" and not BEGINNING.search(text[: match.start()])
        if number or name:
            found.append(word.lower())
    return found
