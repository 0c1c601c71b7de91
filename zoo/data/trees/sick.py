"""SICK, sentences involving compositional knowledge: pairs of sentences with a relatedness score from 1 to 5.

Marelli et al. 2014, https://aclanthology.org/L14-1314. There are two different sets: SemEval's has
4,500, 500 and 4,927 pairs, that of the Hugging Face hub 4,439, 495 and 4,906. Tai et al. (2015) report on the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Unpack, get_args

from zoo.data.cache import write_new
from zoo.data.corpus import Corpus, CorpusArguments
from zoo.data.rows import BadRows, visible
from zoo.data.sources import SPLITS, ReadOnce, Source, identity, sample_source
from zoo.data.trees.module import TreeArguments, TreePairData
from zoo.data.trees.options import BINARISED, SPACY, builds
from zoo.data.trees.samples import relatedness
from zoo.data.trees.sick_files import Parse, read_parsed, read_sick, write_parsed
from zoo.data.trees.tree import Pair
from zoo.errors import ConfigError, one_of

KNOWN = {
    4927: "as SemEval's, on which Tai et al. (2015) report",
    4906: "as on the Hugging Face hub, 21 fewer than SemEval's",
}
"""Number of test pairs -> name of the set."""
PARSED = (
    "folders train, dev and test with a.toks, a.parents, b.toks, b.parents and sim.txt, or a.conllu, b.conllu, sim.txt"
)
LAYOUT = (
    f"{PARSED}; or, with data.trees=balanced or another way that builds trees, SICK.txt, whose column SemEval_set "
    "names the splits, or a folder with it or with SICK_train.txt, SICK_trial.txt and SICK_test_annotated.txt"
)
FOLDERS = {"train": ("train",), "val": ("dev", "val", "trial"), "test": ("test",)}
SEMEVAL = {
    "train": ("SICK_train.txt",),
    "val": ("SICK_trial.txt",),
    "test": ("SICK_test_annotated.txt", "SICK_test.txt"),
}
"""Candidate file names of each split; the first that exists is read. SICK_test.txt, which has no scores, is refused."""


class SICKArguments(CorpusArguments, TreeArguments, total=False):
    """The arguments of `SICK` besides `parse`."""


class SICK(Corpus, TreePairData):
    """Pairs of sentences with their relatedness. `parse` chooses dependency or constituency trees, from files, from the
    sample, or built on the words."""

    name = "sick"
    layout = LAYOUT
    on_hub = False

    def __init__(self, *, parse: Parse = "dependency", **rest: Unpack[SICKArguments]) -> None:
        """`parse` is described above."""
        super().__init__(**rest)
        self.parse: Parse = one_of("data.parse", parse, get_args(Parse))  # type: ignore[assignment]
        self.inside = parse == "dependency" and self.trees != BINARISED  # binarised, all words are at leaves

    @classmethod
    def check_model(cls, options: Mapping[str, Any], model: Any) -> None:
        """Raise ConfigError where dependency trees, which have a word at every node, meet a network of two children."""
        if getattr(model, "binary_only", False) and options["parse"] == "dependency" and options["trees"] == "given":
            raise ConfigError(
                f"data.parse=dependency: these trees have a word at every node, and {model.__name__} makes a state "
                "of two others; set data.parse=constituency, or use model=tree_lstm"
            )

    def _facts(self, source: Source) -> dict[str, Any]:
        return super()._facts(source) | {"parse": self.parse}

    def write(self, folder: Path) -> list[Path]:
        if builds(self.trees):
            raise ConfigError(f"--write: the files have the trees of the data; leave data.trees={self.trees} out")
        bad, texts = self.bad_rows(), dict[str, list[str]]()
        for split, read in self.open_source().splits.items():
            texts |= write_parsed(FOLDERS[split][0], list(read(bad)), self.parse)
        return write_new(folder, texts)

    def open_sample(self) -> Source:
        return sample_source(relatedness.generate, self.sample, "pairs", parse=self.parse)

    def open_files(self, path: Path) -> Source | None:
        if folders := _found(path, FOLDERS, Path.is_dir):
            inside = [file for folder in folders.values() for file in visible(folder) if file.is_file()]
            return Source(
                place=str(path),
                description=f"path: {path}, {self.parse} parses, {{count}} pairs",
                identity={"files": [identity(file) for file in inside]},
                splits={split: partial(read_parsed, folder, parse=self.parse) for split, folder in folders.items()},
            )
        whole = path if path.is_file() else path / "SICK.txt"
        files = {"": whole} if whole.is_file() else _found(path, SEMEVAL, Path.is_file)
        if not files:
            return None
        if not builds(self.trees):
            raise ConfigError(
                f"{path}: these sentences have no trees, and data.trees={self.trees} reads given trees: give {PARSED}, "
                f"or set data.trees=balanced, left, right or {SPACY}MODEL, which builds some on the words"
            )

        def read(bad: BadRows) -> Iterator[tuple[str, Pair]]:
            for split, file in files.items():
                yield from read_sick(file, split, self.builder.words, bad)

        return Source(
            place=str(path),
            description=f"path: {path}, {{count}} pairs",
            identity={"files": [identity(file) for file in files.values()]},
            splits=ReadOnce(read).splits(SPLITS if whole.is_file() else list(files)),
        )

    def _write(self, folder: Path, source: Source) -> dict[str, Any]:
        about = super()._write(folder, source)
        pairs = about["splits"]["test"]["pairs"]
        if self.source != "sample" and pairs in KNOWN:  # for the run's table and result.json
            about["source"] += f", {pairs:,} to test on {KNOWN[pairs]}"
        return about

    def contents(self, about: Mapping[str, Any]) -> list[str]:
        found, counts = super().contents(about), {name: part["pairs"] for name, part in about["splits"].items()}
        if self.source != "sample":
            sizes = ", ".join(f"{count:,} in {name}" for name, count in counts.items())
            found.append(f"pairs: {sizes}; the test set is {KNOWN.get(counts['test'], 'of no known size')}")
        return found


def _found(path: Path, names: Mapping[str, Sequence[str]], of_kind: Callable[[Path], bool]) -> dict[str, Path]:
    """The files or folders of each split; empty without training data."""
    found: dict[str, Path] = {}
    for split, called in names.items():
        for part in (path / name for name in called):
            if of_kind(part):
                found.setdefault(split, part)
    return found if "train" in found else {}
