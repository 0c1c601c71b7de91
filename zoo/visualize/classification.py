"""The view of classification: documents with their classes, and the attention to their sentences and words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from zoo.tasks.classification import Classification, DocumentPrediction, ExaminedDocument
from zoo.visualize.blocks import UNKNOWN, Block, Classes, Head, Key, Passage
from zoo.visualize.printable import shown
from zoo.visualize.texts.weighing import WEIGHINGS, top_words
from zoo.visualize.view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.tasks import Examined, Task

TOP_WORDS = 5
SENTENCES = Key("sentences", "sentence weight", "The bar before a sentence is the attention it got in its document.")
EVIDENCE = Key("evidence", "decided the true class", "Underlined words decided the true class.")
NONE = Key("", "the network has no attention weights")


def words_key(weighing: str) -> Key:
    """The key to the colour of words."""
    short = "word weight" if weighing == "word" else f"word weight ({WEIGHINGS[weighing].title})"
    return Key("words", short, "The colour behind a word is its attention; point at it for the numbers.")


class ClassificationView(View):
    """Documents with one class each."""

    noun: ClassVar[str] = "text"
    columns: ClassVar[tuple[str, ...]] = ("text", "predicted", "probability", "top words")
    """`top words` are those with the highest share of the document's attention, and that share."""
    title: ClassVar[str] = "What the network attended to"

    def row(self, prediction: DocumentPrediction) -> list[Any]:
        return [
            shown(" ".join(word for sentence in prediction.sentences for word in sentence.words)),
            prediction.label,
            round(prediction.probabilities[prediction.label], 4),
            shown(", ".join(f"{word} {share:.2f}" for word, share in top_words(prediction.sentences, TOP_WORDS))),
        ]

    def blocks(self, prediction: DocumentPrediction, examined: Examined | None = None) -> list[Block]:
        return document_blocks(
            prediction,
            None if examined is None else examined.truth,
            examined.evidence if isinstance(examined, ExaminedDocument) else None,
        )

    def unknown(self, prediction: DocumentPrediction) -> list[str]:
        return [sentence.words[i] for sentence in prediction.sentences for i in sentence.unknown]

    def test_pictures(self, task: Task) -> Mapping[str, Callable[[], Figure]]:
        from zoo.visualize.confusion import confusion_figure

        assert isinstance(task, Classification) and task.spec is not None
        matrix, classes = task.test_confusion.compute().cpu(), task.spec.classes
        return {"confusion": lambda: confusion_figure(matrix, classes)}


def document_blocks(
    prediction: DocumentPrediction,
    truth: str | None = None,
    evidence: Sequence[Sequence[bool]] | None = None,
    *,
    weighing: str = "paper",
) -> list[Block]:
    """Return the parts of a classified document.

    Args:
        prediction: the class, its probability and the attention.
        truth: the true class; None where it is unknown.
        evidence: for each sentence, True at the words that decided the true class.
        weighing: the key of `WEIGHINGS` by which words are shaded.
    """
    name = prediction.label
    head = Head(
        name,
        prediction.probabilities[name],
        above="predicted",
        truth=None if truth is None else ("true class", truth),
        right=None if truth is None else truth == name,
        classes=Classes(prediction.probabilities, name),
        data={"label": name},
    )
    passage = Passage(prediction.sentences, weighing, choice=True, evidence=evidence)
    has_words, has_bars = bool(passage.shades()), passage.bars is not None
    keys = [
        *[SENTENCES] * has_bars,
        *[words_key(weighing)] * has_words,
        *[NONE] * (bool(prediction.sentences) and not has_words and not has_bars),
        *[EVIDENCE] * (evidence is not None),
        *[UNKNOWN] * any(sentence.unknown for sentence in prediction.sentences),
    ]
    return [head, Passage(prediction.sentences, weighing, choice=True, evidence=evidence, keys=tuple(keys))]
