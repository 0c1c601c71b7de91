"""Stories with questions to batches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from zoo.arguments import Count
from zoo.data.options import Options
from zoo.data.parts import Number, Numbers, Ragged, Stored, Words
from zoo.data.parts import Shown as ShownPart
from zoo.data.stories.batch import StoryBatch
from zoo.data.stories.readers import StoryQuestion, checked, parse_line
from zoo.data.stories.story import Shown, Tokenizer, split_words
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.tokenization import Tokens

WORDS = pa.list_(pa.string())
STORY = pa.list_(WORDS)


@dataclass(frozen=True)
class StoryTextOptions(Options):
    """How a story becomes sentences of words, and the words ids. Case and punctuation are dropped."""

    group: ClassVar[str] = "text"
    subwords: ClassVar[bool] = False
    treebank: ClassVar[bool] = False
    lower: ClassVar[bool] = True

    tokenizer: Tokenizer = "whitespace"
    """`whitespace`: blanks separate words; `characters`: each letter is a word, as in Chinese or Thai."""
    max_sentences: Count = 130
    """Newest statements before a question that are kept."""
    max_words: Count = 50
    """Words of a sentence that are kept, from its beginning."""
    minimum_frequency: Count = 1
    """Words that occur less often in the training stories are unknown; answers are kept."""

    def cut(self, sentence: str) -> tuple[Tokens, bool]:
        """The words of a sentence that are kept, and whether it has more."""
        shown, forms = split_words(sentence, self.tokenizer)
        return Tokens(shown[: self.max_words], forms[: self.max_words]), len(forms) > self.max_words


class StoryEncoder(TableEncoder):
    """Questions about stories to batches. A question is a `StoryQuestion`, or a line of text as `parse_line` reads it.

    A stored example has its sentences as numbers (`first`, `last`, `asked`, see `zoo.data.stories.stored`), which
    become the parts `story` and `question` when it is read.
    """

    takes = "a story and its question as text, 'Mary went home. Where is Mary?', or a StoryQuestion"
    options = StoryTextOptions
    raw = pa.schema(
        {
            "story": STORY,
            "question": WORDS,
            "shown": pa.struct({"sentences": STORY, "question": WORDS}),
            "first": pa.int64(),
            "last": pa.int64(),
            "asked": pa.int32(),
            "answer": WORDS,
            "task": pa.int32(),
            "supporting": pa.list_(pa.int32()),
            "story_number": pa.int32(),
            "num_words": pa.int32(),
            "cut": pa.bool_(),
            "key": pa.int64(),
            "place": pa.string(),
        }
    )
    given = ("story", "question", "shown")
    parts = (
        Words("story", levels=2),
        Words("question"),
        Words("answer", padded=False),  # one entry of the vocabulary
        Number("task"),
        Numbers("supporting"),
        ShownPart("shown"),
        *map(Stored, ("first", "last", "asked", "story_number", "num_words")),
    )
    cuts = False
    text_options: StoryTextOptions

    def __call__(self, inputs: Sequence[StoryQuestion | str] | StoryQuestion | str) -> StoryBatch:
        """A batch without answers. Raises DataError for an input without a story or a question."""
        return super().__call__([inputs] if isinstance(inputs, StoryQuestion | str) else inputs)

    def typed(self, one: StoryQuestion | str) -> dict[str, Any]:
        one = parse_line(one) if isinstance(one, str) else checked(one, "a story with a question")
        text = self.text_options
        sentences = [words for line in one.sentences if (words := text.cut(line)[0]).forms][-text.max_sentences :]
        question, _ = text.cut(one.question)
        shown = Shown([sentence.shown for sentence in sentences], question.shown)
        forms = [sentence.forms for sentence in sentences]
        return {"story": forms, "question": question.forms, "shown": shown._asdict()}

    def display(self, one: StoryQuestion | str) -> Shown:
        """The words of a story and its question as they are written, in the positions that they have in the batch."""
        return Shown(**self.typed(one)["shown"])

    def knows(self, word: str) -> bool:
        """Whether a word as it is written, with its punctuation, is in the vocabulary."""
        return all(form in self.vocabulary for form in split_words(word, self.text_options.tokenizer).forms)

    def batch(self, parts: Mapping[str, Any], index: Tensor) -> StoryBatch:
        story, question = parts["story"], parts["question"]
        answer, supporting, shown = (parts.get(name) for name in ("answer", "supporting", "shown"))
        task: Any = parts.get("task")
        return StoryBatch(
            story.values,
            story.mask,
            question.values,
            question.mask,
            None if answer is None else torch.from_numpy(answer.values),
            index=index,
            task=task,
            supporting=None if supporting is None else marked(supporting, story.mask.shape[1]),
            text=shown and tuple(Shown(**one) for one in shown),
        )


def marked(places: Ragged, width: int) -> Tensor:
    """(B, width) True at the places of each row."""
    grid = np.zeros((len(places.lengths), width), np.bool_)
    grid[np.repeat(np.arange(len(places.lengths)), places.lengths), places.values] = True
    return torch.from_numpy(grid)
