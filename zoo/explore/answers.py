"""Answers as HTML for the explorer, and as files: a picture, a page and JSON."""

import base64
import io
import json
from collections.abc import Sequence
from html import escape

from zoo.errors import DataError
from zoo.explore.network import Answer
from zoo.printable import shown
from zoo.visualize.attention import attention_page
from zoo.visualize.blocks import Block, Note
from zoo.visualize.renderers.page import page
from zoo.visualize.view import AttentionMap

TYPES = {"png": "image/png", "html": "text/html", "json": "application/json"}


def shown_answers(answers: Sequence[Answer]) -> str:
    """Return the answers side by side. Each page is in a frame, in which no script of a text can run."""
    return f'<div class="answers">{"".join(map(_section, answers))}</div>'


def problem(message: str) -> str:
    """Return what is wrong with an input."""
    return f'<p class="problem" role="alert">{escape(shown(message))}</p>'


def _section(answer: Answer) -> str:
    name = escape(answer.network.name)
    parts = [_frame(page("", "", [answer.blocks]), f"answer of {answer.network.name}", "answer", "allow-same-origin")]
    for number, one in enumerate(answer.maps):
        opened = " open" if number == 0 else ""
        parts.append(f"<details{opened}><summary>Attention: {escape(one.name)}</summary>{_map(one)}</details>")
    return f'<section aria-label="{name}"><h3>{name}</h3>{"".join(parts)}</section>'


def _map(one: AttentionMap) -> str:
    try:
        return _frame(attention_page(one.weights, one.rows, one.columns, title=""), one.name, "map", "allow-scripts")
    except DataError as error:  # too large for a page
        return problem(str(error))


def _frame(html: str, title: str, kind: str, sandbox: str) -> str:
    """Return a frame that holds a page. Only the script of `attention_page` may run in it: each page has a policy."""
    return f'<iframe class="{kind}" title="{escape(title)}" sandbox="{sandbox}" srcdoc="{escape(html)}"></iframe>'


def files(answers: Sequence[Answer], values: Sequence[str]) -> dict[str, bytes]:
    """Return the files of the answers of networks for one task to the `values` of its form, by their endings."""
    from zoo.visualize.letters import missing_letters_silent
    from zoo.visualize.renderers.figure import draw

    first, *others = answers
    view, form = first.network.view, first.network.form
    named: list[list[Block]] = [[Note(answer.network.name), *answer.blocks] for answer in answers]
    content = {
        "input": {field.label: value for field, value in zip(form, values, strict=True)},
        "answers": {answer.network.name: view.as_json(answer.prediction) for answer in answers},
        "attention": {answer.network.name: [one._asdict() for one in answer.maps] for answer in answers},
    }
    figure = None if others else view.picture(first.prediction)
    picture = io.BytesIO()
    with missing_letters_silent():
        (figure or draw([block for blocks in named for block in blocks])).savefig(picture, format="png")
    return {
        "png": picture.getvalue(),
        "html": page(view.title, "", named).encode(),
        "json": json.dumps(content, ensure_ascii=False, default=lambda array: array.tolist()).encode(),
    }


def link(query: str) -> str:
    """Return the link to answers, whose address ends in `query`, with a button that copies it."""
    address = f'<a href="{escape(query)}">Link to this answer</a>'
    return f'<p class="links">{address} <button type="button" data-copy="{escape(query)}">Copy</button></p>'


def links(made: dict[str, bytes], name: str) -> str:
    """Return links that save the files, which they hold."""
    found = []
    for kind, content in made.items():
        data = f"data:{TYPES[kind]};base64,{base64.b64encode(content).decode()}"
        title = {"png": "Picture", "html": "Page", "json": "JSON"}[kind]
        found.append(f'<a href="{data}" download="{escape(name)}.{kind}">{title}</a>')
    return f'<p class="links downloads">Download: {" ".join(found)}</p>'
