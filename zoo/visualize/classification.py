"""The view of classification: documents with their classes, and the attention to their sentences and words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from zoo.tasks.classification import Classification, DocumentPrediction, ExaminedDocument
from zoo.visualize.blocks import UNKNOWN, Block, Classes, Head, Passage
from zoo.visualize.drawing import Key
from zoo.visualize.printable import shown
from zoo.visualize.view import View
from zoo.visualize.weighing import WEIGHINGS, top_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.tasks import Examined, Task

SENTENCES = Key("sentences", "sentence weight", "The bar before a sentence is the attention it got in its document.")
EVIDENCE = Key("evidence", "decided the true class", "Underlined words decided the true class.")
NONE = Key("", "the network has no attention weights")


def words_key(weighing: str) -> Key:
    """The key to the colour of words."""
    short = "word weight" if weighing == "word" else f"word weight ({WEIGHINGS[weighing].title})"
    return Key("words", short, "The colour behind a word is its attention; point at it for the numbers.")


class ClassificationView(View):
    """Documents with one class each."""

    columns: ClassVar[tuple[str, ...]] = ("text", "predicted", "probability", "top words")
    """`top words` are those with the highest share of the document's attention, and that share."""
    title: ClassVar[str] = "What the network attended to"

    def row(self, prediction: DocumentPrediction) -> list[Any]:
        return [
            shown(" ".join(word for sentence in prediction.sentences for word in sentence.words)),
            prediction.label,
            round(prediction.probabilities[prediction.label], 4),
            shown(top_words(prediction.sentences)),
        ]

    def blocks(self, prediction: DocumentPrediction, examined: Examined | None = None) -> list[Block]:
        evidence = examined.evidence if isinstance(examined, ExaminedDocument) else None
        return document_blocks(prediction, examined.truth if examined else None, evidence)

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
    name, probabilities, sentences = prediction.label, prediction.probabilities, prediction.sentences
    head = Head.compared(
        name,
        truth,
        "class",
        probability=probabilities[name],
        above="predicted",
        classes=Classes(probabilities, name),
        data={"label": name},
    )
    weighed = any(sentence.word_weights is not None for sentence in sentences)
    barred = any(sentence.weight is not None for sentence in sentences)
    keys = (
        *[SENTENCES] * barred,
        *[words_key(weighing)] * weighed,
        *[NONE] * (bool(sentences) and not weighed and not barred),
        *[EVIDENCE] * (evidence is not None),
        *[UNKNOWN] * any(sentence.unknown for sentence in sentences),
    )
    return [head, Passage(sentences, weighing, choice=True, evidence=evidence, keys=keys)]
