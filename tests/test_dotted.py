"""Classes by their dotted names: found, and only where they are what they have to be."""

import pytest

from zoo.data.documents.spec import DocumentSpec
from zoo.data.spec import Spec, spec_from_state, spec_state
from zoo.dotted import class_at, name_of
from zoo.errors import CheckpointError


def test_a_class_is_found_by_the_name_it_gives():
    assert name_of(DocumentSpec) == "zoo.data.documents.spec.DocumentSpec"
    assert class_at(name_of(DocumentSpec), Spec) is DocumentSpec


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nowhere.Spec", "not here: No module named 'nowhere'"),
        ("zoo.data.spec.Speck", "not here: module 'zoo.data.spec' has no attribute 'Speck'"),
        ("Spec", "not here"),
        ("os.system", "no Spec"),
        ("zoo.errors.ZooError", "no Spec"),
    ],
)
def test_anything_else_is_refused(name, reason):
    with pytest.raises(CheckpointError, match=reason):
        class_at(name, Spec)


def test_a_spec_comes_back_as_it_was():
    spec = DocumentSpec(vocabulary_size=7, classes=("good", "bad"))
    state = spec_state(spec)
    assert state["class"] == "zoo.data.documents.spec.DocumentSpec"
    assert spec_from_state({**state, "classes": list(state["classes"])}) == spec
    with pytest.raises(CheckpointError, match=r"it names os\.system, which is no Spec"):
        spec_from_state({"class": "os.system", "command": "true"})
