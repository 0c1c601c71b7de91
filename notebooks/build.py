"""python notebooks/build.py [NAME ...]: runs the percent scripts of this folder and saves their outputs in .ipynb."""

from __future__ import annotations

import base64
import io
import sys
from pathlib import Path

import jupytext
import nbclient
import nbformat
from PIL import Image

FOLDER = Path(__file__).resolve().parent
LARGE, WIDEST = 40_000, 900
"""Bytes up to which a picture stays a PNG, and the greatest width in pixels of larger ones."""


def build(name: str) -> None:
    """Executes `name`.py and writes `name`.ipynb next to it."""
    notebook = jupytext.read(FOLDER / f"{name}.py")
    nbclient.NotebookClient(notebook, timeout=None, resources={"metadata": {"path": str(FOLDER.parent)}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of this machine
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]  # progress bars
            for output in cell.outputs:
                if "image/png" in output.get("data", {}):
                    output["data"].update(smaller(output["data"].pop("image/png")))
    nbformat.write(notebook, FOLDER / f"{name}.ipynb")


def smaller(picture: str) -> dict[str, str]:
    """Reduce a PNG in base64 to 128 colours, which is enough for plots; return it by its type.

    A picture that remains large, because it has textures, becomes a JPEG of at most WIDEST pixels.
    """
    with Image.open(io.BytesIO(base64.b64decode(picture))) as opened:
        image = opened.convert("RGB")
    buffer = io.BytesIO()
    image.quantize(128).save(buffer, format="PNG", optimize=True)
    kind = "image/png"
    if buffer.tell() > LARGE:
        buffer, kind = io.BytesIO(), "image/jpeg"
        image.thumbnail((WIDEST, image.height), Image.Resampling.LANCZOS)
        image.save(buffer, format="JPEG", quality=80, optimize=True)
    return {kind: base64.b64encode(buffer.getvalue()).decode()}


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.py") if path.name != "build.py"):
        build(name)
