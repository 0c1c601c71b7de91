"""CNN/Daily Mail: news with the highlights that the editors wrote.

Hermann et al. 2015, https://arxiv.org/abs/1506.03340; Nallapati et al. 2016, https://aclanthology.org/K16-1028; the
split of See et al. 2017, https://arxiv.org/abs/1704.04368: 287,226 articles for training, 13,368 to validate and 11,490
for the test. The names are not anonymous. Some stories have no article, so that the official files need
`data.loader.on_bad_row=skip`.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import sha1
from pathlib import Path

from zoo.data.readers import TABLES
from zoo.data.rows import read_lines
from zoo.data.sources import (
    HUB_SPLITS,
    Source,
    file_source,
    find_splits,
    folder_identity,
    hub_source,
    identity,
    path_source,
    split_of,
)
from zoo.data.summaries.module import SummaryCorpus
from zoo.data.summaries.readers import (
    NOUN,
    first_with,
    folder_source,
    read_bin,
    read_listed,
    read_record,
    read_story,
    read_table,
)

HUB, HUB_NAME = "abisee/cnn_dailymail", "3.0.0"
COLUMNS = ("article", "highlights", "id")
HINT = f" (expected: the files of {HUB} on the Hugging Face hub, which data.source=hub downloads)"
BIN_FOLDERS = (".", "chunked", "finished_files", "finished_files/chunked")


class CnnDailyMail(SummaryCorpus):
    """News and their highlights. A path is the folder with url_lists/all_train.txt, all_val.txt, all_test.txt and the
    folders of .story files; or a folder of .story files, in train, val and test or all in one; or the authors' .bin
    files; or the files of the hub."""

    name = "cnn_dailymail"
    layout = (
        "a folder with url_lists/all_train.txt, all_val.txt and all_test.txt and with the .story files in folders "
        "below it, or folders train, val and test of .story files, or train.bin, val.bin and test.bin"
    )

    def open_hub(self) -> Source:
        return hub_source(HUB, HUB_SPLITS, COLUMNS, partial(read_record, columns=COLUMNS), NOUN, name=HUB_NAME)

    def open_files(self, path: Path) -> Source | None:
        if path.is_file():
            return None
        if (lists := first_with(path, ("url_lists", "."), "all_train.txt")) is not None:
            return _listed(path, lists)
        if (folder := first_with(path, BIN_FOLDERS, "train*.bin")) is not None:
            return file_source(folder, find_splits(folder, [".bin"]), read_bin, NOUN)
        if files := find_splits(path, TABLES):
            return file_source(path, files, lambda file, bad: read_table(file, COLUMNS, HINT, bad), NOUN)
        return folder_source(path, read_story, ".story")


def _listed(path: Path, lists: Path) -> Source:
    """Stories in any folders below `path`, in the splits of the lists of addresses. The name of a story is the SHA-1 of
    its address."""
    files = {split: file for file in sorted(lists.glob("all_*.txt")) if (split := split_of(file.name))}
    stories = partial(_stories, path)
    splits = {split: partial(read_listed, read_story, partial(_names, file), stories) for split, file in files.items()}
    return path_source(path, NOUN, splits, lists=[*map(identity, files.values())], stories=_identities(path))


def _names(file: Path) -> Iterator[tuple[str, str]]:
    for number, address in enumerate(read_lines(file), 1):
        if address.strip():
            yield f"{file}, line {number}", sha1(address.strip().encode()).hexdigest()


def _stories(path: Path) -> Mapping[str, Path]:
    return {file.stem: file for file in path.rglob("*.story")}


def _identities(path: Path) -> list[list[object]]:
    folders = sorted({file.parent for file in path.rglob("*.story")})
    return [folder_identity(folder, ".story") for folder in folders]
