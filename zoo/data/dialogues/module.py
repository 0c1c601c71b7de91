"""The base class of all data of dialogues."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Unpack

import datasets
import numpy as np

from zoo.arguments import Count
from zoo.data.copying.module import CopyData
from zoo.data.dialogues.batch import DialogueSpec
from zoo.data.dialogues.dialogue import Dialogue, Fact
from zoo.data.dialogues.encoding import ALL, BETWEEN, DialogueEncoder, Known
from zoo.data.dialogues.options import DialogueTextOptions
from zoo.data.order import Nouns
from zoo.data.sources import Reading, Source
from zoo.data.stored import draw_splits, histogram, numbers_of, values_of
from zoo.data.table_data import TableArguments
from zoo.data.table_encoder import TableEncoder
from zoo.errors import DataError
from zoo.values import hold


class DialogueData(CopyData):
    """Dialogues whose turns from the second one on are predicted from all turns before them, or from the last ones.

    A batch has `batch_size` dialogues, of similar lengths, with all their replies. With `max_turns` every reply is an
    example of its own, with at most so many turns before it.
    """

    tasks: ClassVar[tuple[str, ...]] = ("dialogue",)
    nouns: ClassVar[Nouns] = Nouns("dialogues", "words")
    encoding = DialogueEncoder
    length_parts = ("source",)
    between = BETWEEN
    text: DialogueTextOptions
    spec: DialogueSpec
    encoder: DialogueEncoder

    def __init__(
        self, *, reply: str | None = None, max_turns: Count | None = None, **rest: Unpack[TableArguments]
    ) -> None:
        """`reply` is the speaker whose turns are predicted, or `all`; None: those that the sample is made for, and all
        of files. `max_turns` is the most turns that a network sees before a reply; None: all."""
        super().__init__(**rest)
        hold("data.max_turns", max_turns, Count | None)
        self.max_turns = max_turns
        self.reply = reply or ALL

    def _facts(self, source: Source) -> dict[str, Any]:
        return super()._facts(source) | {"reply": self.reply, "max_turns": self.max_turns}

    def new_encoder(self) -> DialogueEncoder:
        return DialogueEncoder(self.text, reply=self.reply)

    # Preparing

    def examples(self, rows: Iterator[Dialogue], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        """The dialogues of a split. One with a single turn, or with a turn of no words, is a bad row."""
        first, speakers = 0, dict[str, None]()
        for number, one in enumerate(rows):
            speakers |= dict.fromkeys(one.speakers)
            if problem := _problem(one):
                reading.bad(one.place or f"{source.place}, dialogue {number + 1}", *problem)
                continue
            replies = [m for m in range(1, len(one.turns)) if self._predicted(one, m)]
            if not replies:
                reading.dropped[f"without a reply of {self.reply}"] += 1
            for example in self._examples(one, replies):
                yield {**example, "first": first, "number": number}
                first += len(example["replies"])
        if reading.training:
            self._speakers = list(speakers)
        if not first and self.reply != ALL:
            there = f"the speakers are {', '.join(speakers)}" if speakers else "the turns have no speakers"
            raise DataError(
                f"{source.place}: no turn of data.reply={self.reply}; {there}: set data.reply to all or one"
            )

    def _predicted(self, one: Dialogue, turn: int) -> bool:
        return self.reply == ALL or (bool(one.speakers) and one.speakers[turn] == self.reply)

    def _examples(self, one: Dialogue, replies: list[int]) -> Iterator[dict[str, Any]]:
        """The whole dialogue, or a window for each reply."""
        most = self.max_turns
        windows = [(0, replies)] if most is None else [(max(0, turn - most), [turn]) for turn in replies]
        for first, predicted in windows if replies else ():
            turns = slice(first, predicted[-1] + 1)
            example: dict[str, Any] = {
                "source_texts": one.turns[turns],
                "speakers": one.speakers[turns],
                "replies": [turn - first for turn in predicted],
            }
            if one.facts is not None:
                found = [fact for fact in one.facts if fact.turn in predicted]
                example["known"] = [number for fact in found for number in _known(fact, first)]
            yield example

    def draw(self, raw: dict[str, datasets.Dataset], source: Source) -> dict[str, datasets.Dataset]:
        numbers = np.fromiter(values_of(raw["train"], "number"), np.int64)
        return draw_splits(raw, self.split, source.place, self.nouns.examples, groups=numbers)

    def finish(self, encoder: TableEncoder, source: Source, splits: Mapping[str, datasets.Dataset]) -> None:
        assert isinstance(encoder, DialogueEncoder)
        encoder.speakers = self._speakers

    # Describing

    def facts(self, split: datasets.Dataset, encoder: TableEncoder) -> dict[str, Any]:
        replies = sum(map(len, values_of(split, "replies")))
        return {"replies": replies, "turns": histogram(numbers_of(split, "turns"))}

    def about(self, splits: Mapping[str, datasets.Dataset], facts: Mapping[str, Any]) -> dict[str, Any]:
        source, target = (
            max(int(numbers_of(part, name).max()) for part in splits.values())
            for name in ("num_source", "longest_reply")
        )
        return {"longest_source": source, "longest_target": target, "speakers": self._speakers}

    def set_spec(self, about: Mapping[str, Any]) -> None:
        self.spec = DialogueSpec(**self.spec_fields(about))

    def contents(self, about: Mapping[str, Any]) -> list[str]:
        replies = sum(split["replies"] for split in about["splits"].values())
        return [f"{replies:,} replies, vocabulary {about['vocabulary_size']:,} words"]

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        return {"dialogue": self.between.join(row["source_texts"])}


def _known(fact: Fact, first: int) -> Known:
    """A fact of a window that begins with turn `first`."""
    evidence, distance = max(-1, fact.evidence - first), fact.distance if fact.counted else 0
    return Known(fact.turn - first, fact.word, evidence, fact.evidence_word, distance)


def _problem(one: Dialogue) -> tuple[str, str] | None:
    """The problem with a dialogue, if there is one."""
    if len(one.turns) < 2:
        return "dialogue of one turn", f"found {len(one.turns)}; expected two turns or more, so that one is a reply"
    for number, turn in enumerate(one.turns, 1):
        if "\0" in turn:
            return "NUL byte", "the file is binary or damaged"
        if not turn.strip():
            return "turn of no words", f"turn {number} of {len(one.turns)} is empty"
    return None
