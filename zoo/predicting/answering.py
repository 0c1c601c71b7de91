"""The answers to questions about stories, and which sentences each hop attended to."""

from dataclasses import dataclass, field
from typing import ClassVar

import torch

from zoo.data.stories.batch import StoryBatch, StorySpec
from zoo.data.stories.story import Shown
from zoo.precision import precise
from zoo.predicting.predicting import Examined, Predicting, Prediction, names_at

LIKELIEST = 5


@dataclass(frozen=True)
class AnswerPrediction(Prediction):
    """The answer to one question, and which sentences each hop attended to."""

    answer: str
    probability: float
    alternatives: dict[str, float]  # The likeliest answers with their probabilities, including the chosen one
    sentences: tuple[str, ...]  # The sentences of the story, the oldest first
    question: str
    hops: tuple[tuple[float, ...], ...]
    """The attention of each hop to each sentence. It sums to less than 1 where empty places of the memory get some, and
    is empty where the network has no attention."""
    steps: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """How many steps the network took at each `sentence` and at the `question`; empty where no position decides that
    itself."""
    unknown: tuple[str, ...] = ()  # Words of the story and the question that are not in the vocabulary


@dataclass(frozen=True)
class ExaminedAnswer(Examined):
    """A question of a split, with the predicted and the true answer."""

    prediction: AnswerPrediction
    supporting: tuple[bool, ...] | None
    """True at the supporting facts, the sentences that determine the answer; None where the data do not have them."""


class AnsweringPredictions(Predicting):
    """The answers that any network for `answering` gives."""

    name = "answering"
    view: ClassVar[str] = "zoo.visualize.answering.AnsweringView"
    spec: StorySpec

    def predictions(self, batch: StoryBatch, words: list[Shown]) -> list[AnswerPrediction]:
        """Answers and attention; `words` are stories and questions as shown."""
        output = self.predict_step(batch)
        no_answers = torch.tensor([self.spec.padding, self.spec.unknown], device=output.logits.device)
        probabilities = precise(output.logits).index_fill(-1, no_answers, -torch.inf).softmax(-1)
        likeliest = probabilities.topk(min(LIKELIEST, probabilities.shape[1]))
        vocabulary, known = self.encoder.vocabulary.words, self.encoder.knows
        hops = [weights.tolist() for weights in output.attention.values()]
        steps = (
            {name: rows.tolist() for name, rows in output.steps.items()} if getattr(self.network, "ponders", ()) else {}
        )
        return [
            AnswerPrediction(
                answer=vocabulary[numbers[0]],
                probability=values[0],
                alternatives={vocabulary[number]: value for number, value in zip(numbers, values, strict=True)},
                sentences=tuple(" ".join(sentence) for sentence in shown.sentences),
                question=" ".join(shown.question),
                hops=tuple(tuple(hop[b][: len(shown.sentences)]) for hop in hops),
                steps={name: tuple(filter(None, rows[b])) for name, rows in steps.items()},
                unknown=tuple(word for line in (*shown.sentences, shown.question) for word in line if not known(word)),
            )
            for b, (shown, values, numbers) in enumerate(
                zip(words, likeliest.values.tolist(), likeliest.indices.tolist(), strict=True)
            )
        ]

    def examine(self, batch: StoryBatch) -> list[ExaminedAnswer]:
        assert batch.text is not None, "a split that is evaluated has the words"
        truth, facts = names_at(batch.answer, self.encoder.vocabulary.words), None
        if batch.supporting is not None:
            rows = zip(batch.text, batch.supporting.tolist(), strict=True)
            facts = [tuple(row[: len(one.sentences)]) for one, row in rows]
        return self.examined(ExaminedAnswer, batch, batch.text, truth, facts)
