"""A family with every kind of part, as small as it can be: notes with a subject, stars for their words, and a mood."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from zoo.data.corpus import Corpus, OwnFiles
from zoo.data.notes import key
from zoo.data.order import Nouns
from zoo.data.parts import Along, Class, Number, Numbers, Shown, Stored, Words
from zoo.data.sources import Source
from zoo.data.table_data import TableData
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.options import TokenOptions

WORDS = pa.list_(pa.string())


@dataclass(frozen=True)
class NoteOptions(TokenOptions):
    """Words between blanks."""

    tokenizer: str = "whitespace"  # type: ignore[assignment]


class NoteEncoder(TableEncoder):
    options = NoteOptions
    raw = pa.schema({"text": pa.string(), "about": pa.string(), "mood": pa.string(), "stars": pa.int32()})
    given = ("text", "about")
    parts = (
        Class("mood"),
        Words("about"),
        Words("words", levels=2, lengths="words", outer="sentences"),
        Along("long", "words"),
        Number("stars", kind=np.float32),
        Numbers("odd", training=False),
        Shown("text"),
        Stored("letters"),
    )
    texts = "text"

    def typed(self, one: str) -> dict[str, Any]:
        return {"text": one, "about": one.split()[0]}

    def display(self, one: str) -> str:
        return one

    def tokens(self, table: pa.Table) -> pa.Table:
        texts, split = table["text"].to_pylist(), self.tokenizers["words"].split
        words = [[split(sentence).forms for sentence in text.split(" . ")] for text in texts]
        columns = {name: table[name] for name in ("mood", "stars") if name in table.column_names}
        flags = [[[len(word) > 3 for word in sentence] for sentence in note] for note in words]
        odd = [[n for n, word in enumerate(text.split()) if len(word) % 2] for text in texts]
        return pa.table(
            {
                **columns,
                "about": pa.array([split(one).forms for one in table["about"].to_pylist()], WORDS),
                "words": pa.array(words, pa.list_(WORDS)),
                "long": pa.array(flags, pa.list_(pa.list_(pa.bool_()))),
                "odd": pa.array(odd, pa.list_(pa.int32())),
                "text": table["text"],
                "letters": pa.array(map(len, texts)),
                "key": pa.array(map(key, texts)),
            }
        )


NOTES = [
    ("the cat sat . a dog ran", "cat", "calm", 4),
    ("birds sing", "birds", "glad", 5),
    ("the dog barks at the cat . it runs", "dog", "wild", 1),
    ("rain", "rain", "calm", 3),
    ("the sun . the moon . the stars", "sky", "glad", 5),
    ("a cat", "cat", "calm", 2),
]


class Notes(Corpus, TableData):
    """`NOTES` as a corpus; a path is a folder with a file called notes.txt."""

    tasks = ("noting",)
    name = "notes"
    nouns = Nouns("notes", "words")
    layout = "a folder with notes.txt"
    encoding = NoteEncoder
    length_parts = ("words",)
    rows: Any = NOTES

    def open_sample(self) -> Source:
        splits = {"train": lambda bad: iter(self.rows), "val": lambda bad: iter(self.rows[:3])}
        return Source("the notes", "notes: {count}", {"rows": list(self.rows)}, splits)

    def open_files(self, path: Any) -> Source | None:
        return self.open_sample() if (path / "notes.txt").is_file() else None

    def examples(self, rows: Any, source: Source, reading: Any) -> Any:
        for number, (text, about, mood, stars) in enumerate(rows, 1):
            if stars == 0:
                reading.bad(f"note {number}", "no stars")
            elif reading.knows(mood, f"note {number}", "notes"):
                yield {"text": text, "about": about, "mood": mood, "stars": stars}

    def finish(self, encoder: Any, source: Source, splits: Any) -> None:
        encoder.classes = ["calm", "glad", "wild"]

    def left_out(self, train: Any, lengths: Any) -> dict[str, Any]:
        return {"longer than 6 words": lengths["about"] > 6}

    def set_spec(self, about: Mapping[str, Any]) -> None:
        self.spec = None  # type: ignore[assignment]  # no network reads notes


class OwnNotes(OwnFiles, Notes):
    """Notes of one's own."""
