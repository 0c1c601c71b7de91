"""Every notebook runs from top to bottom on a small setting, and its kept outputs belong to its source."""

import json
import sys
from pathlib import Path

import jupytext
import nbclient
import nbformat
import pytest

from notebooks.build import REPOSITORY, for_colab, is_for_colab

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
SOURCES = sorted(path for path in FOLDER.glob("*.py") if path.name != "build.py")


def cells(notebook):
    return [cell.source.strip() for cell in notebook.cells if not is_for_colab(cell)]


def test_there_are_notebooks():
    assert SOURCES


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_runs_from_top_to_bottom(source, tmp_path, monkeypatch):
    kernel = tmp_path / "jupyter/kernels/python3"
    kernel.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "Python 3", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.setenv("ZOO_NOTEBOOKS", "small")
    notebook = jupytext.read(source)
    notebook.cells = [*for_colab(source.stem), *notebook.cells]  # outside Colab they do nothing
    nbclient.NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(tmp_path)}}).execute()


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_kept_outputs_belong_to_the_source(source):
    kept = nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    assert cells(kept) == cells(jupytext.read(source)), f"build it again: python notebooks/build.py {source.stem}"
    code = [cell for cell in kept.cells if cell.cell_type == "code" and not is_for_colab(cell)]
    assert all(cell.execution_count for cell in code)
    assert any("image/png" in output.get("data", {}) for cell in code for output in cell.outputs)
    assert not [output for cell in code for output in cell.outputs if output.output_type == "error"]


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_badge_opens_the_notebook_in_colab_and_installs_the_package_there(source):
    badge, install = nbformat.read(source.with_suffix(".ipynb"), as_version=4).cells[:2]
    place = f"{REPOSITORY}/blob/main/{source.relative_to(FOLDER.parent).with_suffix('.ipynb').as_posix()}"
    assert badge.source.endswith(f"(https://colab.research.google.com/github/{place})")
    assert install.source.endswith(f"%pip install --quiet git+https://github.com/{REPOSITORY}")
    written_again = "write it again: python notebooks/build.py --colab"
    assert [badge, install] == for_colab(source.stem), written_again
