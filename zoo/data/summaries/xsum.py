"""XSum: articles of the BBC, and their first sentence, which says what they are about.

Narayan et al. 2018, https://aclanthology.org/D18-1206: 204,045 articles for training, 11,332 to validate and 11,334 for
the test. The split is the official file XSum-TRAINING-DEV-TEST-SPLIT-90-5-5.json.
"""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from zoo.data.readers import TABLES
from zoo.data.rows import reading
from zoo.data.sources import (
    HUB_SPLITS,
    Source,
    file_source,
    find_splits,
    folder_identity,
    hub_source,
    identity,
    path_source,
)
from zoo.data.summaries.module import SummaryCorpus
from zoo.data.summaries.readers import (
    NOUN,
    ReadFile,
    first_with,
    read_listed,
    read_pair,
    read_record,
    read_sections,
    read_table,
)
from zoo.errors import DataError

HUB, HUB_REVISION = "EdinburghNLP/xsum", "refs/convert/parquet"
COLUMNS = ("document", "summary", "id")
HINT = f" (expected: the files of {HUB} on the Hugging Face hub, which data.source=hub downloads)"
SPLIT_FILE = "XSum-TRAINING-DEV-TEST-SPLIT-90-5-5.json"
DOCUMENTS = ("document", "xsum-preprocessed/document")  # Each beside a folder `summary`
SECTIONS = {"bbc-summary-data": ".summary", "xsum-extracts-from-downloads": ".data"}


class XSum(SummaryCorpus):
    """Articles and their first sentences. A path is a folder with the official split file and with bbc-summary-data,
    xsum-extracts-from-downloads or xsum-preprocessed, or the files of the hub."""

    name = "xsum"
    layout = (
        f"a folder with {SPLIT_FILE} and bbc-summary-data/*.summary, xsum-extracts-from-downloads/*.data, or "
        "xsum-preprocessed/document/*.document and xsum-preprocessed/summary/*.summary"
    )

    def open_hub(self) -> Source:
        read = partial(read_record, columns=COLUMNS)
        return hub_source(HUB, HUB_SPLITS, COLUMNS, read, NOUN, revision=HUB_REVISION)

    def open_files(self, path: Path) -> Source | None:
        if path.is_file():
            return None
        found = _articles(path)
        lists = next((one for one in (path / SPLIT_FILE, path.parent / SPLIT_FILE) if one.is_file()), None)
        if lists is None and (files := find_splits(path, TABLES)):
            return file_source(path, files, lambda file, bad: read_table(file, COLUMNS, HINT, bad), NOUN)
        if found is None or lists is None:
            return None
        folder, suffix, read = found
        names = _names(lists)
        splits = {
            split: partial(read_listed, read, partial(_places, lists, names[other]), partial(_files, folder, suffix))
            for split, other in HUB_SPLITS.items()
            if other in names
        }
        return path_source(path, NOUN, splits, split=identity(lists), folder=folder_identity(folder, suffix))


def _articles(path: Path) -> tuple[Path, str, ReadFile] | None:
    """The folder of the articles, the suffix of its files, and their reader."""
    if (folder := first_with(path, DOCUMENTS, "*.document")) is not None:
        return folder, ".document", partial(read_pair, summary=_summary_file)
    for name, suffix in SECTIONS.items():
        if (folder := first_with(path, (name, "."), f"*{suffix}")) is not None:
            return folder, suffix, read_sections
    return None


def _summary_file(document: Path) -> Path:
    return document.parent.parent / "summary" / f"{document.stem}.summary"


def _names(lists: Path) -> dict[str, list[str]]:
    """The names of the articles by split. Raises DataError for a file that is not the official one."""
    with reading(lists):
        text = lists.read_text("utf-8")
    try:
        names: dict[str, list[str]] = json.loads(text)
        return {split: list(map(str, names[split])) for split in names if split in HUB_SPLITS.values()}
    except (ValueError, TypeError, AttributeError) as error:
        raise DataError(f"{lists}: expected lists of names under train, validation and test ({error})") from error


def _places(lists: Path, names: list[str]) -> Iterator[tuple[str, str]]:
    return ((f"{lists}, article {name}", name) for name in names)


def _files(folder: Path, suffix: str) -> Mapping[str, Path]:
    return {file.name.removesuffix(suffix): file for file in folder.glob(f"*{suffix}")}
