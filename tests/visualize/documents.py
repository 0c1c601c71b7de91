"""Documents that the tests of this folder draw."""

from zoo.predicting.classification import AttendedSentence, DocumentPrediction, ExaminedDocument
from zoo.visualize.classification import ClassificationView


def prediction(label="good", probabilities=None, sentences=None):
    """Two sentences, weights 0.64 and 0.36, so that their roots are 0.8 and 0.6."""
    two = (
        AttendedSentence(("the", "soup", "was", "great"), 0.64, (0.05, 0.2, 0.0, 0.75)),
        AttendedSentence(("we", "sat", "outside"), 0.36, (0.1, 0.4, 0.5)),
    )
    return DocumentPrediction(
        label=label,
        probabilities={"bad": 0.25, "good": 0.75} if probabilities is None else probabilities,
        sentences=two if sentences is None else sentences,
    )


def without_weights(*sentences):
    """The prediction of a network that pools by the maximum."""
    return prediction(sentences=tuple(AttendedSentence(tuple(s.split()), None, None) for s in sentences))


def even(sentences, words):
    """Equal weights everywhere."""
    row = AttendedSentence(("word",) * words, 1 / sentences, (1 / words,) * words)
    return prediction(sentences=(row,) * sentences)


def answer_blocks(said, truth=None, evidence=None):
    """The parts of the answer to a document, whose true class and deciding words may be known."""
    return ClassificationView().blocks(said, ExaminedDocument(0, said, truth, evidence))
