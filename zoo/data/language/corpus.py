"""The base of published texts: where their splits are, on the hub and as official files."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Unpack

from zoo.data.corpus import Corpus
from zoo.data.language.encoding import LanguageTextOptions
from zoo.data.language.module import LanguageArguments, LanguageData
from zoo.data.language.reading import decoded, raw, unzipped
from zoo.data.language.samples.grammar import Grammar, Line
from zoo.data.options import SampleOptions
from zoo.data.sources import HUB_SPLITS, Source, hub_source, identity, path_source, sample_source
from zoo.errors import DataError

NOUN = "tokens"


class LanguageCorpusArguments(LanguageArguments, total=False):
    """The arguments of every published text."""

    source: str | None
    sample: Mapping[str, Any] | SampleOptions | None


class LanguageCorpus(Corpus, LanguageData):
    """A published text from a sample, the hub or its official files."""

    files: ClassVar[Mapping[str, Sequence[str]]]
    """The possible names of the file of each split, relative to the path. A text without splits has `train` alone."""
    member: ClassVar[str | None] = None
    """The file inside a .zip."""
    hub: ClassVar[str | None] = None
    """Repository on the Hugging Face hub, with a column `text`."""
    configuration: ClassVar[str] = ""
    """The configuration of the repository."""

    def __init__(self, **rest: Unpack[LanguageCorpusArguments]) -> None:
        super().__init__(**rest)

    def open_sample(self) -> Source:
        return sample(self.sample)

    def open_hub(self) -> Source:
        if self.hub is None:
            return super().open_hub()

        def read(record: Mapping[str, Any], place: str, bad: Any) -> Iterator[str]:
            yield record["text"].removesuffix("\n") + "\n"

        return hub_source(self.hub, HUB_SPLITS, ("text",), read, NOUN, name=self.configuration)

    def open_files(self, path: Path) -> Source | None:
        if path.is_file():
            return from_files(path, {"train": [path]}, self.text, self.loader.encoding, member=self.member)
        found: dict[str, list[Path]] = {}
        for split, names in self.files.items():
            there = [file for name in names if (file := path / name).is_file()]
            if not there and found:
                raise DataError(f"{path / names[0]}: file not found; expected: {self.layout}")
            if not there:
                return None
            found[split] = there[:1]
        return from_files(path, found, self.text, self.loader.encoding, member=self.member)


def sample(options: SampleOptions) -> Source:
    """Lines of the generated language."""
    return sample_source(generated_lines, options, f"{NOUN} of a generated language")


def generated_lines(count: int, *, seed: int) -> Iterator[Line]:
    """The first `count` lines of the generated language."""
    return iter(Grammar().text(count, seed))


def from_files(
    path: Path,
    files: Mapping[str, Sequence[Path]],
    options: LanguageTextOptions,
    encoding: str,
    *,
    member: str | None = None,
) -> Source:
    """The texts of files, in sequence in each split. A .zip has one in `member`. Bytes are read as they are."""

    def pieces(file: Path) -> Iterator[Any]:
        if file.suffix == ".zip":
            return unzipped(file, member or file.stem)
        return raw(file) if options.unit == "bytes" else decoded(file, encoding)

    splits = {split: lambda bad, parts=parts: chain.from_iterable(map(pieces, parts)) for split, parts in files.items()}
    stamps = {split: [identity(file) for file in parts] for split, parts in files.items()}
    return path_source(path, NOUN, splits, files=stamps)
