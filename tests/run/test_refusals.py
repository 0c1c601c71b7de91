"""Sizes that this machine cannot hold and parts that do not fit are refused before anything is built or prepared."""

import errno
import signal

import pytest
import torch
from hydra.errors import InstantiationException
from hydra.utils import instantiate

from zoo.callbacks import Interrupted
from zoo.data.documents.spec import DocumentSpec
from zoo.errors import ConfigError
from zoo.run.check import check
from zoo.run.compose import compose
from zoo.run.messages import explain
from zoo.tasks.size import check_size

FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(*FULL.args, "/a/b.csv"), "error: /a/b.csv: the disk is full: make room"),
        (FULL, "error: the disk is full: make room"),
        (
            RuntimeError("can't allocate memory: you tried to allocate 80000000000 bytes. Error 12"),
            ": 80 GB were",
        ),
        (
            RuntimeError("[gloo/transport/tcp/pair.cc:547] Connection closed by peer [::1]:1"),
            "error: another process",
        ),
    ],
)
def test_a_full_disk_too_little_memory_and_a_lost_rank_are_one_line(error, said):
    assert said in (explain(error, []) or "")


def test_another_error_of_torch_keeps_its_traceback():
    assert explain(RuntimeError("shape mismatch"), []) is None


def test_a_run_that_was_asked_to_end_is_not_an_error():
    said = "asked to end (Ctrl-C) at step 3: saved last.ckpt"
    assert explain(Interrupted(said, signal.SIGINT), []) == said


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (
            "model=ntm data=copy_bits model.memory_size=1000000000",
            r"model\.memory_size=1000000000: .* 22,000,058,954",
        ),
        ("model=as_reader data=cbt model.hidden_dim=10000000000", "has more parameters than can be counted"),
        ("model=memn2n data=babi model.embedding_dim=100000000", "has 23,300,000,000 parameters, which take 186 GB"),
        ("model=tree_lstm data=sst data.sample.train=100000000000", r"data\.sample\.train=100000000000: .* 25\.0 TB"),
        ("model=show_attend_tell data=scenes objective=reinforce_tour", "objective.reward: TourLength is for pointing"),
        ("model=rntn data=sick", "data.parse=dependency: these trees have a word at every node"),
        ("model=pointer_net data=convex_hull data.size=100000000", "a batch of 128 sets .* takes 102 GB"),
        (
            "model=pointer_net data=convex_hull data.size=[50,5]",
            r"expected \[least, most\], so \[5, 50\]: these are rev",
        ),
    ],
)
def test_before_data_are_prepared(monkeypatch, overrides, expected):
    for module in ("zoo.tasks.size", "zoo.data.points.generated"):
        monkeypatch.setattr(f"{module}.memory", lambda: 25e9)

    def begin():
        cfg = compose(overrides.split())
        check(cfg)
        instantiate(cfg.data, _convert_="all")

    with pytest.raises((ConfigError, InstantiationException), match=expected):
        begin()


@pytest.mark.parametrize(
    "overrides",
    ["model=pointer_net data=tsp objective=reinforce_tour", "model=rntn data=sick data.parse=constituency"],
)
def test_what_fits_is_not_refused(overrides):
    check(compose(overrides.split()))


def test_a_network_of_large_data_is_refused_before_it_is_built(monkeypatch):
    """Its vocabulary is known only when the data are prepared."""
    monkeypatch.setattr("zoo.tasks.size.memory", lambda: 25e9)
    model = {"_target_": "zoo.models.HAN", "embedding_dim": 20_000}
    check_size(model, DocumentSpec(vocabulary_size=1000, classes=("a", "b")))
    before = torch.get_rng_state()
    with pytest.raises(ConfigError, match=r"model\.embedding_dim=20000: the network has 20,0"):
        check_size(model, DocumentSpec(vocabulary_size=10**6, classes=("a", "b")))
    assert torch.equal(torch.get_rng_state(), before)
