"""CNN and Daily Mail: news with their entities made anonymous, and a highlight of each with one of them taken out.

Hermann et al. 2015, https://arxiv.org/abs/1506.03340: CNN 380,298 questions for training, 3,924 to validate and 3,198
for the test; Daily Mail 879,450, 64,835 and 53,182. Entity numbers are an article's own. Both are given out at
https://cs.nyu.edu/~kcho/DMQA/; what the Hugging Face hub has under these names are the articles and their summaries,
without questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from zoo.data.cloze.module import ClozeData
from zoo.data.cloze.options import ClozeTextOptions
from zoo.data.cloze.samples import stories
from zoo.data.cloze.sources import question_folders
from zoo.data.options import LoaderOptions, SampleOptions, SplitOptions
from zoo.data.sources import Source, existing, sample_source
from zoo.errors import ConfigError, DataError

PAGE = "https://cs.nyu.edu/~kcho/DMQA/"


class Cnn(ClozeData):
    """News of CNN. `source`: `sample`, or the path of the folder cnn, with questions/training, questions/validation and
    questions/test inside, one .question file a question."""

    name = "cnn"
    folder: ClassVar[str] = "cnn"
    """In the official archive."""

    def __init__(
        self,
        *,
        source: str | None = "sample",
        sample: Mapping[str, Any] | SampleOptions | None = None,
        split: Mapping[str, Any] | SplitOptions | None = None,
        text: Mapping[str, Any] | ClozeTextOptions | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """`source` is `sample` or the path of the official files; `sample` its sizes; the rest as in `ClozeData`."""
        super().__init__(
            text=text,
            split=split,
            loader=loader,
        )
        self.source = source
        self.sample = SampleOptions.of(sample)

    def open_source(self) -> Source:
        layout = f"{self.folder}/questions with training/*.question, validation/*.question and test/*.question"
        if not self.source:
            raise ConfigError(f"data.source is not set; expected: sample, or the path of {layout}")
        if self.source == "sample":
            return sample_source(stories.generate, self.sample, "anonymous questions", anonymous=True)
        if self.source == "hub":
            raise ConfigError(
                f"data.source=hub: the questions are not on the Hugging Face hub; fetch {self.folder}.tgz of the "
                f"questions from {PAGE}, unpack it, and give data.source=PATH of {layout}"
            )
        path = existing(self.source, "data.source", f"sample, or the path of {layout}")
        found = question_folders(path, "questions") if path.is_dir() else None
        if found is None:
            raise DataError(
                f"{path}: no folder training here or in questions; expected {layout}; or take data.source=sample"
            )
        return found


class DailyMail(Cnn):
    """News of the Daily Mail, in the same form."""

    name = "dailymail"
    folder = "dailymail"
