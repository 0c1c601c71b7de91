"""A page without server, script or anything to load: an article for each input. Texts stay texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from zoo.visualize.printable import shown

TITLE = "What the network attended to"


def html(about: str, articles: Sequence[str | None], *, title: str = TITLE, choice: str = "") -> str:
    """The page: `about` in plain words, a `choice` of displays, and the articles; one that is None is a blank input."""
    return Template(files("zoo.visualize").joinpath("page.html").read_text("utf-8")).substitute(
        title=text(title),
        about=text(about),
        choice=choice,
        articles="\n".join(article("<p>(blank)</p>", kind="blank") if one is None else one for one in articles),
    )


def text(words: str) -> str:
    """`words` as HTML."""
    return escape(shown(words))


def article(content: str, *, kind: str = "") -> str:
    """One input and what the network says of it; `content` is HTML."""
    return f"<article{f' class={kind}' if kind else ''}>\n{content}\n</article>"


def rows(pairs: Iterable[tuple[str, Any]]) -> str:
    """Names and values side by side."""
    cells = (
        f'<tr><th scope="row">{text(name)}</th><td dir="auto">{text(str(value))}</td></tr>' for name, value in pairs
    )
    return '<table class="rows"><tbody>\n' + "\n".join(cells) + "\n</tbody></table>"


def how_many(predictions: Sequence[Any | None], noun: str) -> str:
    """`2 texts, 1 blank.`"""
    there = sum(prediction is not None for prediction in predictions)
    blank = f", {len(predictions) - there} blank" if there < len(predictions) else ""
    return f"{there} {noun}{'' if there == 1 else 's'}{blank}."
