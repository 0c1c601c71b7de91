"""Write the blocks of answers as a page without server, script or anything to load: one article per input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch
from html import escape
from importlib.resources import files
from string import Template

from zoo.visualize.blocks import (
    Beside,
    Block,
    Classes,
    Drawn,
    Facts,
    Grid,
    Head,
    Note,
    Passage,
    Ranked,
    Sentence,
    flat,
    page_keys,
)
from zoo.visualize.printable import shown
from zoo.visualize.renderers.svg import svg
from zoo.visualize.texts.weighing import WEIGHINGS

MOST_SENTENCES, MOST_CELLS = 150, 100
LONGEST_UPRIGHT = 3
"""Letters of column names that are all written upright."""


def page(title: str, about: Iterable[str], answers: Sequence[Sequence[Block] | None]) -> str:
    """Return the page.

    Args:
        title: the heading.
        about: sentences at the top, before those that explain the blocks.
        answers: the blocks of each input; None for a blank input.
    """
    blocks = [block for answer in answers if answer for block in flat(answer)]
    choice = any(isinstance(block, Passage) and block.choice and block.shades() for block in blocks)
    return Template(resource("page.html")).substitute(
        title=text(title),
        style=resource("page.css"),
        about=text(" ".join([*about, *page_keys(blocks)])),
        choice=_choice() if choice else "",
        articles="\n".join(map(article, answers)),
    )


def resource(name: str) -> str:
    """A file beside this one."""
    return files("zoo.visualize.renderers").joinpath(name).read_text("utf-8")


def text(words: str) -> str:
    """`words` as HTML."""
    return escape(shown(words))


def article(blocks: Sequence[Block] | None) -> str:
    """One input with its answer; None is a blank input."""
    if blocks is None:
        return "<article class=blank>\n<p>(blank)</p>\n</article>"
    head = next((block for block in blocks if isinstance(block, Head)), None)
    data = "" if head is None else attributes(head.data)
    return f"<article{data}>\n" + "\n".join(map(html, blocks)) + "\n</article>"


def attributes(data: Mapping[str, str]) -> str:
    """Data attributes of an element: label="good" is written as data-label="good"."""
    return "".join(f' data-{name}="{text(value)}"' for name, value in data.items())


@singledispatch
def html(block: Block) -> str:
    """Return a block as HTML; a block that pages do not show is empty."""
    return ""


@html.register
def _(block: Head) -> str:
    letters = "".join(
        f'<span class="wrong">{text(letter)}</span>' if bad else text(letter)
        for letter, bad in zip(block.text, block.wrong, strict=bool(block.wrong))
    )
    kind = ' class="code"' if block.wrong else ""
    judged = {True: "right", False: "wrong", None: ""}[block.right]
    under = [f"probability {block.probability:.3f}"] if block.probability is not None else []
    under += [text(block.under)] if block.under else []
    if block.truth is not None:
        truth = text(" ".join(filter(None, block.truth))) + {True: " ✓", False: " ✗", None: ""}[block.right]
        under.append(f'<span class="{judged}">{truth}</span>' if judged else truth)
    parts = [f'<p class="verdict" dir="auto">{text(block.above)}</p>' if block.above else ""]
    parts.append(f'<h2{kind} dir="auto">{(letters if block.wrong else text(block.text)) or "(nothing)"}</h2>')
    parts.append(f'<p class="verdict" dir="auto">{" · ".join(under)}</p>' if under else "")
    parts += [f'<p class="verdict">{text(note)}</p>' for note in block.notes]
    table = "" if block.classes is None else f"\n{_classes(block.classes)}"
    return f"<header><div>{''.join(parts)}</div>{table}</header>"


def _classes(classes: Classes) -> str:
    """A table of the classes with their probabilities as bars."""
    rows = []
    for name, p in classes.probabilities.items():
        mark = classes.marks.get(name)
        swatch = "" if mark is None else f'<i style="background:{mark.colour};color:{mark.ink}">{text(mark.drawn)}</i>'
        kind = " class=predicted" if name == classes.chosen else ""
        rows.append(
            f'<tr{kind} data-probability="{p!r}"><th scope="row" dir="auto">{swatch}{text(name)}</th><td>{p:.3f}</td>'
            f'<td><span class="bar" style="--v:{p:.4f}"></span></td></tr>'
        )
    return '<table class="classes"><tbody>\n' + "\n".join(rows) + "\n</tbody></table>"


# Passage


def _choice() -> str:
    """A switch between the ways to weigh words."""
    options = "\n".join(
        f'<label><input type="radio" name="by" id="by-{name}"{" checked" if name == "paper" else ""}> '
        f"{way.title} <small>({way.formula})</small></label>"
        for name, way in WEIGHINGS.items()
    )
    scale = '<span class="scale">none <i></i> the document\'s strongest</span>'
    return f'<fieldset class="choice"><legend>Words by</legend>\n{options}\n{scale}</fieldset>'


@html.register
def _(block: Passage) -> str:
    bars, ways = block.bars, WEIGHINGS if block.choice else [block.weighing]
    shades = {name: rows for name in ways if (rows := block.shades(name))}
    lines = []
    for s, sentence in enumerate(block.sentences):
        marked = [False] * len(sentence.words) if block.evidence is None else block.evidence[s]
        strengths = {name if block.choice else "paper": rows[s] for name, rows in shades.items()}
        words = " ".join(_word(sentence, i, strengths, marked[i]) for i in range(len(sentence.words)))
        margin = ""
        if bars is not None:
            margin = (
                f'<span class="weight" data-weight="{sentence.weight!r}">{sentence.weight:.3f}'
                f'<span class="bar" style="--v:{bars[s]:.4f}"></span></span>'
            )
        lines.append(f'<li>{margin}<p class="words" dir="auto">{words}</p></li>')
    kinds = " ".join(["sentences", *["bare"] * (bars is None), *["titled"] * bool(block.title)])
    inside = "\n".join(lines or ['<li><p class="words">(no words)</p></li>'])
    return f'<ol class="{kinds}">\n{inside}\n</ol>'


def _word(sentence: Sentence, i: int, strengths: dict[str, list[float]], evident: bool) -> str:
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


# Grid


@html.register
def _(block: Grid) -> str:
    grid = block.cut(MOST_SENTENCES if block.sentences else MOST_CELLS, MOST_CELLS)
    upright = block.sentences or all(len(name) <= LONGEST_UPRIGHT for name in grid.columns)
    heads = "".join(f'<th scope="col"><span>{_known(name, grid)}</span></th>' for name in grid.columns)
    lines = ["<tbody>"]
    if grid.columns:
        row = f"{heads}<th></th>" if grid.sentences else f"<td></td>{heads}"
        lines = [f"<thead{'' if upright else ' class=turned'}><tr>{row}</tr></thead>", *lines]
    for r, (name, weights) in enumerate(zip(grid.rows, grid.weights, strict=True)):
        cells = "".join(_cell(grid, r, c, weight) for c, weight in enumerate(weights))
        if grid.sentences:
            lines.append(f'<tr>{cells}<td class="name" dir="auto">{_known(name, grid)}</td></tr>')
        else:
            lines.append(f'<tr><th scope="row" dir="auto">{_known(name, grid)}</th>{cells}</tr>')
    if grid.rest is not None:
        cells = "".join(_cell(grid, -1, c, weight) for c, weight in enumerate(grid.rest))
        lines.append(f'<tr class="rest">{cells}<td class="name">(empty memory)</td></tr>')
    if grid.asked:
        nothing = "<td></td>" * len(grid.columns)
        lines.append(f'<tr class="question">{nothing}<td class="name" dir="auto">{_known(grid.asked, grid)}</td></tr>')
    note = f'<p class="verdict">… {text(grid.note)}</p>' if grid.note else ""
    kind = "cells numbered" if grid.sentences else "cells"
    return f'<div class="scrolled"><table class="{kind}">' + "\n".join(lines) + f"\n</tbody></table></div>{note}"


def _cell(grid: Grid, row: int, column: int, weight: float) -> str:
    kinds = ["weight"] + ["best"] * ((row, column) in grid.strongest) + ["framed"] * ((row, column) in grid.true)
    tip = ""
    if not grid.sentences:
        tip = f' data-tip="{text(grid.columns[column])} → {text(grid.rows[row])} {weight:.3f}"'
    number = f"{weight:.2f}" if grid.sentences else ""
    strength = max(0.0, min(1.0, weight))
    return f'<td class="{" ".join(kinds)}" data-weight="{weight!r}"{tip} style="--v:{strength:.3f}">{number}</td>'


def _known(words: str, grid: Grid) -> str:
    """`words` as HTML, dotted under those that the network does not know."""
    if not any(word in words for word in grid.unknown):
        return text(words)
    parts = (f'<span class="u">{text(word)}</span>' if word in grid.unknown else text(word) for word in words.split())
    return " ".join(parts)


# The others


@html.register
def _(block: Ranked) -> str:
    items = (
        f'<li dir="auto"><span class="score">{text(score)}</span>{text(words) or "(nothing)"}</li>'
        for score, words in block.items
    )
    return '<ol class="ranked">\n' + "\n".join(items) + "\n</ol>"


@html.register
def _(block: Facts) -> str:
    cells = (
        f'<tr><th scope="row">{text(name)}</th><td dir="auto">{text(str(value))}</td></tr>'
        for name, value in block.pairs
    )
    return '<table class="rows"><tbody>\n' + "\n".join(cells) + "\n</tbody></table>"


@html.register
def _(block: Note) -> str:
    return f'<p class="verdict">{text(block.text)}</p>'


@html.register
def _(block: Beside) -> str:
    return f'<div class="beside"><div>{html(block.left)}</div><div>{html(block.right)}</div></div>'


@html.register
def _(block: Drawn) -> str:
    return svg(block.page)


def how_many(count: int, blank: int, noun: str) -> str:
    """`2 texts, 1 blank.`"""
    return f"{count} {noun}{f', {blank} blank' if blank else ''}."
