"""Write the blocks of answers as a page without server, script or anything to load: one article per input.

The HTML is in page.html and blocks.html, templates of jinja2.
"""

from collections.abc import Iterator, Sequence
from functools import cache, partial, singledispatch
from math import ceil
from typing import Any

import numpy as np
from rich.cells import cell_len

from zoo.printable import shortened, shown
from zoo.visualize.blocks import WEIGHINGS, Beside, Block, Columns, Drawn, Grid, Head, Note, Passage, Rows, flat
from zoo.visualize.drawing import PALETTE, STYLES, THEME, Drawing, Raster

TIP_LINE, TIP_AROUND, TIP_LETTERS = 18.2, 29, 30  # Pixels of a line of facts and around them; letters of a line
LONGEST_FACT = 120
VISIBLE = 0.01  # Weaker cells are not written


def page(title: str, about: str, answers: Sequence[Sequence[Block] | None]) -> str:
    """Return the page: a title, a sentence `about` it, and the blocks of each input, which are None for a blank one."""
    blocks = [block for answer in answers if answer for block in flat(answer)]
    choice = any(isinstance(block, Passage) and block.choice and block.shades() for block in blocks)
    about = " ".join([about, *dict.fromkeys(key.long for block in blocks for key in block.keys if key.long)])
    policy = "".join(f"; {more}" for more in dict.fromkeys(block.policy for block in blocks if block.policy))
    return template("page.html").render(
        title=title, about=about, answers=answers, weighings=WEIGHINGS if choice else {}, policy=policy
    )


def template(name: str) -> Any:
    """Return a template of this folder, with the colours of the theme."""
    return _templates().get_template(name)


@singledispatch
def html(block: Block) -> str:
    """Return a block as HTML; a block that pages do not show is empty."""
    return ""


def macro(name: str, *given: Any) -> str:
    """Return the HTML that a macro of blocks.html makes."""
    return str(getattr(template("blocks.html").module, name)(*given))


for kind in (Beside, Columns, Drawn, Grid, Head, Note, Passage, Rows):
    html.register(kind, partial(macro, kind.__name__))


@cache
def _templates() -> Any:
    """The templates; they escape all texts."""
    from jinja2 import Environment, PackageLoader  # late, since most answers are for the terminal

    made = Environment(
        loader=PackageLoader("zoo.visualize", "renderers"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: shown(value) if type(value) is str else value,
    )
    filters: dict[str, Any] = {
        "channels": lambda colour: " ".join(map(str, bytes.fromhex(colour[1:]))),
        "color": color,
        "fixed": lambda value, digits=1: f"{value:.{digits}f}",
    }
    made.filters |= filters
    made.globals |= {"cells": _cells, "html": html, "places": _places, "styles": STYLES, "theme": THEME["colours"]}
    return made


def color(name: str) -> str:
    """Return the CSS of a colour of the theme, or another colour as it is."""
    if name == "attention":
        return "rgb(var(--attention))"
    return f"var(--{name})" if name in PALETTE else name


def _places(drawing: Drawing) -> list[dict[str, Any]]:
    """Return the spots with their facts: whether these fit above the spot, and where they would end below it."""
    found = []
    for spot in drawing.spots:
        facts = [shortened(fact, LONGEST_FACT) for fact in spot.facts]
        room = TIP_AROUND + TIP_LINE * sum(ceil(cell_len(fact) / TIP_LETTERS) for fact in facts)
        found.append({"spot": spot, "facts": facts, "low": spot.y > room, "bottom": spot.y + room})
    return found


def _cells(raster: Raster) -> Iterator[tuple[float, float, float, float, str, float]]:
    """Yield the place, the size, the colour and the opacity of each cell."""
    rows, columns = raster.values.shape
    wide, high = raster.width / max(1, columns), raster.height / max(1, rows)
    strengths = np.nan_to_num(np.abs(raster.values)) / raster.most
    for r, c in np.argwhere(strengths >= VISIBLE).tolist():
        color = "attention" if not raster.signed else "ink" if raster.values[r, c] > 0 else "true"
        yield raster.left + c * wide, raster.top + r * high, wide, high, color, min(1.0, strengths[r, c])
