"""Translations on a page: what was written, the n-best list, and a grid of the attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from zoo.visualize import page
from zoo.visualize.page import text

if TYPE_CHECKING:
    from zoo.tasks.translation import Translated, TranslationPrediction

STYLE = page.resource("alignment_page.css")
MOST_CELLS = 80
"""Rows and columns of a grid; what is longer is cut."""


def about(predictions: Sequence[TranslationPrediction | None]) -> str:
    """What the page shows and how it is read."""
    parts, real = [page.how_many(predictions, "text")], [p for p in predictions if p is not None]
    if any(prediction.best.attention for prediction in real):
        parts.append(
            "In a grid each row is a token that was written, each column one of the source. The colour of a "
            "cell is its attention; point at it for the number."
        )
    if any(len(prediction.translations) > 1 for prediction in real):
        parts.append("Below stand all translations with what they were ranked by; the grid is of the first.")
    if any(prediction.unknown for prediction in real):
        parts.append("A dotted line is under words that the network does not know.")
    return " ".join(parts)


def article(prediction: TranslationPrediction) -> str:
    """One source, its translations, and what the first was made from."""
    best = prediction.best
    source = " ".join(_source(prediction, number) for number in range(len(prediction.source)))
    head = (
        f'<header><div><h2 class="said" dir="auto">{text(best.text) or "(nothing)"}</h2>\n'
        f'<p class="verdict" dir="auto">{source}</p></div>\n'
        f'<p class="verdict">log-probability {best.log_prob:.3f}</p></header>'
    )
    parts = [head, _grid(prediction, best) if best.attention else "", _nbest(prediction.translations)]
    return page.article("\n".join(filter(None, parts)))


def _source(prediction: TranslationPrediction, number: int) -> str:
    word = text(prediction.source[number])
    return f'<span class="u">{word}</span>' if number in prediction.unknown else word


def _grid(prediction: TranslationPrediction, best: Translated) -> str:
    columns = range(min(len(prediction.source), MOST_CELLS))
    heads = "".join(f'<th scope="col"><span>{_source(prediction, s)}</span></th>' for s in columns)
    lines = []
    for token, weights in list(zip(best.tokens, best.attention or (), strict=True))[:MOST_CELLS]:
        cells = (
            f'<td data-weight="{weight!r}" data-tip="{text(word)} → {text(token)} {weight:.3f}" '
            f'style="--v:{weight:.3f}"></td>'
            for word, weight in zip(prediction.source[:MOST_CELLS], weights, strict=False)
        )
        lines.append(f'<tr><th scope="row">{text(token)}</th>{"".join(cells)}</tr>')
    longest = max(len(prediction.source), len(best.tokens))
    cut = f'<p class="verdict">cut to {MOST_CELLS} tokens</p>' if longest > MOST_CELLS else ""
    table = f'<table class="alignment"><thead><tr><td></td>{heads}</tr></thead><tbody>\n' + "\n".join(lines)
    return f'<div class="grid">{table}\n</tbody></table></div>{cut}'


def _nbest(translations: Sequence[Translated]) -> str:
    if len(translations) < 2:
        return ""
    items = (
        f'<li dir="auto"><span class="score">{one.score:.4f}</span>{text(one.text) or "(nothing)"}</li>'
        for one in translations
    )
    return '<ol class="nbest">\n' + "\n".join(items) + "\n</ol>"
