"""Write a drawing as SVG, with places over it that a reader can point at or reach by the tab key."""

from collections.abc import Iterator, Mapping
from html import escape
from math import ceil

import numpy as np
from rich.cells import cell_len

from zoo.visualize.drawing import PALETTE, STYLES, Drawing, Label, Raster, Shape
from zoo.visualize.printable import shortened, shown

WIDEST = 900
"""Pixels of a drawing that a page of full width shows without scrolling."""
TIP_LINE, TIP_AROUND, TIP_LETTERS = 18.2, 29, 30
"""Pixels of a line of facts and around them, and letters of a line at least."""
LONGEST_FACT = 120
VISIBLE = 0.01
"""Weaker cells are not written."""
ANCHORS = {"left": "start", "center": "middle", "right": "end"}


def text(words: str) -> str:
    """`words` as HTML."""
    return escape(shown(words))


def attributes(data: Mapping[str, str]) -> str:
    """Data attributes of an element: label="good" is written as data-label="good"."""
    return "".join(f' data-{name}="{text(value)}"' for name, value in data.items())


def svg(drawing: Drawing) -> str:
    """Return the drawing as HTML, without its pictures."""
    width, height, needed, places = f"{drawing.width:.0f}", f"{drawing.height:.0f}", 0.0, []
    for spot in drawing.spots:
        facts = [shortened(fact, LONGEST_FACT) for fact in spot.facts]
        room = TIP_AROUND + TIP_LINE * sum(ceil(cell_len(fact) / TIP_LETTERS) for fact in facts)
        low = spot.y > room  # the facts fit above the place
        needed = needed if low else max(needed, spot.y + room)
        kind = "spot" + " late" * (spot.x > drawing.width / 2) + " low" * low
        label = f'aria-label="{"&#10;".join(map(text, facts))}"{attributes(spot.data)}'
        style = f"left:{spot.x:.1f}px;top:{spot.y:.1f}px"
        places.append(f'<span class="{kind}" role="img" tabindex="0" style="{style}" {label}></span>')
    wide = drawing.width > WIDEST
    kind = "drawn" + " wide" * wide + " still" * (not drawing.spots)
    name = f' aria-label="{text(drawing.spoken)}"' if drawing.spoken else ""
    return "\n".join(
        [
            f'<div class="{kind}" style="min-height:{0 if wide else needed:.0f}px">',
            f'<div style="width:{width}px;height:{height}px">',
            f'<svg role="img"{name} width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
            *(rectangle for part in drawing.rasters if part.values.ndim == 2 for rectangle in _cells(part)),
            *(_group(kind, drawing.shapes[kind]) for kind in STYLES if drawing.shapes.get(kind)),
            *map(_label, drawing.labels),
            "</svg>",
            *places,
            "</div></div>",
        ]
    )


def _color(name: str) -> str:
    if name == "attention":
        return "rgb(var(--attention))"
    return f"var(--{name})" if name in PALETTE else name


def _group(kind: str, shapes: list[Shape]) -> str:
    """All shapes of one kind."""
    style = STYLES[kind]
    painted = [f"fill:{_color(style.fill)}"]
    if style.stroke != "none":
        painted += [f"stroke:{_color(style.stroke)}", f"stroke-width:{style.width:g}"]
    if style.dash is not None:
        painted.append("stroke-dasharray:" + " ".join(f"{part * style.width:g}" for part in style.dash))
    return f'<g class="{kind}" style="{";".join(painted)}">{"".join(map(_shape, shapes))}</g>'


def _shape(shape: Shape) -> str:
    fill = "" if shape.fill is None else f' style="fill:{_color(shape.fill)}"'
    if shape.form == "disc":
        (x, y), radius = shape.points[0], shape.size[0]
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.2f}"{fill}/>'
    if shape.form == "box":
        (left, top), (width, height, *corner) = shape.points[0], shape.size
        round_ = f' rx="{corner[0]:g}"' if corner else ""
        return f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"{round_}{fill}/>'
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
    return f'<{"polygon" if shape.form == "area" else "polyline"} points="{points}"{fill}/>'


def _label(label: Label) -> str:
    turned = f' transform="rotate({-label.turned:g} {label.x:.1f} {label.y:.1f})"' if label.turned else ""
    bold = ";font-weight:700" * label.bold
    style = f"fill:{_color(label.color)};font-size:{label.size:g}px;text-anchor:{ANCHORS[label.side]}{bold}"
    return f'<text x="{label.x:.1f}" y="{label.y:.1f}"{turned} style="{style}">{text(label.text)}</text>'


def _cells(cells: Raster) -> Iterator[str]:
    """Cells as rectangles, the darker the larger the number."""
    rows, columns = cells.values.shape
    wide, high = cells.width / max(1, columns), cells.height / max(1, rows)
    place = f'x="{cells.left:.1f}" y="{cells.top:.1f}" width="{cells.width:.1f}" height="{cells.height:.1f}"'
    yield f'<rect {place} style="fill:var(--page);stroke:var(--line)"/>'
    strengths = np.nan_to_num(np.abs(cells.values)) / cells.most
    for r, c in np.argwhere(strengths >= VISIBLE).tolist():
        color = "attention" if not cells.signed else "ink" if cells.values[r, c] > 0 else "true"
        at = f'x="{cells.left + c * wide:.2f}" y="{cells.top + r * high:.2f}" width="{wide:.2f}" height="{high:.2f}"'
        yield f'<rect {at} style="fill:{_color(color)}" fill-opacity="{min(1.0, strengths[r, c]):.3f}"/>'
