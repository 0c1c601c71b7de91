"""MSVD and MSR-VTT: captions of films from the web, in the files in which they are distributed.

MSVD, or Youtube2Text: Chen and Dolan 2011, https://aclanthology.org/P11-1020: 1,970 clips with about 41 captions each.
The usual split takes the clips in the order of their numbers: 1,200 for training, 100 for validation, 670 for the test
(Venugopalan et al. 2015, Yao et al. 2015).

MSR-VTT: Xu, Mei, Yao and Rui 2016, https://doi.org/10.1109/CVPR.2016.571: 10,000 clips with 20 captions each, 6,513 for
training, 497 for validation and 2,990 for the test, as the field `split` states.
"""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Unpack

from zoo.data.captions.files import captioned_files, folders
from zoo.data.captions.readers import CaptionedFile, entries, not_text, read_json, records
from zoo.data.clips.module import ClipArguments, ClipData
from zoo.data.corpus import Corpus, CorpusArguments
from zoo.data.rows import BadRows, Lines, guarded, read_lines
from zoo.data.sources import SPLITS, Source, identity, split_of
from zoo.errors import DataError, alternatives

MSVD_SIZES = {"train": 1200, "val": 100}  # The test has the others
MAPPING = "youtube_mapping.txt"  # Numbers of the clips of MSVD: lines such as `-4wsuPCjDBc_5_15 vid1`
LINE = re.compile(r"(?P<clip>\S+_\d+_\d+)\s+(?P<caption>.*)")
MSRVTT_LAYOUT = (
    "{'videos': [{'video_id': ..., 'split': ...}, ...], 'sentences': [{'video_id': ..., 'caption': ...}, ...]}"
)


class FilmArguments(ClipArguments, CorpusArguments, total=False):
    """The arguments of every corpus of films besides `clips`."""


class FilmCorpus(Corpus, ClipData):
    """Captions of films. `source` is `sample`, or the path of the file of captions or of a folder with it and with the
    films."""

    texts: ClassVar[tuple[str, ...]]
    """Names of files with captions, in order of preference; case is ignored. Those with the same end are read together:
    train_val_videodatainfo.json and test_videodatainfo.json."""
    on_hub = False

    def __init__(self, *, clips: str | None = None, **rest: Unpack[FilmArguments]) -> None:
        """`clips` is the folder of the films, or its parent; None: the folder of the captions."""
        super().__init__(**rest)
        self.clips = clips

    @property
    def layout(self) -> str:  # type: ignore[override]
        """The files that are read, for messages."""
        return f"{' or '.join(self.texts)}, or a folder with it, and the films beside it or in data.clips"

    def open_sample(self) -> Source:
        return self.moving_shapes(self.sample)

    def open_files(self, path: Path) -> Source | None:
        inside = [path] if path.is_file() else [file for folder in folders(path) for file in sorted(folder.iterdir())]
        named = {file.name.lower(): file for file in reversed(inside)}
        found = [named[name.lower()] for name in self.texts if name.lower() in named]
        if not found and path.is_file():
            found = [path]
        if not found:
            return None
        read, texts = self.reader(found)
        facts = {"texts": [*map(identity, texts)]}
        return captioned_files(
            path, texts, read, SPLITS, self.picture, facts, images=self.clips, noun="clips", medium=self.medium
        )

    @abstractmethod
    def reader(self, found: Sequence[Path]) -> tuple[Callable[[BadRows], Iterator[CaptionedFile]], Sequence[Path]]:
        """The reader of the captions, and the files that it reads, of those with the right names."""


class Msvd(FilmCorpus):
    """`AllVideoDescriptions.txt`, and the folder `YouTubeClips` of .avi files."""

    name = "msvd"
    texts = ("AllVideoDescriptions.txt",)

    def reader(self, found: Sequence[Path]) -> tuple[Callable[[BadRows], Iterator[CaptionedFile]], Sequence[Path]]:
        text = found[0]
        mapping = text.with_name(MAPPING)
        texts = [text, *[mapping] * mapping.is_file()]
        return partial(read_msvd, text, mapping if mapping.is_file() else None), texts


class Msrvtt(FilmCorpus):
    """`videodatainfo.json` of all splits, or `train_val_videodatainfo.json` and `test_videodatainfo.json`. The films
    are called video0.mp4 and so on."""

    name = "msrvtt"
    texts = (
        "videodatainfo.json",
        "MSRVTT_data.json",
        "train_val_videodatainfo.json",
        "test_videodatainfo.json",
        "videodatainfo_2017.json",
    )

    def reader(self, found: Sequence[Path]) -> tuple[Callable[[BadRows], Iterator[CaptionedFile]], Sequence[Path]]:
        parts = [file for file in found if file.name.lower().startswith(("train", "test"))] or found[:1]
        whole = [file for file in found if file not in parts]
        texts = list(whole[:1] or parts)

        def read(bad: BadRows) -> Iterator[CaptionedFile]:
            for text in texts:
                yield from read_msrvtt(text, bad)

        return read, texts


@guarded
def read_msvd(path: Path, mapping: Path | None, bad: BadRows) -> Iterator[CaptionedFile]:
    """Reads lines of the name of a clip, a blank and a caption; lines that begin with # are comments. The clips are in
    the order of `mapping`, or else of their first lines, which decides the splits."""
    order = _numbers(mapping) if mapping else {}
    captions: dict[str, tuple[str, list[str]]] = {}
    with Lines(path, encoding=bad.encoding) as lines:
        for place, line in lines.decoded(bad):
            if not line.strip() or line.startswith("#"):
                continue
            if found := LINE.fullmatch(line.strip()):
                captions.setdefault(found["clip"], (place, []))[1].append(found["caption"])
            else:
                bad(place, "not as expected", f"found {line[:60]!r}, expected NAME_START_END and a caption")
    known = sorted(captions, key=lambda clip: order.get(clip, len(order)))
    ends = [MSVD_SIZES["train"], sum(MSVD_SIZES.values())]
    if len(known) <= ends[1]:
        raise DataError(f"{path}: found captions of {len(known):,} clips, expected 1,970: is the file whole?")
    for number, clip in enumerate(known):
        place, some = captions[clip]
        split = SPLITS[sum(number >= end for end in ends)]
        yield CaptionedFile(f"{clip}.avi", tuple(some), place, split)


def _numbers(mapping: Path) -> Mapping[str, int]:
    pairs = (line.split() for line in read_lines(mapping) if line.strip())
    return {clip: int(number.removeprefix("vid")) for clip, number in pairs}


@guarded
def read_msrvtt(path: Path, bad: BadRows) -> Iterator[CaptionedFile]:
    """Reads one of the json files, in the order of its clips."""
    found, known = read_json(path, MSRVTT_LAYOUT, bad), dict[str, tuple[str, str, list[str]]]()
    videos, sentences = (entries(found, name, path, MSRVTT_LAYOUT) for name in ("videos", "sentences"))

    def about(video: Any) -> tuple[Any, Any]:
        return video["video_id"], video["split"]

    for place, (name, given) in records(videos, "video", about, path, MSRVTT_LAYOUT, bad):
        split = split_of(given.replace("validate", "val")) if isinstance(given, str) else None
        if problem := not_text([name]):
            bad(place, "no text", problem)
        elif split is None:
            bad(place, "unknown split", f"found {given!r}, expected {alternatives(['train', 'validate', 'test'])}")
        else:
            known[name] = split, f"{place} ({name})", []
    of_clip = records(sentences, "sentence", lambda one: (one["video_id"], one["caption"]), path, MSRVTT_LAYOUT, bad)
    for place, (name, caption) in of_clip:
        if name not in known:
            bad(place, "unknown clip", f"video_id {name!r} is not that of any of {len(known):,} videos")
        elif problem := not_text([caption]):
            bad(place, "no text", problem)
        else:
            known[name][2].append(caption)
    for name, (split, place, some) in known.items():
        yield CaptionedFile(f"{name}.mp4", tuple(some), place, split)
