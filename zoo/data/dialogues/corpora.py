"""Dialogues of your own, and published ones in the forms in which they are distributed."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Unpack

from zoo.arguments import Count
from zoo.data.corpus import Corpus, CorpusArguments
from zoo.data.dialogues.module import DialogueData
from zoo.data.dialogues.readers import KINDS, official_folders, read_dialogues
from zoo.data.dialogues.samples import small_talk
from zoo.data.readers import kind_of
from zoo.data.sources import Source, file_source, find_splits, sample_source

NOUN = "dialogues"
FOLDERS = {"train": ("train",), "val": ("dev", "validation", "valid", "val"), "test": ("test",)}


class DialogueCorpusArguments(CorpusArguments, total=False):
    """The arguments of every corpus of dialogues."""

    reply: str | None
    max_turns: Count | None


class Dialogues(Corpus, DialogueData):
    """Dialogues of your own, or the sample of a small world."""

    name = "dialogues"
    on_hub = False
    layout: ClassVar[str] = (
        "json lines (.jsonl) with turns and perhaps speakers, a .csv or .tsv with the columns dialogue, turn, "
        "speaker and text, or a .txt with one dialogue per line; or a folder of them called train, test and perhaps val"
    )
    speakers: ClassVar[tuple[str, str]] = ("user", "bot")  # Of the sample

    def __init__(self, **rest: Unpack[DialogueCorpusArguments]) -> None:
        super().__init__(**rest)
        if rest.get("reply") is None and self.source == "sample":
            self.reply = self.speakers[1]

    def open_sample(self) -> Source:
        return sample_source(small_talk.generate, self.sample, f"{NOUN} of a small world", speakers=list(self.speakers))

    def open_files(self, path: Path) -> Source | None:
        files = self.found(path)
        return file_source(path, files, read_dialogues, NOUN) if files else None

    def found(self, path: Path) -> Mapping[str, list[Path]]:
        """The files of each split at a path; none where they are missing."""
        if path.is_file():
            return {"train": [path]} if kind_of(path) in KINDS else {}
        return find_splits(path, KINDS)


class SchemaGuided(Dialogues):
    """Schema-Guided Dialogue (Rastogi et al. 2020): a user and a system that books, finds and plays things."""

    name = "schema_guided"
    layout = (
        "its folder with train, dev and test, each with dialogues_001.json and so on; or any file of data=dialogues"
    )
    speakers = ("USER", "SYSTEM")

    def found(self, path: Path) -> Mapping[str, list[Path]]:
        return official_folders(path, FOLDERS, "dialogues_*.json") or super().found(path)


class DailyDialog(Dialogues):
    """DailyDialog (Li et al. 2017): conversations of learners of English."""

    name = "dailydialog"
    layout = (
        "its folder with train, validation and test, each with dialogues_train.txt and so on; or dialogues_text.txt"
    )

    def found(self, path: Path) -> Mapping[str, list[Path]]:
        return official_folders(path, FOLDERS, "dialogues_[tv]*.txt") or super().found(path)


class MovieTriples(Dialogues):
    """MovieTriples (Serban et al. 2016): three turns of a film with tabs between them, names and numbers as tags."""

    name = "movie_triples"
    layout = (
        "its folder with Training_Shuffled_Dataset.txt, Validation_Shuffled_Dataset.txt and Test_Shuffled_Dataset.txt"
    )

    def found(self, path: Path) -> Mapping[str, list[Path]]:
        found = super().found(path)
        return {split: [file for file in files if "Labels" not in file.name] for split, files in found.items()}


class Ubuntu(Dialogues):
    """The Ubuntu Dialogue Corpus (Lowe et al. 2015) as Serban et al. 2017 prepared it: turns end with `__eot__`."""

    name = "ubuntu"
    layout = "its folder with raw_training_text.txt, raw_valid_text.txt and raw_test_text.txt"

    def found(self, path: Path) -> Mapping[str, list[Path]]:
        found = super().found(path)
        return {split: [file for file in files if "responses" not in file.name] for split, files in found.items()}
