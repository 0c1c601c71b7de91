"""python notebooks/build.py [NAME ...]: runs the percent scripts of this folder and saves their outputs in .ipynb.

With --colab OWNER/NAME nothing is run. Every notebook gets two cells at its top: a badge that opens it in Colab from
this repository on GitHub, and a cell that installs the package there.
"""

from __future__ import annotations

import argparse
import base64
import io
from pathlib import Path

import jupytext
import nbclient
import nbformat
from PIL import Image

FOLDER = Path(__file__).resolve().parent
LARGE, WIDEST = 40_000, 900
"""Bytes up to which a picture stays a PNG, and the greatest width in pixels of larger ones."""
COLAB = "https://colab.research.google.com"
INSTALL = """\
import importlib.util
import sys

if "google.colab" in sys.modules and importlib.util.find_spec("zoo") is None:
    %pip install --quiet git+https://github.com/"""


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
    path = FOLDER / f"{name}.ipynb"
    kept = nbformat.read(path, as_version=4).cells if path.exists() else []
    notebook.cells = [*filter(is_for_colab, kept), *notebook.cells]
    nbformat.write(notebook, path)


def for_colab(name: str, repository: str) -> list[nbformat.NotebookNode]:
    """The badge that opens `name`.ipynb of a `repository` (owner/name) in Colab, and the cell that installs its package
    there."""
    link = f"{COLAB}/github/{repository}/blob/main/notebooks/{name}.ipynb"
    badge = nbformat.v4.new_markdown_cell(f"[![Open in Colab]({COLAB}/assets/colab-badge.svg)]({link})", id="badge")
    install = nbformat.v4.new_code_cell(INSTALL + repository, id="install")
    for cell in (badge, install):
        cell.metadata["tags"] = ["colab"]
    return [badge, install]


def add_colab(path: Path, repository: str) -> None:
    """Put the cells of `for_colab` at the top of a notebook, instead of those that it has."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [*for_colab(path.stem, repository), *(cell for cell in notebook.cells if not is_for_colab(cell))]
    nbformat.write(notebook, path)


def is_for_colab(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell is one of those of `for_colab`."""
    return "colab" in cell.metadata.get("tags", ())


def main() -> None:
    """Run the command line."""
    names = sorted(path.stem for path in FOLDER.glob("*.py") if path.name != "build.py")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*names, []], metavar="NAME", help="by default all")
    parser.add_argument("--colab", metavar="OWNER/NAME", help="only add cells for Colab, for this GitHub repository")
    options = parser.parse_args()
    for name in options.names or names:
        if options.colab:
            add_colab(FOLDER / f"{name}.ipynb", options.colab)
        else:
            build(name)


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
    main()
