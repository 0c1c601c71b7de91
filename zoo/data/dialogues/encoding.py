"""Dialogues to batches of their replies, with unknown words numbered for each dialogue.

A stored dialogue is one sequence of words with the number of each word's turn. Unknown words are numbered in the order
in which they first occur, so that those before a reply are the first ones of the dialogue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.copying.encoding import NUMBERS, TEXTS, CopyEncoder, SourceWords, known_ids
from zoo.data.dialogues.batch import DialogueBatch
from zoo.data.dialogues.options import DialogueTextOptions
from zoo.data.parts import Along, Number, Numbers, Shown, Stored, gridded
from zoo.data.rows import beginning
from zoo.data.stored import spread
from zoo.data.text.links import covering
from zoo.data.text.tokenization import find
from zoo.data.text.vocabulary import BEGIN, END, UNKNOWN, WRITTEN_SPECIAL, Vocabulary
from zoo.errors import UnusableInput

ALL = "all"
BETWEEN = " / "  # Between the turns of a dialogue that is shown in one line
END_WORD = WRITTEN_SPECIAL[END]
EXPECTED = "expected a list of turns, or {'turns': [...], 'speakers': [...]}"


class Known(NamedTuple):
    """A word of a generated reply that repeats an earlier one. Words are numbered as blanks separate them."""

    turn: int
    word: int
    evidence: int  # The turn of the word that it repeats; -1 where that was cut off
    evidence_word: int
    distance: int  # 0 where the word is not counted as a fact


class DialogueEncoder(CopyEncoder):
    """Dialogues to batches. An input is a list of turns, and the reply is the turn after them."""

    takes = "a dialogue as a list of turns"
    options = DialogueTextOptions
    raw = pa.schema(
        {
            "source_texts": TEXTS,
            "speakers": TEXTS,
            "replies": NUMBERS,
            "known": NUMBERS,
            "first": pa.int64(),
            "number": pa.int64(),
        }
    )
    given = ("source_texts", "speakers", "replies")
    parts = (
        SourceWords(
            "source",
            special=WRITTEN_SPECIAL,
            spelled=(END_WORD,),
            lengths="words_of_a_dialogue",
            unit="a training dialogue",
        ),
        Along("sentence", words="source", empty=0),
        Numbers("replies"),
        Numbers("begins"),
        Number("first"),
        Along("facts", words="source", empty=0, training=False),
        Numbers("aligned_source", training=False),
        Numbers("aligned_target", training=False),
        *(Shown(name, training=True) for name in ("unknown_words", "source_texts")),
        *map(Stored, ("turns", "longest_reply")),
    )
    target = "source"
    batches = DialogueBatch
    text_options: DialogueTextOptions

    def __init__(
        self,
        text: DialogueTextOptions,
        vocabularies: Sequence[Vocabulary] = (),
        subwords: Sequence[str | None] = (),
        *,
        reply: str = ALL,
        speakers: Sequence[str] = (),
    ) -> None:
        """`reply` is the speaker whose turns are predicted, or ALL. `speakers` are those of the training dialogues, in
        the order in which they first occur."""
        super().__init__(text, vocabularies, subwords)
        self.reply, self.speakers = reply, list(speakers)

    def extra_state(self) -> dict[str, Any]:
        return {"reply": self.reply, "speakers": self.speakers}

    def typed(self, one: Any) -> dict[str, Any]:
        """The columns of a text, a list of turns, or a mapping with `turns` and perhaps `speakers`. Raises
        UnusableInput for anything else, and for a dialogue without words."""
        given = one if isinstance(one, Mapping) else {"turns": [one] if isinstance(one, str) else one}
        turns, speakers = (list(given.get(name) or ()) for name in ("turns", "speakers"))
        if not all(isinstance(text, str) for text in (*turns, *speakers)):
            raise UnusableInput(f"{beginning(str(one))} is not text: {EXPECTED}")
        if not any(text.strip() for text in turns):
            raise UnusableInput(f"{beginning(str(one))} has no words: {EXPECTED}")
        if speakers and len(speakers) != len(turns):
            found = f"{len(turns)} turns and {len(speakers)} speakers"
            raise UnusableInput(f"{beginning(str(one))} has {found}: {EXPECTED}")
        return {"source_texts": turns, "speakers": speakers or self.supposed(len(turns)), "replies": [len(turns)]}

    def supposed(self, count: int) -> list[str]:
        """The speakers of `count` turns, if two speakers alternate and the turn after these is a reply."""
        if not self.speakers:
            return []
        reply = self.reply if self.reply != ALL else self.speakers[count % min(2, len(self.speakers))]
        other = next((one for one in self.speakers if one != reply), reply)
        return [other if (count - number) % 2 else reply for number in range(count)]

    # turns to words

    def _tokens(self, row: Mapping[str, Any]) -> dict[str, Any]:
        turns, most, tokenizer = row["source_texts"], self.text_options.max_words, self.target_tokenizer
        speakers = row["speakers"] or [""] * len(turns)
        found: dict[str, Any] = {"source": [], "shown": [], "sentence": []}
        begins, lengths, cut = list[int](), list[int](), False
        for number, (text, speaker) in enumerate(zip(turns, speakers, strict=True)):
            split, mark = tokenizer.split(text), self._mark(speaker)
            begins.append(len(found["source"]) + len(mark))
            lengths.append(len(split.forms[:most]) + 1)
            found["source"] += [*mark, *split.forms[:most], END_WORD]
            found["shown"] += [*mark, *split.shown[:most], END_WORD]
            found["sentence"] += [number] * (len(mark) + lengths[-1])
            cut = cut or len(split.forms) > lengths[-1] - 1
        replies = [number for number in row["replies"] if number < len(turns)]
        found |= {"replies": row["replies"], "begins": [begins[number] for number in replies]}
        if row.get("known") is not None:
            found |= self._known_words(row, begins, lengths, len(found["source"]))
        longest = max((lengths[number] for number in replies), default=0)
        return found | {"turns": len(turns), "longest_reply": longest, "first": row.get("first") or 0, "cut": cut}

    @staticmethod
    def _kind(name: str) -> pa.DataType:
        return pa.int64() if name in ("first", "turns", "longest_reply") else CopyEncoder._kind(name)

    def _mark(self, speaker: str) -> list[str]:
        """The words that name the speaker of a turn. Subwords have no word for a speaker."""
        if not speaker:
            return []
        return self.target_tokenizer.split(f"{speaker}:").forms if self.text_options.subwords else [f"<{speaker}>"]

    def _known_words(self, row: Mapping[str, Any], begins: list[int], lengths: list[int], size: int) -> dict[str, Any]:
        """The facts and links of a generated dialogue by the places of its words in the sequence of all turns."""

        def places(turn: int, word: int) -> list[int]:
            text = row["source_texts"][turn]
            words = [end for span in find(text, text.split()) for end in span]
            tokens = covering(words, self.target_tokenizer.spans(text))[word]
            return [begins[turn] + token for token in tokens if token < lengths[turn] - 1]

        facts, links = [0] * size, list[tuple[int, int]]()
        for one in (Known(*row["known"][at : at + 5]) for at in range(0, len(row["known"]), 5)):
            stating = places(one.turn, one.word)
            evidence = places(one.evidence, one.evidence_word) if one.evidence >= 0 else []
            links += [(s, t) for t in stating for s in evidence]
            for place in stating:
                facts[place] = one.distance
        return {"facts": facts, "aligned_source": [s for s, _ in links], "aligned_target": [t for _, t in links]}

    # ids to batches

    def fields(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        (ids, mask), sentence = (one.numpy() for one in parts["source"]), parts["sentence"].numpy()
        layout = _Layout.of(mask, sentence, parts["replies"].values, parts["replies"].lengths)
        extended, word_mask = layout.turns(ids, mask, sentence)
        size, own = len(self.vocabulary), _unknown_before(ids, layout, len(self.vocabulary))
        found: dict[str, Any] = {
            "turns": known_ids(extended, size),
            "extended_turns": extended,
            "word_mask": word_mask,
            "dialogue": torch.from_numpy(layout.dialogue),
            "turn": torch.from_numpy(layout.turn),
            "begin": BEGIN,
        }
        if layout.has_targets:
            begins = parts["begins"].values.astype(np.int64)
            copied, target_mask = layout.replies(ids, begins)
            copied = copied.where(copied < size + torch.from_numpy(own)[:, None], torch.full_like(copied, UNKNOWN))
            found |= {"copied": copied, "target": known_ids(copied, size), "target_mask": target_mask}
            if "facts" in parts:
                found["facts"] = layout.replies(parts["facts"].numpy(), begins)[0]
            if "aligned_source" in parts:
                found["alignment"] = layout.alignment(parts, sentence, begins, target_mask.shape[1])
        for name, words in (("unknown_words", own), ("source_texts", layout.turn)):
            if name in parts:
                pairs = zip(layout.dialogue.tolist(), words.tolist(), strict=True)
                found[name] = tuple(tuple(parts[name][d][:count]) for d, count in pairs)
        if "source_texts" in parts and layout.has_targets:
            pairs = zip(layout.dialogue.tolist(), layout.turn.tolist(), strict=True)
            found["target_texts"] = tuple((parts["source_texts"][d][number],) for d, number in pairs)
        return found

    def batch(self, parts: Mapping[str, Any], index: Tensor) -> DialogueBatch:
        """The replies of some dialogues. They are numbered in their split; those of inputs in their order."""
        lengths = parts["replies"].lengths
        first = parts["first"].numpy() if lengths.max(initial=0) > 1 or parts["first"].any() else index.numpy()
        return DialogueBatch(**self.fields(parts), index=torch.from_numpy(spread(first, lengths)))


@dataclass(frozen=True)
class _Layout:
    """Where the turns and the replies of D dialogues are in their sequences of words."""

    start: NDArray[np.int64]  # (D, M) the first word of each turn
    count: NDArray[np.int64]  # (D, M) the words of each turn, 0 where there is none
    dialogue: NDArray[np.int64]  # (B,)
    turn: NDArray[np.int64]  # (B,)

    @classmethod
    def of(
        cls, mask: NDArray[np.bool_], sentence: NDArray[np.int64], replies: NDArray[Any], number: NDArray[np.int64]
    ) -> _Layout:
        rows, turn = len(mask), replies.astype(np.int64)
        most = 1 + max(sentence.max(initial=0), turn.max(initial=0))
        cells = (np.arange(rows)[:, None] * most + sentence)[mask]
        count = np.bincount(cells, minlength=rows * most).reshape(rows, most)
        return cls(count.cumsum(1) - count, count, np.repeat(np.arange(rows), number), turn)

    @property
    def has_targets(self) -> bool:
        """Whether the replies have words."""
        return bool(len(self.turn)) and bool(self.count[self.dialogue, self.turn].all())

    def turns(self, ids: NDArray[np.int64], mask: NDArray[Any], sentence: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """The words (D, M, W) and their mask, without those of turns that no reply follows."""
        last = np.zeros(len(ids), np.int64)
        np.maximum.at(last, self.dialogue, self.turn)
        seen = np.arange(self.count.shape[1]) < last[:, None]
        count = np.where(seen, self.count, 0)[:, : max(1, last.max(initial=0))]
        word_mask = np.arange(max(1, count.max(initial=0))) < count[..., None]
        return gridded(ids[mask & (sentence < last[:, None])], word_mask), torch.from_numpy(word_mask)

    def replies(self, values: NDArray[np.int64], begins: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """The values (B, T) of the words of each reply, from its first word on, and their mask."""
        at = self.dialogue, self.turn
        length = self.start[at] + self.count[at] - begins
        mask = np.arange(length.max()) < length[:, None]
        rows = np.repeat(self.dialogue, length)
        return gridded(values[rows, spread(begins, length)], mask), torch.from_numpy(mask)

    def alignment(
        self, parts: Mapping[str, Any], sentence: NDArray[np.int64], begins: NDArray[np.int64], width: int
    ) -> Tensor:
        """(B, T, S) True where a word of a reply repeats one of its source. The words before a reply have the places
        that they have in the dialogue."""
        history = self.start[self.dialogue, self.turn]
        found = np.zeros((len(self.turn), width, max(1, history.max())), np.bool_)
        source, target = (parts[f"aligned_{side}"] for side in ("source", "target"))
        row = np.repeat(np.arange(len(target.lengths)), target.lengths)
        number = np.full(self.count.shape, -1)
        number[self.dialogue, self.turn] = np.arange(len(self.turn))
        reply = number[row, sentence[row, target.values]]
        known = reply >= 0
        found[reply[known], target.values[known] - begins[reply[known]], source.values[known]] = True
        return torch.from_numpy(found)


def _unknown_before(ids: NDArray[np.int64], layout: _Layout, size: int) -> NDArray[np.int64]:
    """(B,) the number of different unknown words before each reply."""
    most = np.maximum.accumulate(np.pad(ids, ((0, 0), (1, 0))), 1)
    return np.maximum(most[layout.dialogue, layout.start[layout.dialogue, layout.turn]] - size + 1, 0)
