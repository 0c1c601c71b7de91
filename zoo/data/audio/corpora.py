"""LibriSpeech, AN4 and Speech Commands, in the files in which they are distributed.

LibriSpeech: Panayotov, Chen, Povey and Khudanpur 2015, https://doi.org/10.1109/ICASSP.2015.7178964: read books at 16
kHz, 960 hours for training in three subsets, and about five hours each of clean and of other speech to validate and to
test.

AN4: the alphanumeric database of Carnegie Mellon University, 1991, http://www.speech.cs.cmu.edu/databases/an4: spelled
names and addresses at 16 kHz, 948 sounds for training and 130 for the test.

Speech Commands: Warden 2018, https://arxiv.org/abs/1804.03209: one of 35 words a second at 16 kHz, in the split of its
two lists.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Unpack

from zoo.data.audio.generated import SoundCorpus, SoundCorpusArguments, tone_source
from zoo.data.audio.sounds import SoundRow
from zoo.data.options import Options
from zoo.data.rows import BadRows, Lines, visible
from zoo.data.sources import SPLITS, Source, folder_identity, identity, path_source
from zoo.errors import DataError, or_nearest
from zoo.values import hold

NOUN = "sounds"
COMMANDS = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")
LINE = re.compile(r"(?:<s>)?(?P<text>[^<>()]*)(?:</s>)?\s*\((?P<name>[^()\s]+)\)\s*")
SUFFIXES = (".sph", ".wav", ".flac")


@dataclass(frozen=True)
class SubsetOptions(Options):
    """The folders of LibriSpeech in each split. A split without any is drawn from the training sounds."""

    group: ClassVar[str] = "subsets"

    train: tuple[str, ...] = ("train-clean-100",)
    val: tuple[str, ...] = ("dev-clean",)
    test: tuple[str, ...] = ("test-clean",)


class LibriSpeech(SoundCorpus):
    """Read books. `source` is `sample`, or the path of the folder LibriSpeech or of its parent."""

    name = "librispeech"
    layout = (
        "the folder LibriSpeech with train-clean-100/103/1240/103-1240-0000.flac, 103-1240.trans.txt and so on "
        "(https://www.openslr.org/12)"
    )

    def __init__(
        self, *, subsets: Mapping[str, Any] | SubsetOptions | None = None, **rest: Unpack[SoundCorpusArguments]
    ) -> None:
        """`subsets` names the folders of each split, see `SubsetOptions`."""
        super().__init__(**rest)
        self.subsets = SubsetOptions.of(subsets)

    def open_files(self, path: Path) -> Source | None:
        root = path / "LibriSpeech" if (path / "LibriSpeech").is_dir() else path
        there = [one.name for one in visible(root) if one.is_dir() and next(one.glob("*/*/*.trans.txt"), None)]
        if not there:
            return None
        chapters: dict[str, list[Path]] = {}
        for split in SPLITS:
            for name in getattr(self.subsets, split):
                if name not in there:
                    expected = f"data.subsets.{split} expects {name}; [] draws a split from the training sounds"
                    raise DataError(f"{root}: found {', '.join(there)}; {expected}")
                lists = sorted((root / name).glob("*/*/*.trans.txt"))
                chapters.setdefault(split, []).extend(file.parent for file in lists)
        splits = {split: partial(_books, root, some) for split, some in chapters.items()}
        stamps = {split: [folder_identity(one, "") for one in some] for split, some in chapters.items()}
        return path_source(path, NOUN, splits, chapters=stamps)


def _books(root: Path, chapters: Sequence[Path], bad: BadRows) -> Iterator[SoundRow]:
    """The sounds of some chapters. A line without a file is a bad row, and so is a file without a line."""
    for chapter in chapters:
        files = {file.stem: file for file in visible(chapter, "*.flac")}
        for list_of in visible(chapter, "*.trans.txt"):
            with Lines(list_of, encoding=bad.encoding) as lines:
                for place, line in lines.decoded(bad):
                    name, _, text = line.strip().partition(" ")
                    if name in files:
                        file = files.pop(name)
                        yield SoundRow(str(file.relative_to(root)), (file,), text, place)
                    elif name:
                        bad(place, "no file of this sound", f"expected {name}.flac beside the list")
        for file in files.values():
            bad(str(file), "no transcript", "expected a line in the .trans.txt beside it")


class An4(SoundCorpus):
    """Spelled names and addresses. `source` is `sample`, or the path of the folder an4 or of its parent."""

    name = "an4"
    layout = (
        "the folder an4 with etc/an4_train.transcription, an4_train.fileids, an4_test.transcription, an4_test.fileids, "
        f"and the sounds ({', '.join(SUFFIXES)}) below wav (http://www.speech.cs.cmu.edu/databases/an4)"
    )

    def open_files(self, path: Path) -> Source | None:
        root = path / "an4" if (path / "an4").is_dir() else path
        lists = {
            split: [root / "etc" / f"an4_{split}.{kind}" for kind in ("transcription", "fileids")]
            for split in ("train", "test")
        }
        if not all(file.is_file() for some in lists.values() for file in some):
            return None
        splits = {split: partial(_spelled, root, some[0], some[1]) for split, some in lists.items()}
        folders = sorted({file.parent for suffix in SUFFIXES for file in (root / "wav").rglob(f"*{suffix}")})
        stamps = [identity(file) for some in lists.values() for file in some]
        return path_source(path, NOUN, splits, lists=stamps, wav=[folder_identity(one, "") for one in folders])


def _spelled(root: Path, transcription: Path, fileids: Path, bad: BadRows) -> Iterator[SoundRow]:
    with Lines(fileids, encoding=bad.encoding) as lines:
        ids = {line.strip().rpartition("/")[2]: line.strip() for _, line in lines.decoded(bad)}
    with Lines(transcription, encoding=bad.encoding) as lines:
        for place, line in lines.decoded(bad):
            found = LINE.fullmatch(line)
            if not line.strip():
                continue
            if found is None:
                bad(place, "not a transcript", "expected <s> WORDS </s> (NAME)")
            elif (name := found["name"]) not in ids:
                bad(place, "no file of this sound", f"expected a line with {name} in {fileids.name}")
            else:
                files = [root / "wav" / f"{ids[name]}{suffix}" for suffix in SUFFIXES]
                file = next(filter(Path.is_file, files), None)
                if file is None:
                    bad(place, "no file of this sound", f"expected {files[0]}, or {' or '.join(SUFFIXES[1:])}")
                else:
                    yield SoundRow(ids[name], (file,), found["text"], place)


class SpeechCommands(SoundCorpus):
    """One word each. `source` is `sample`, or the path of the folder with a folder for each word."""

    name = "speech_commands"
    layout = (
        "the folder with validation_list.txt, testing_list.txt, and a folder of .wav for each word "
        "(https://arxiv.org/abs/1804.03209)"
    )

    def __init__(self, *, words: Sequence[str] | None = None, **rest: Unpack[SoundCorpusArguments]) -> None:
        """`words` are the words that are read; None: all."""
        hold("data.words", words, list[str] | None)
        super().__init__(**rest)
        self.words = None if words is None else list(words)

    def open_sample(self) -> Source:
        return tone_source(self.sample, self.spectrogram.rate, self.words or COMMANDS, (1, 1))

    def open_files(self, path: Path) -> Source | None:
        lists = {"val": path / "validation_list.txt", "test": path / "testing_list.txt"}
        if not all(file.is_file() for file in lists.values()):
            return None
        folders = [one for one in visible(path) if one.is_dir() and not one.name.startswith("_")]
        there = [one.name for one in folders]
        for word in self.words or ():
            if word not in there:
                raise DataError(f"{path}: no folder {word!r} (data.words){or_nearest(word, there)}")
        folders = [one for one in folders if self.words is None or one.name in self.words]
        splits = {split: partial(_commands, folders, lists, split) for split in SPLITS}
        stamps = [folder_identity(one, ".wav") for one in folders]
        return path_source(path, NOUN, splits, lists=[*map(identity, lists.values())], words=stamps)


def _commands(folders: Sequence[Path], lists: Mapping[str, Path], split: str, bad: BadRows) -> Iterator[SoundRow]:
    """The sounds that a list names, or for training those that none names. A name without a file is a bad row."""
    listed: dict[str, tuple[str, str]] = {}
    for name, file in lists.items():
        with Lines(file, encoding=bad.encoding) as lines:
            listed |= {line.strip(): (name, place) for place, line in lines.decoded(bad) if line.strip()}
    for folder in folders:
        for file in visible(folder, "*.wav"):
            name = f"{folder.name}/{file.name}"
            if listed.pop(name, ("train", ""))[0] == split:
                yield SoundRow(name, (file,), folder.name, str(folder))
        for name in [one for one in listed if one.startswith(f"{folder.name}/") and listed[one][0] == split]:
            bad(listed[name][1], "no file of this sound", f"expected {folder.parent / name}")
