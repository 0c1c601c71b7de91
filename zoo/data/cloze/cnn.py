"""CNN and Daily Mail: news with anonymous entities, and a highlight of each text with one of them removed.

Hermann et al. 2015, https://arxiv.org/abs/1506.03340: CNN 380,298 questions for training, 3,924 to validate and 3,198
for the test; Daily Mail 879,450, 64,835 and 53,182. Each article has its own entity numbers. Both are at
https://cs.nyu.edu/~kcho/DMQA/. The Hugging Face hub has the articles and their summaries under these names, without
questions.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Unpack

from zoo.data.cloze.batch import ClozeQuestion
from zoo.data.cloze.module import ClozeData
from zoo.data.cloze.readers import read_questions
from zoo.data.cloze.samples import stories
from zoo.data.corpus import Corpus, CorpusArguments
from zoo.data.rows import BadRows, visible
from zoo.data.sources import Source, folder_identity, path_source, sample_source
from zoo.errors import ConfigError

PAGE = "https://cs.nyu.edu/~kcho/DMQA/"
SUFFIX = ".question"
FOLDERS = {"train": "training", "val": "validation", "test": "test"}
"""The folders of .question files."""


class Cnn(Corpus, ClozeData):
    """News of CNN. A path is the folder cnn, with questions/training, questions/validation and questions/test inside,
    one .question file per question."""

    name = "cnn"
    layout = "cnn/questions with training/*.question, validation/*.question and test/*.question"
    on_hub = False

    def __init__(self, **rest: Unpack[CorpusArguments]) -> None:
        super().__init__(**rest)

    def open_sample(self) -> Source:
        return sample_source(stories.generate, self.sample, "anonymous questions", anonymous=True)

    def open_hub(self) -> Source:
        raise ConfigError(
            f"data.source=hub: the questions are not on the Hugging Face hub; download {self.name}.tgz of the "
            f"questions from {PAGE}, unpack it, and set data.source=PATH of {self.layout}"
        )

    def open_files(self, path: Path) -> Source | None:
        inside = next((folder for folder in (path, path / "questions") if (folder / FOLDERS["train"]).is_dir()), None)
        if inside is None:
            return None
        folders = {split: inside / name for split, name in FOLDERS.items() if (inside / name).is_dir()}
        stamps = {split: folder_identity(folder, SUFFIX) for split, folder in folders.items()}
        splits = {split: partial(_read_folder, folder) for split, folder in folders.items()}
        return path_source(inside, "questions", splits, folders=stamps)


class DailyMail(Cnn):
    """News of the Daily Mail, in the same form."""

    name = "dailymail"
    layout = Cnn.layout.replace("cnn", "dailymail")


def _read_folder(folder: Path, bad: BadRows) -> Iterator[ClozeQuestion]:
    return read_questions(visible(folder, f"*{SUFFIX}"), bad)
