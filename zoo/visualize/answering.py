"""The view of answering: stories with the answers to a question, and the attention of each hop."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zoo.data.stories.readers import StoryQuestion, parse_line, read_file
from zoo.data.stories.story import without_marks
from zoo.predicting.answering import AnswerPrediction, ExaminedAnswer
from zoo.printable import shown
from zoo.visualize.blocks import UNKNOWN, Block, Classes, Grid, Head
from zoo.visualize.drawing import Key
from zoo.visualize.steps import steps_passage
from zoo.visualize.view import AttentionMap, Field, View

EMPTY = 0.005  # The least attention to empty places of the memory that is shown: less is printed as 0.00
HOPS = Key(
    long="The numbers before a sentence are the attention of each hop, the first hop first; the strongest sentence of "
    "a hop is framed."
)
REST = Key(long="The rest of a hop's attention went to empty places of the memory.")
TRUE = Key("true", "framed: what the true answer follows from")


class AnsweringView(View):
    """Stories, each with a question and its answer. Files may also be in bAbI's format, or json lines."""

    noun, plural = "story", "stories"
    columns = ("story", "question", "answer", "probability", "hops")  # The strongest sentence of each hop
    title = "What the network attended to"
    needs = ("hop", "model=memn2n")

    def parse(self, line: str) -> StoryQuestion:
        return parse_line(line)

    def read_file(self, file: Path) -> list[Any | None]:
        return [*read_file(file)]

    def example(self, example: Mapping[str, Any]) -> str | None:
        if not {"story", "question"} <= set(example):
            return None
        return f"{example['story'].removeprefix('... ')} {example['question']}"

    def form(self) -> tuple[Field, ...]:
        return Field("story", 5), Field("question")

    def maps(self, predictor: Any, given: Any, prediction: AnswerPrediction) -> list[AttentionMap]:
        hops = [f"hop {number}" for number, _ in enumerate(prediction.hops, 1)]
        return [AttentionMap("hops and sentences", prediction.hops, hops, prediction.sentences)] if hops else []

    def row(self, prediction: AnswerPrediction) -> list[Any]:
        sentences, question, probability = prediction.sentences, prediction.question, round(prediction.probability, 4)
        best = zip(strongest(prediction), prediction.hops, strict=False)
        hops = "; ".join(f"hop {number}: {sentences[at]} {hop[at]:.2f}" for number, (at, hop) in enumerate(best, 1))
        return [shown(" ".join(sentences)), shown(question), shown(prediction.answer), probability, shown(hops)]

    def blocks(self, prediction: AnswerPrediction, examined: ExaminedAnswer | None = None) -> list[Block]:
        answer, sentences, hops = prediction.answer, prediction.sentences, prediction.hops
        unknown, supporting = prediction.unknown, (examined and examined.supporting) or ()
        left = [max(0.0, 1 - sum(hop)) for hop in hops]
        rest = left if any(weight >= EMPTY for weight in left) else None
        framed = {(row, hop) for row, needed in enumerate(supporting) if needed for hop in range(len(hops))}
        classes = Classes(prediction.alternatives, answer, "answers", in_one_line=True)
        truth = examined.truth if examined else None
        head = Head.compared(answer, truth, "answer", classes, above="answer", data={"answer": answer})
        grid = Grid(
            sentences,
            [f"hop {number}" for number in range(1, len(hops) + 1)],
            [[hop[row] for hop in hops] for row in range(len(sentences))],
            sentences=True,
            strongest={(row, hop) for hop, row in enumerate(strongest(prediction))},
            true=framed,
            unknown=unknown,
            rest=rest,
            asked=prediction.question,
            axes=("sentences", "hop"),
            keys=(*[HOPS] * bool(hops), *[REST] * bool(rest), *[TRUE] * bool(framed), *[UNKNOWN] * bool(unknown)),
        )
        if not prediction.steps:
            return [head, grid]
        texts = [[sentence] for sentence in (*sentences, prediction.question)]
        steps = [[number] for name in ("sentence", "question") for number in prediction.steps[name]]
        return [head, grid, steps_passage("steps", texts, steps)]

    def unknown(self, prediction: AnswerPrediction) -> list[str]:
        return [" ".join(filter(None, map(without_marks, word.split()))) for word in prediction.unknown]


def strongest(prediction: AnswerPrediction) -> list[int]:
    """Return for each hop the number of the sentence with the most attention; empty without attention or sentences."""
    return [hop.index(max(hop)) for hop in prediction.hops if hop]
