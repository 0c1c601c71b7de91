"""Stories with questions, for `answering`."""

from collections.abc import Sequence
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.families import LONG, Family, mask_of, nested_mask, precise
from zoo.data.stories.batch import StoryBatch, StorySpec
from zoo.models.output import Output


class Stories(Family):
    task_class = "zoo.tasks.answering.Answering"
    spec = StorySpec(vocabulary_size=30, longest_sentence=7, tasks=("where", "who"))
    grids: ClassVar[dict[str, str]] = {"words": "word_mask", "question": "question_mask"}
    singles = ("answer", "task")

    sizes = (([4, 1, 6], 3), ([2, 5], 1), ([7, 3, 2, 3], 4), ([1], 2), ([3, 4, 4], 3))
    nothing, long = (([], 0),), (([7], 2), ([1] * LONG, 4))
    targets = ("answer", "supporting")

    def of_sizes(self, sizes: Sequence[tuple[Sequence[int], int]], seed: int) -> StoryBatch:
        """A batch of random words, the numbers of words of each sentence of each story and of each question given."""
        stories, questions = zip(*sizes, strict=True)
        generator = torch.Generator().manual_seed(seed)
        mask, asked = nested_mask(stories), mask_of(questions)

        def draw(real: Tensor) -> Tensor:
            return torch.randint(2, self.spec.vocabulary_size, real.shape, generator=generator).masked_fill(~real, 0)

        answer = torch.randint(2, self.spec.vocabulary_size, (len(stories),), generator=generator)
        task = torch.randint(0, len(self.spec.tasks), (len(stories),), generator=generator)
        return StoryBatch(draw(mask), mask, draw(asked), asked, answer, task=task)

    def loss(self, output: Output, batch: StoryBatch) -> Tensor:
        assert batch.answer is not None
        return F.cross_entropy(precise(output.logits), batch.answer) + sum(output.losses.values())


FAMILY = Stories()
