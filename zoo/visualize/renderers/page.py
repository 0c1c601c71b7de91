"""Write the blocks of answers as a page without server, script or anything to load: one article per input."""

from collections.abc import Mapping, Sequence
from functools import singledispatch
from importlib.resources import files
from string import Template

from zoo.visualize.blocks import WEIGHINGS, Beside, Block, Classes, Drawn, Grid, Head, Note, Passage, Rows, flat
from zoo.visualize.renderers.svg import attributes, svg, text

MOST_SENTENCES, MOST_CELLS = 150, 100
LONGEST_UPRIGHT = 3
"""Letters of column names that are all written upright."""


def page(title: str, about: str, answers: Sequence[Sequence[Block] | None]) -> str:
    """Return the page.

    Args:
        title: the heading.
        about: a sentence at the top, before those that explain the blocks.
        answers: the blocks of each input; None for a blank input.
    """
    blocks = [block for answer in answers if answer for block in flat(answer)]
    choice = any(isinstance(block, Passage) and block.choice and block.shades() for block in blocks)
    explained = dict.fromkeys(key.long for block in blocks for key in block.keys if key.long)
    folder = files("zoo.visualize.renderers")
    return Template(folder.joinpath("page.html").read_text("utf-8")).substitute(
        title=text(title),
        style=folder.joinpath("page.css").read_text("utf-8"),
        about=text(" ".join([about, *explained])),
        choice=_choice() if choice else "",
        articles="\n".join(map(article, answers)),
    )


def article(blocks: Sequence[Block] | None) -> str:
    """One input with its answer; None is a blank input."""
    if blocks is None:
        return "<article class=blank>\n<p>(blank)</p>\n</article>"
    data = next((attributes(block.data) for block in blocks if isinstance(block, Head)), "")
    return "\n".join([f"<article{data}>", *map(html, blocks), "</article>"])


def small(words: str) -> str:
    """A line of small letters; nothing without words."""
    return f'<p class="verdict" dir="auto">{text(words)}</p>' if words else ""


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
    under = [f"probability {block.probability:.3f}"] if block.probability is not None else []
    under += [text(block.under)] if block.under else []
    if block.truth is not None:
        truth = text(" ".join(filter(None, block.truth)))
        judged = {True: '<span class="right">{} ✓</span>', False: '<span class="wrong">{} ✗</span>', None: "{}"}
        under.append(judged[block.right].format(truth))
    parts = [
        small(block.above),
        f'<h2{kind} dir="auto">{letters or text(block.text) or "(nothing)"}</h2>',
        f'<p class="verdict" dir="auto">{" · ".join(under)}</p>' if under else "",
        *map(small, block.notes),
    ]
    return f"<header><div>{''.join(parts)}</div>{_classes(block.classes) if block.classes else ''}</header>"


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
    return "\n".join(['\n<table class="classes"><tbody>', *rows, "</tbody></table>"])


# Passages


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
    bars, lines = block.bars, []
    ways = {name: name for name in WEIGHINGS} if block.choice else {"paper": block.weighing}
    shades = {name: rows for name, way in ways.items() if (rows := block.shades(way))}
    for s, sentence in enumerate(block.sentences):
        words = " ".join(_word(block, s, i, shades) for i in range(len(sentence.words)))
        margin = ""
        if bars is not None:
            bar = f'<span class="bar" style="--v:{bars[s]:.4f}"></span>'
            margin = f'<span class="weight" data-weight="{sentence.weight!r}">{sentence.weight:.3f}{bar}</span>'
        lines.append(f'<li>{margin}<p class="words" dir="auto">{words}</p></li>')
    kinds = " ".join(["sentences", *["bare"] * (bars is None), *["titled"] * bool(block.title)])
    return "\n".join([f'<ol class="{kinds}">', *(lines or ['<li><p class="words">(no words)</p></li>']), "</ol>"])


def _word(block: Passage, s: int, i: int, shades: Mapping[str, Sequence[Sequence[float]]]) -> str:
    """Word i of sentence s, with its shade for each way to weigh words."""
    sentence = block.sentences[s]
    word, unknown, evident = text(sentence.words[i]), i in sentence.unknown, block.evidence and block.evidence[s][i]
    kinds = " ".join(["w"] * (sentence.word_weights is not None) + ["e"] * bool(evident) + ["u"] * unknown)
    if sentence.word_weights is None:
        return f'<span class="{kinds}">{word}</span>' if kinds else word
    weight = sentence.word_weights[i]
    style = ";".join(f"--{name}-v:{rows[s][i]:.3f}" for name, rows in shades.items())
    tip = f"word {weight:.4g}"
    if sentence.weight is not None:
        tip += f" × sentence {sentence.weight:.4g} = {weight * sentence.weight:.4g} of the document"
    tip += "; unknown to the network" * unknown
    return f'<span class="{kinds}" data-weight="{weight!r}" data-tip="{tip}" style="{style}">{word}</span>'


# Grids


@html.register
def _(block: Grid) -> str:
    """A table; the names of tokens are before their row, and sentences after it."""
    grid = block.cut(MOST_SENTENCES if block.sentences else MOST_CELLS, MOST_CELLS)
    rows = [
        (_known(name, grid), "".join(_cell(grid, r, c, weight) for c, weight in enumerate(weights)), "")
        for r, (name, weights) in enumerate(zip(grid.rows, grid.weights, strict=True))
    ]
    if grid.rest is not None:
        cells = "".join(_cell(grid, -1, c, weight) for c, weight in enumerate(grid.rest))
        rows.append(("(empty memory)", cells, ' class="rest"'))
    if grid.asked:
        rows.append((_known(grid.asked, grid), "<td></td>" * len(grid.columns), ' class="question"'))
    lines = []
    for name, cells, kind in rows:
        row = f'{cells}<td class="name" dir="auto">{name}</td>'
        if not grid.sentences:
            row = f'<th scope="row" dir="auto">{name}</th>{cells}'
        lines.append(f"<tr{kind}>{row}</tr>")
    head = ""
    if grid.columns:
        upright = grid.sentences or all(len(name) <= LONGEST_UPRIGHT for name in grid.columns)
        names = "".join(f'<th scope="col"><span>{_known(name, grid)}</span></th>' for name in grid.columns)
        row = f"{names}<th></th>" if grid.sentences else f"<td></td>{names}"
        head = f"<thead{'' if upright else ' class=turned'}><tr>{row}</tr></thead>"
    kind = "cells numbered" if grid.sentences else "cells"
    table = "\n".join([f'<table class="{kind}">{head}<tbody>', *lines, "</tbody></table>"])
    return f'<div class="scrolled">{table}</div>{small(grid.note and f"… {grid.note}")}'


def _cell(grid: Grid, row: int, column: int, weight: float) -> str:
    kinds = ["weight"] + ["best"] * ((row, column) in grid.strongest) + ["framed"] * ((row, column) in grid.true)
    number, tip = f"{weight:.2f}", ""
    if not grid.sentences:
        number, tip = "", f' data-tip="{text(grid.columns[column])} → {text(grid.rows[row])} {weight:.3f}"'
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
def _(block: Rows) -> str:
    lines = []
    for row in [*[block.titles] * bool(block.titles), *block.rows]:
        first, *others = (text(str(cell)) for cell in row)
        cells = "".join(f'<td dir="auto">{cell}</td>' for cell in others)
        lines.append(f'<tr><th scope="row">{first}</th>{cells}</tr>')
    return "\n".join(['<table class="rows"><tbody>', *lines, "</tbody></table>"])


@html.register
def _(block: Note) -> str:
    return small(block.text)


@html.register
def _(block: Beside) -> str:
    return f'<div class="beside"><div>{html(block.left)}</div><div>{html(block.right)}</div></div>'


@html.register
def _(block: Drawn) -> str:
    return "\n".join([svg(block.drawing), *map(small, block.drawing.notes)])
