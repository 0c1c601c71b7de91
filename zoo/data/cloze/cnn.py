"""CNN and Daily Mail: news with their entities made anonymous, and a highlight of each with one of them taken out.

Hermann et al. 2015, https://arxiv.org/abs/1506.03340: CNN 380,298 questions for training, 3,924 to validate and 3,198
for the test; Daily Mail 879,450, 64,835 and 53,182. Entity numbers are an article's own. Both are given out at
https://cs.nyu.edu/~kcho/DMQA/; what the Hugging Face hub has under these names are the articles and their summaries,
without questions.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Unpack

from zoo.data.cloze.module import ClozeData
from zoo.data.cloze.samples import stories
from zoo.data.cloze.sources import question_folders
from zoo.data.corpus import Corpus, CorpusArguments
from zoo.data.sources import Source, sample_source
from zoo.errors import ConfigError

PAGE = "https://cs.nyu.edu/~kcho/DMQA/"


class Cnn(Corpus, ClozeData):
    """News of CNN. A path is the folder cnn, with questions/training, questions/validation and questions/test inside,
    one .question file per question."""

    name = "cnn"
    archive: ClassVar[str] = "cnn"
    """The folder in the official archive."""
    layout = "cnn/questions with training/*.question, validation/*.question and test/*.question"
    on_hub = False

    def __init__(self, **rest: Unpack[CorpusArguments]) -> None:
        super().__init__(**rest)

    def open_sample(self) -> Source:
        return sample_source(stories.generate, self.sample, "anonymous questions", anonymous=True)

    def open_hub(self) -> Source:
        raise ConfigError(
            f"data.source=hub: the questions are not on the Hugging Face hub; download {self.archive}.tgz of the "
            f"questions from {PAGE}, unpack it, and set data.source=PATH of {self.layout}"
        )

    def open_files(self, path: Path) -> Source | None:
        return question_folders(path, "questions") if path.is_dir() else None


class DailyMail(Cnn):
    """News of the Daily Mail, in the same form."""

    name = "dailymail"
    archive = "dailymail"
    layout = Cnn.layout.replace("cnn", "dailymail")
