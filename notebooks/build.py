"""python notebooks/build.py [NAME ...]: runs the percent scripts of this folder and keeps them as .ipynb with their
outputs."""

from __future__ import annotations

import sys
from pathlib import Path

import jupytext
import nbclient
import nbformat

FOLDER = Path(__file__).resolve().parent


def build(name: str) -> None:
    """Executes `name`.py and writes `name`.ipynb beside it."""
    notebook = jupytext.read(FOLDER / f"{name}.py")
    nbclient.NotebookClient(notebook, timeout=None, resources={"metadata": {"path": str(FOLDER.parent)}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of this machine
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]  # progress bars
    nbformat.write(notebook, FOLDER / f"{name}.ipynb")


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.py") if path.name != "build.py"):
        build(name)
