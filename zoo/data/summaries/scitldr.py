"""SciTLDR: abstracts of papers on computer science, and summaries of one sentence.

Cachola et al. 2020, https://aclanthology.org/2020.findings-emnlp.428: 1,992 papers for training, 619 to validate and
618 for the test, here with the abstract alone (SciTLDR-A). Validation and test have several summaries of each paper:
one of the authors, and others that students wrote from reviews. The official script scores a summary against the one
that is most similar to it.
"""

from functools import partial
from pathlib import Path

from zoo.data.readers import TABLES
from zoo.data.sources import HUB_SPLITS, Source, file_source, find_splits, hub_source
from zoo.data.summaries.module import SummaryCorpus
from zoo.data.summaries.readers import NOUN, first_with, read_record, read_table

HUB, HUB_NAME, HUB_REVISION = "allenai/scitldr", "Abstract", "refs/convert/parquet"
COLUMNS = ("source", "target", "paper_id")
HINT = " (expected: the official files of SciTLDR-A)"
FOLDERS = (".", "SciTLDR-A", "SciTLDR-Data/SciTLDR-A")


class SciTLDR(SummaryCorpus):
    """Abstracts and their summaries. A path is the folder SciTLDR-A with train.jsonl, dev.jsonl and test.jsonl, or the
    official repository."""

    name = "scitldr"
    layout = "the folder SciTLDR-A with train.jsonl, dev.jsonl and test.jsonl"

    def open_hub(self) -> Source:
        read = partial(read_record, columns=COLUMNS)
        return hub_source(HUB, HUB_SPLITS, COLUMNS, read, NOUN, name=HUB_NAME, revision=HUB_REVISION)

    def open_files(self, path: Path) -> Source | None:
        folder = first_with(path, FOLDERS, "train*") if path.is_dir() else None
        files = find_splits(folder, TABLES) if folder else {}
        if folder is None or not files:
            return None
        return file_source(folder, files, lambda file, bad: read_table(file, COLUMNS, HINT, bad), NOUN)
