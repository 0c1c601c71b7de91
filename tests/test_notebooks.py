"""Every notebook runs from top to bottom on a small setting, and its kept outputs belong to its source."""

import json
import shutil
import sys
from pathlib import Path

import jupytext
import nbclient
import nbformat
import pytest
from jupyter_client import KernelManager

from notebooks.build import add_colab, for_colab, is_for_colab

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
SOURCES = sorted(path for path in FOLDER.glob("*.py") if path.name != "build.py")


def cells(notebook):
    return [cell.source.strip() for cell in notebook.cells if not is_for_colab(cell)]


def test_there_are_notebooks():
    assert SOURCES


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A kernel for all notebooks: importing what they need takes longer than most of them."""
    folder = tmp_path_factory.mktemp("kernel")
    described = folder / "jupyter/kernels/python3"
    described.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    described.joinpath("kernel.json").write_text(
        json.dumps({"argv": command, "display_name": "Python 3", "language": "python"})
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder / "jupyter"))
        patch.setenv("ZOO_NOTEBOOKS", "small")
        manager = KernelManager(kernel_name="python3")
        manager.start_kernel(cwd=folder)
        yield manager
        manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_runs_from_top_to_bottom(source, kernel, tmp_path):
    notebook = jupytext.read(source)
    start = nbformat.v4.new_code_cell(f"%reset -f\n%cd -q {tmp_path}")  # no name of the notebook before
    notebook.cells = [start, *for_colab(source.stem, "owner/zoo"), *notebook.cells]  # outside Colab they do nothing
    nbclient.NotebookClient(notebook, km=kernel, timeout=240).execute()


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_kept_outputs_belong_to_the_source(source):
    kept = nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    assert cells(kept) == cells(jupytext.read(source)), f"build it again: python notebooks/build.py {source.stem}"
    code = [cell for cell in kept.cells if cell.cell_type == "code" and not is_for_colab(cell)]
    assert all(cell.execution_count for cell in code)
    assert any("image/png" in output.get("data", {}) for cell in code for output in cell.outputs)
    assert not [output for cell in code for output in cell.outputs if output.output_type == "error"]


def test_a_badge_opens_a_notebook_in_colab_and_a_cell_installs_the_package_there(tmp_path):
    path = Path(shutil.copy(SOURCES[0].with_suffix(".ipynb"), tmp_path))
    before = nbformat.read(path, as_version=4).cells
    for repository in ("someone/zoo", "owner/zoo"):  # those of another repository are replaced
        add_colab(path, repository)
    badge, install, *rest = nbformat.read(path, as_version=4).cells
    link = f"https://colab.research.google.com/github/owner/zoo/blob/main/notebooks/{path.name}"
    assert badge.source.endswith(f"({link})")
    assert install.source.endswith("%pip install --quiet git+https://github.com/owner/zoo")
    assert rest == before
