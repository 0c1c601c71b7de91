"""Checkpoints written before names changed are read as today's."""

import pytest
from torch import nn
from torch.optim import Adam
from torch.optim.lr_scheduler import OneCycleLR

from zoo.data.batch import spec_from_state
from zoo.data.documents.batch import DocumentSpec
from zoo.data.documents.encoding import DocumentEncoder
from zoo.dotted import class_at
from zoo.layers.images.encoder import ImageEncoder
from zoo.layers.images.small import SmallEncoder
from zoo.run.old_checkpoints import MOVED, SPECS, modernised
from zoo.tasks.schedules import SlantedTriangle

ABOUT = {
    "format": 1,
    "task": "zoo.tasks.classification.Classification",
    "spec": {"kind": "DocumentSpec", "vocabulary_size": 9, "classes": ["a", "b"], "padding": 0, "unknown": 1},
    "encoder_class": "zoo.data.encoding.DocumentEncoder",
    "encoder": {"words": ["zoo.data.encoding"]},
}


def old(**model):
    return {"zoo": ABOUT, "hyper_parameters": {"model": model, "monitor": "val/accuracy"}}


def test_the_encoder_and_the_spec_of_documents():
    about = modernised(old(_target_="zoo.models.HAN"))["zoo"]
    assert class_at(about["encoder_class"], object) is DocumentEncoder
    assert spec_from_state(about["spec"]) == DocumentSpec(vocabulary_size=9, classes=("a", "b"))
    assert about["encoder"] == ABOUT["encoder"]


def test_a_spec_that_had_a_module_of_its_own():
    spec = {"class": "zoo.data.documents.spec.DocumentSpec", "vocabulary_size": 9, "classes": ["a", "b"]}
    content = {"zoo": ABOUT | {"spec": spec}}
    assert spec_from_state(modernised(content)["zoo"]["spec"]) == DocumentSpec(vocabulary_size=9, classes=("a", "b"))


@pytest.mark.parametrize("name", [*SPECS.values(), *MOVED.values()])
def test_the_new_names_are_here(name):
    assert class_at(name, object)


def test_the_image_encoder_of_a_caption_network():
    model = {"_target_": "zoo.models.ShowAndTell", "encoder": {"_target_": "zoo.layers.image_small.SmallEncoder"}}
    encoder = modernised(old(**model))["hyper_parameters"]["model"]["encoder"]
    assert class_at(encoder["_target_"], ImageEncoder) is SmallEncoder


class Renamed:
    def __init__(self, *, neighbourhood=None):
        pass


class Kept:
    def __init__(self, *, window=None):
        pass


def test_an_argument_is_renamed_where_the_network_no_longer_takes_it():
    new = modernised(old(_target_=f"{__name__}.Renamed", window=5))["hyper_parameters"]["model"]
    assert new == {"_target_": f"{__name__}.Renamed", "neighbourhood": 5}
    same = modernised(old(_target_=f"{__name__}.Kept", window=5))["hyper_parameters"]["model"]
    assert same["window"] == 5


def steps(schedule, count):
    found = []
    for _ in range(count):
        found.append(schedule.get_last_lr()[0])
        schedule.optimizer.step()
        schedule.step()
    return found


def test_a_run_that_began_with_onecyclelr_goes_on_with_its_rates():
    def optimizer():
        return Adam(nn.Linear(1, 1).parameters(), lr=0.5)

    before = OneCycleLR(
        optimizer(), max_lr=0.5, total_steps=30, pct_start=0.1, anneal_strategy="linear", cycle_momentum=False
    )
    steps(before, 7)
    written = old(_target_="zoo.models.HAN") | {
        "optimizer_states": [before.optimizer.state_dict()],
        "lr_schedulers": [before.state_dict()],
    }
    content = modernised(written)
    now = SlantedTriangle(optimizer(), total_steps=30)
    now.optimizer.load_state_dict(content["optimizer_states"][0])
    now.load_state_dict(content["lr_schedulers"][0])
    assert steps(now, 23) == steps(before, 23)
