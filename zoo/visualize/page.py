"""A page without server, script or anything to load: an article for each input. Texts stay texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from zoo.visualize.printable import shown

TITLE = "What the network attended to"


def html(about: str, articles: Sequence[str | None], *, title: str = TITLE, choice: str = "", style: str = "") -> str:
    """The page: `about` in plain words, a `choice` of displays, and the articles; one that is None is a blank input.

    `style` is CSS for what the articles hold, behind that of every page: page.html has the colours (`--attention`,
    `--ink`, ...), and shows an element's `data-tip` where one points at it.
    """
    return Template(resource("page.html")).substitute(
        title=text(title),
        style=style,
        about=text(about),
        choice=choice,
        articles="\n".join(article("<p>(blank)</p>", kind="blank") if one is None else one for one in articles),
    )


def resource(name: str) -> str:
    """A file that stands beside this one."""
    return files("zoo.visualize").joinpath(name).read_text("utf-8")


def text(words: str) -> str:
    """`words` as HTML."""
    return escape(shown(words))


def article(content: str, *, kind: str = "", **data: str) -> str:
    """One input and what the network says of it; `content` is HTML, `data` are texts for programs that read the page:
    label="good" is written as data-label="good"."""
    attributes = f" class={kind}" * bool(kind) + "".join(f' data-{name}="{text(data[name])}"' for name in data)
    return f"<article{attributes}>\n{content}\n</article>"


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
