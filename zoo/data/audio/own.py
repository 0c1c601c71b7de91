"""Sounds with transcripts of your own: a table of files, or files of text beside those of sound: `data=audio`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Required, Unpack

from zoo.data.audio.decoding import SUFFIXES
from zoo.data.audio.module import AudioArguments, AudioData
from zoo.data.audio.sounds import SoundRow
from zoo.data.corpus import OwnFiles
from zoo.data.listed import IgnoredRows, columns_and_splits, tables_of
from zoo.data.options import ColumnName, Options
from zoo.data.readers import TABLES, read_columns
from zoo.data.rows import BadRows, decode_file, reading, visible
from zoo.data.sources import SPLITS, ReadOnce, Source, folder_identity, identity, path_source, split_of
from zoo.errors import or_nearest

NOUN = "sounds"
LAYOUT = (
    f"a table ({', '.join(TABLES)}) with a column of sound files and one of transcripts, or its folder, or a folder "
    "with NAME.wav (.flac, .ogg, .mp3, ...) and NAME.txt of each sound, perhaps in folders called train, test and val"
)
HINT = " (the keys are data.columns.file, data.columns.text and data.columns.split)"


@dataclass(frozen=True)
class SoundColumns(Options):
    """Which columns of a table hold sounds of your own."""

    group: ClassVar[str] = "columns"

    file: ColumnName = "file"
    """The file of a sound, as seen from the folder of the table."""
    text: ColumnName = "text"
    """The transcript."""
    split: ColumnName | None = None
    """train, val or test; None: the column `split`, if it exists, else splits are drawn."""


class OwnSoundArguments(AudioArguments, total=False):
    """The arguments of `OwnSounds` besides `columns`."""

    path: Required[str]


class OwnSounds(OwnFiles, AudioData):
    """Sounds from `path`. Splits that neither a column nor a name of a table or folder gives are drawn by
    `split.seed`."""

    name = "audio"
    layout = LAYOUT

    def __init__(
        self, *, columns: Mapping[str, Any] | SoundColumns | None = None, **rest: Unpack[OwnSoundArguments]
    ) -> None:
        """`columns` names the columns of the table."""
        super().__init__(**rest)
        self.columns = SoundColumns.of(columns)

    def open_files(self, path: Path) -> Source | None:
        tables = tables_of(path, LAYOUT)
        return self._listed(path, tables) if tables else _beside(path) if path.is_dir() else None

    def _listed(self, path: Path, tables: Mapping[str, Sequence[Path]]) -> Source:
        names, encoding = (self.columns.file, self.columns.text), self.loader.encoding
        columns, splits = columns_and_splits(tables, names, self.columns.split, HINT, encoding)
        ignored, files = IgnoredRows(encoding=encoding), set[Path]()
        for table in columns:
            rows = read_columns(table, (self.columns.file,), HINT, ignored)
            files.update(table.parent / str(name or "") for _, name in rows)
        facts = {
            "columns": [*columns.values()],
            "tables": {one: [*map(identity, some)] for one, some in tables.items()},
        }
        read = ReadOnce(partial(_rows, tables, columns)).splits(splits)
        return path_source(path, NOUN, read, **facts, sounds=_identities(files))


def _identities(files: Iterable[Path]) -> list[list[Any]]:
    """Short values that show whether some files, or others of their kinds beside them, have changed."""
    kinds = sorted({(file.parent, file.suffix) for file in files})
    return [folder_identity(folder, suffix) for folder, suffix in kinds if folder.is_dir()]


def _split(value: Any) -> str | None:
    return split_of(str(value or "").strip())


def _rows(
    tables: Mapping[str, Sequence[Path]], columns: Mapping[Path, tuple[str, ...]], bad: BadRows
) -> Iterator[tuple[str, SoundRow]]:
    """(split, row) of each row of the tables."""
    for of_table, some in tables.items():
        for table in some:
            for place, name, text, *given in read_columns(table, columns[table], HINT, bad):
                split = _split(given[0]) if given else of_table
                file = table.parent / str(name or "")
                if split is None:
                    bad(place, "unknown split", f"{str(given[0])!r}; expected train, val or test")
                elif not name or not isinstance(text, str | None):
                    bad(place, "no sound" if not name else "no text", f"found {name!r} and {str(text)[:60]!r}")
                elif not file.exists():
                    near = or_nearest(file.name, (one.name for one in visible(file.parent)))
                    bad(place, "missing sound", f"no file {file}{near}")
                else:
                    yield split, SoundRow(str(name), (file,), text or "", place)


def _beside(path: Path) -> Source | None:
    """Sounds with a text beside each, in folders called train, val and test, or all in one. None for a folder without
    sounds."""
    folders: dict[str, Path] = {}
    for folder in [path, *filter(Path.is_dir, visible(path))]:
        split = "train" if folder == path else split_of(folder.name)
        if split and split not in folders and _sounds(folder):
            folders[split] = folder
    if "train" not in folders:
        return None
    splits = {split: partial(_pairs, path, folders[split]) for split in SPLITS if split in folders}
    stamps = {one: _identities([*_sounds(folders[one]), folders[one] / "a.txt"]) for one in splits}
    return path_source(path, NOUN, splits, folders=stamps)


def _sounds(folder: Path) -> list[Path]:
    return [file for file in visible(folder) if file.suffix.lower() in SUFFIXES]


def _pairs(root: Path, folder: Path, bad: BadRows) -> Iterator[SoundRow]:
    for file in _sounds(folder):
        beside = file.with_suffix(".txt")
        if not beside.is_file():
            bad(str(file), "no transcript", f"expected {beside.name} beside it")
            continue
        with reading(beside):
            text = decode_file(beside, beside.read_bytes(), bad)
        if text is not None:
            yield SoundRow(str(file.relative_to(root)), (file,), text, str(beside))
