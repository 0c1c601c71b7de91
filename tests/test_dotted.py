"""Classes by their dotted names: found, and only where they are what they have to be."""

import sys

import pytest

from zoo.data.batch import Spec, spec_from_state, spec_state
from zoo.data.documents.batch import DocumentSpec
from zoo.dotted import class_at, name_of, named_by_a_checkpoint
from zoo.errors import CheckpointError


def test_a_class_is_found_by_the_name_it_gives():
    assert name_of(DocumentSpec) == "zoo.data.documents.batch.DocumentSpec"
    assert class_at(name_of(DocumentSpec), Spec) is DocumentSpec


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nowhere.Spec", "cannot be imported: No module named 'nowhere'"),
        ("zoo.data.batch.Speck", "cannot be imported: module 'zoo.data.batch' has no attribute 'Speck'"),
        ("Spec", "cannot be imported"),
        ("os.system", "not a subclass of Spec"),
        ("zoo.errors.ZooError", "not a subclass of Spec"),
        (["os"], "expected the dotted name of a class, found"),
    ],
)
def test_anything_else_is_refused(name, reason):
    with pytest.raises(CheckpointError, match=reason):
        class_at(name, Spec)


def test_a_spec_comes_back_as_it_was():
    spec = DocumentSpec(vocabulary_size=7, classes=("good", "bad"))
    state = spec_state(spec)
    assert state["class"] == "zoo.data.documents.batch.DocumentSpec"
    assert spec_from_state({**state, "classes": list(state["classes"])}) == spec
    with pytest.raises(CheckpointError, match=r"os\.system is not a subclass of Spec"):
        spec_from_state({"class": "os.system", "command": "true"})


OWN = "imported = True\n\nfrom zoo.data.batch import Spec\n\n\nclass Mine(Spec): ...\n"


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """A folder with two packages that can be imported, and have not been."""
    for name in ("own_family", "foreign_family"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").write_text(OWN)
        (folder / "__main__.py").write_text(OWN)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith(("own_family", "foreign_family"))]:
        del sys.modules[name]


@pytest.mark.parametrize("name", [*(f"own_family{x}.Mine" for x in ("", ".x", ".__main__")), "venv.__main__.Mine"])
def test_a_checkpoint_does_not_import_other_modules(modules, name):
    before = set(sys.modules)
    with named_by_a_checkpoint(), pytest.raises(CheckpointError, match=rf"a checkpoint may not import {name}"):
        class_at(name, Spec)
    assert set(sys.modules) == before
    with pytest.raises(CheckpointError, match="a checkpoint may not import"):
        spec_from_state({"class": name})
    assert set(sys.modules) == before


def test_a_checkpoint_does_not_run_the_command_line(monkeypatch):
    monkeypatch.delitem(sys.modules, "zoo.__main__", raising=False)
    with named_by_a_checkpoint(), pytest.raises(CheckpointError, match="may not import"):
        class_at("zoo.__main__.main", Spec)


def test_a_checkpoint_imports_modules_of_the_users_own_folders(modules):
    with named_by_a_checkpoint([modules]):
        assert class_at("own_family.Mine", Spec).__name__ == "Mine"
        for name in ("foreign_family.__main__.Mine", "this.Mine"):
            with pytest.raises(CheckpointError, match="may not import"):
                class_at(name, Spec)


def test_a_checkpoint_may_name_what_is_imported_already(modules):
    class_at("own_family.Mine", Spec)
    with named_by_a_checkpoint():
        assert class_at("own_family.Mine", Spec).__name__ == "Mine"
