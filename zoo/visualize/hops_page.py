"""Answers on a page: the likeliest answers, and the story with a column for each hop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from zoo.visualize import page
from zoo.visualize.hops_weighing import chosen, empty, left_out, strongest
from zoo.visualize.page import text

if TYPE_CHECKING:
    from zoo.tasks.answering import AnswerPrediction

STYLE = page.resource("hops_page.css")
MOST_SENTENCES = 150


def about(predictions: Sequence[AnswerPrediction | None]) -> str:
    """What the page shows and how it is read."""
    parts, real = [page.how_many(predictions, "question")], [p for p in predictions if p is not None]
    if any(prediction.hops for prediction in real):
        parts.append(
            "Before each sentence of a story stands how much each hop attended to it, the first hop first; the "
            "strongest of a hop is framed."
        )
    if any(prediction.hops and empty(prediction) for prediction in real):
        parts.append("What a hop left went to empty places of the memory.")
    if any(prediction.unknown for prediction in real):
        parts.append("A dotted line is under words that the network does not know.")
    return " ".join(parts)


def article(prediction: AnswerPrediction) -> str:
    """One question, its answers, and what each hop read."""
    head = (
        f'<header><div><h2 class="said" dir="auto">{text(prediction.answer)}</h2>\n'
        f'<p class="verdict">probability {prediction.probability:.3f}</p></div>\n{_answers(prediction)}</header>'
    )
    kept = chosen(prediction, MOST_SENTENCES)
    note = left_out(prediction, kept)
    cut = f'\n<p class="verdict">… {text(note)}</p>' if note else ""
    return page.article(f"{head}\n{_story(prediction, kept)}{cut}", answer=prediction.answer)


def _answers(prediction: AnswerPrediction) -> str:
    rows = "\n".join(
        f'<tr{" class=predicted" if name == prediction.answer else ""} data-probability="{share!r}">'
        f'<th scope="row" dir="auto">{text(name)}</th><td>{share:.3f}</td>'
        f'<td><span class="bar" style="--v:{share:.4f}"></span></td></tr>'
        for name, share in prediction.alternatives.items()
    )
    return f'<table class="answers"><tbody>\n{rows}\n</tbody></table>'


def _story(prediction: AnswerPrediction, kept: Sequence[int]) -> str:
    hops, best = prediction.hops, strongest(prediction)
    heads = "".join(f'<th scope="col">hop {number}</th>' for number in range(1, len(hops) + 1))
    lines = [f"<thead><tr>{heads}<th></th></tr></thead>"] if hops else []
    lines.append("<tbody>")
    for number in kept:
        cells = "".join(_cell(hop[number], first == number) for hop, first in zip(hops, best, strict=True))
        lines.append(
            f'<tr>{cells}<td dir="auto">{_sentence(prediction.sentences[number], prediction.unknown)}</td></tr>'
        )
    if hops and (rest := empty(prediction)) is not None:
        cells = "".join(_cell(weight, False) for weight in rest)
        lines.append(f'<tr class="rest">{cells}<td>(empty memory)</td></tr>')
    nothing = "<td></td>" * len(hops)
    question = _sentence(prediction.question, prediction.unknown)
    lines.append(f'<tr class="question">{nothing}<td dir="auto">{question}</td></tr>')
    return '<div class="grid"><table class="hops">' + "\n".join(lines) + "\n</tbody></table></div>"


def _cell(weight: float, best: bool) -> str:
    kind = "weight best" if best else "weight"
    return f'<td class="{kind}" data-weight="{weight!r}" style="--v:{min(1.0, weight):.3f}">{weight:.2f}</td>'


def _sentence(sentence: str, unknown: Sequence[str]) -> str:
    if not any(word in sentence for word in unknown):
        return text(sentence)
    words = (f'<span class="u">{text(word)}</span>' if word in unknown else text(word) for word in sentence.split())
    return " ".join(words)
