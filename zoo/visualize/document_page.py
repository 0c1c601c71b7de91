"""Classified documents on a page: the class, and the weights of sentences and words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from zoo.visualize import page
from zoo.visualize.document_weighing import WEIGHINGS, sentence_strengths, word_strengths
from zoo.visualize.page import text

if TYPE_CHECKING:
    from zoo.tasks.classification import AttendedSentence, DocumentPrediction

STYLE = page.resource("document_page.css")
Evidence = Sequence[Sequence[bool]]
"""For each sentence of a document, True at the words that decided its label."""


def document_html(
    predictions: Sequence[DocumentPrediction | None],
    *,
    title: str = page.TITLE,
    true_labels: Sequence[str | None] | None = None,
    evidence: Sequence[Evidence | None] | None = None,
) -> str:
    """The page: class, probabilities, a bar for the weight of each sentence, words shaded by theirs, numbers on hover.

    A switch shades by `√sentence × word` (as the paper does), by `sentence × word` or by the word's weight alone.
    Words of `evidence` are underlined. A None among the predictions is a blank document.
    """
    labels = [None] * len(predictions) if true_labels is None else true_labels
    proofs = [None] * len(predictions) if evidence is None else evidence
    articles = [
        None if prediction is None else _document(prediction, label, proof)
        for prediction, label, proof in zip(predictions, labels, proofs, strict=True)
    ]
    has_words = any(prediction and word_strengths(prediction) for prediction in predictions)
    about = _about(predictions, evidence is not None)
    return page.html(about, articles, title=title, choice=_choice() if has_words else "", style=STYLE)


def _about(predictions: Sequence[DocumentPrediction | None], underlined: bool) -> str:
    parts, real = [page.how_many(predictions, "document")], [p for p in predictions if p is not None]
    if any(sentence_strengths(prediction) for prediction in real):
        parts.append("The bar before a sentence is the attention it got in its document.")
    if any(word_strengths(prediction) for prediction in real):
        parts.append("The colour behind a word is its attention; point at it for the numbers.")
    if underlined:
        parts.append("Underlined words decided the true class.")
    if any(sentence.unknown for prediction in real for sentence in prediction.sentences):
        parts.append("A dotted line is under words that the network does not know.")
    return " ".join(parts)


def _choice() -> str:
    options = "\n".join(
        f'<label><input type="radio" name="by" id="by-{name}"{" checked" if name == "paper" else ""}> '
        f"{way.title} <small>({way.formula})</small></label>"
        for name, way in WEIGHINGS.items()
    )
    scale = '<span class="scale">none <i></i> the document\'s strongest</span>'
    return f'<fieldset class="choice"><legend>Words by</legend>\n{options}\n{scale}</fieldset>'


def _document(prediction: DocumentPrediction, true_label: str | None, evidence: Evidence | None) -> str:
    head = f"<header>{_verdict(prediction, true_label)}\n{classes(prediction)}</header>"
    return page.article(f"{head}\n{sentences(prediction, evidence)}", label=prediction.label)


def sentences(prediction: DocumentPrediction, evidence: Evidence | None = None) -> str:
    """The text as a list of sentences, each with its bar, the words shaded."""
    bars = sentence_strengths(prediction)
    shades = {name: word_strengths(prediction, name) for name in WEIGHINGS}
    lines = []
    for s, sentence in enumerate(prediction.sentences):
        at = [False] * len(sentence.words) if evidence is None else evidence[s]
        strengths = {name: rows[s] for name, rows in shades.items() if rows}
        words = " ".join(_word(sentence, i, strengths, at[i]) for i in range(len(sentence.words)))
        margin = ""
        if bars is not None:
            margin = (
                f'<span class="weight" data-weight="{sentence.weight!r}">{sentence.weight:.3f}'
                f'<span class="bar" style="--v:{bars[s]:.4f}"></span></span>'
            )
        lines.append(f'<li>{margin}<p class="words" dir="auto">{words}</p></li>')
    if not lines:
        lines.append('<li><p class="words">(no words)</p></li>')
    bare = "" if bars is not None else " bare"
    return f'<ol class="sentences{bare}">\n' + "\n".join(lines) + "\n</ol>"


def _word(sentence: AttendedSentence, i: int, strengths: dict[str, list[float]], evident: bool) -> str:
    word, unknown = text(sentence.words[i]), i in sentence.unknown
    kinds = ["w"] * (sentence.word_weights is not None) + ["e"] * evident + ["u"] * unknown
    kind = " ".join(kinds)
    if sentence.word_weights is None:
        return f'<span class="{kind}">{word}</span>' if kinds else word
    weight = sentence.word_weights[i]
    style = ";".join(f"--{name}-v:{row[i]:.3f}" for name, row in strengths.items())
    tip = f"word {weight:.4g}"
    if sentence.weight is not None:
        tip += f" × sentence {sentence.weight:.4g} = {weight * sentence.weight:.4g} of the document"
    tip += "; unknown to the network" * unknown
    return f'<span class="{kind}" data-weight="{weight!r}" data-tip="{tip}" style="{style}">{word}</span>'


def _verdict(prediction: DocumentPrediction, true_label: str | None) -> str:
    judged = ""
    if true_label is not None:
        kind, mark = ("right", "✓") if true_label == prediction.label else ("wrong", "✗")
        judged = f' · <span class="{kind}">true class {text(true_label)} {mark}</span>'
    probability = prediction.probabilities[prediction.label]
    return f'<div><h2>{text(prediction.label)}</h2><p class="verdict">probability {probability:.3f}{judged}</p></div>'


def classes(prediction: DocumentPrediction) -> str:
    """A table of the classes with their probabilities as bars."""
    rows = "\n".join(
        f'<tr{" class=predicted" if name == prediction.label else ""} data-probability="{probability!r}">'
        f'<th scope="row">{text(name)}</th><td>{probability:.3f}</td>'
        f'<td><span class="bar" style="--v:{probability:.4f}"></span></td></tr>'
        for name, probability in prediction.probabilities.items()
    )
    return f'<table class="classes"><tbody>\n{rows}\n</tbody></table>'
