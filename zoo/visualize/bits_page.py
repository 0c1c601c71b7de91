"""What was written to a sequence on a page: the words, and below them, over time, bits and memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from zoo.visualize import page
from zoo.visualize.bits_memory import WEIGHTINGS, Panel, memory_at_the_end, panels
from zoo.visualize.bits_text import verdict, wrong_letters
from zoo.visualize.page import text

if TYPE_CHECKING:
    from zoo.tasks.algorithmic import BitPrediction

STYLE = page.resource("bits_page.css")
CELL = 8
"""Pixels of the side of a cell."""
VISIBLE = 0.01
"""What is weaker is not drawn."""


def about(predictions: Sequence[BitPrediction | None]) -> str:
    """What the page shows and how it is read."""
    real = [p for p in predictions if p is not None]
    parts = [
        page.how_many(predictions, "sequence"),
        "Time goes from left to right; the darker a cell, the nearer to 1.",
    ]
    if any(p.error_bits for p in real):
        parts.append("Wrong bits are red.")
    if any(p.memory for p in real):
        parts.append("Below input and output stands what each head did; of the memory, the rows in use.")
    return " ".join(parts)


def article(prediction: BitPrediction) -> str:
    """One sequence, what was written to it, and how."""
    words = map(_word, prediction.written, prediction.truth or prediction.written)
    facts = f'<p class="said">{text(prediction.given)}</p>\n<h2 class="said">{prediction.separator.join(words)}</h2>'
    if said := verdict(prediction):
        facts += f'\n<p class="verdict">{text(said)}</p>'
    rows = "\n".join(
        f'<tr><th scope="row">{text(panel.name)}</th><td>{grid}</td></tr>' for panel, grid in _grids(prediction)
    )
    grids = f'<div class="bits"><table><tbody>\n{rows}\n</tbody></table></div>'
    return page.article(f"<header><div>{facts}</div></header>\n{grids}", written=prediction.line(prediction.written))


def _word(written: str, true: str) -> str:
    letters = zip(written, wrong_letters(written, true), strict=True)
    return "".join(f'<span class="w">{text(letter)}</span>' if wrong else text(letter) for letter, wrong in letters)


def _grids(prediction: BitPrediction) -> Iterator[tuple[Panel, str]]:
    """Each panel with what it looks like."""
    steps = prediction.scored.nonzero()[0].tolist()
    whole = len(prediction.scored)
    inputs = Panel("input", prediction.inputs.T)
    yield inputs, _grid(inputs.values, range(whole), whole)
    if prediction.targets is not None:
        target = Panel("target", prediction.targets.T)
        yield target, _grid(target.values, steps, whole)
    output = Panel("output", prediction.probabilities.T)
    yield output, _grid(output.values, steps, whole, wrong=None if prediction.wrong is None else prediction.wrong.T)
    for panel in panels(prediction):
        yield panel, _grid(panel.values, range(whole), whole, kind="weighting" if panel.of in WEIGHTINGS else "")
    if (memory := memory_at_the_end(prediction)) is not None:
        width = memory.values.shape[1]
        yield memory, _grid(memory.values, range(width), width)


def _grid(
    values: NDArray[Any], places: Sequence[int], width: int, *, kind: str = "", wrong: NDArray[Any] | None = None
) -> str:
    """Numbers (C, S) that stand at `places` (S,) of `width`; `wrong` (C, S) is framed."""
    most = max(1.0, float(abs(values).max(initial=0.0)))
    cells = []
    for row, at in zip(*(part.tolist() for part in (abs(values) >= VISIBLE).nonzero()), strict=True):
        names = " ".join(filter(None, [kind, "n" if values[row, at] < 0 else ""]))
        looks = f' class="{names}"' * bool(names) + f' fill-opacity="{abs(values[row, at]) / most:.3f}"'
        cells.append(f'<rect{looks} x="{places[at]}" y="{row}" width="1" height="1"/>')
    if wrong is not None:
        cells += [
            f'<rect class="wrong" x="{places[at] + 0.1}" y="{row + 0.1}" width=".8" height=".8"/>'
            for row, at in zip(*(part.tolist() for part in wrong.nonzero()), strict=True)
        ]
    size = f'width="{width * CELL}" height="{len(values) * CELL}" viewBox="0 0 {width} {len(values)}"'
    return f'<svg {size} role="img">{"".join(cells)}</svg>'
