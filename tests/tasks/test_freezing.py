"""Parts of a network that are frozen until some epoch, and have a rate of their own. Killed runs and two ranks are
tested in tests/run/test_families.py."""

import pytest
import torch
from hydra.utils import instantiate
from torch import nn

from tests.run.programs import TINY, launch, weights
from tests.tasks.thawing import TARGET
from zoo.layers.pretrained import Pretrained, pretrained_parts
from zoo.run.compose import compose, plain
from zoo.tasks.optimizing import parameter_groups, rates_of
from zoo.tasks.schedules import OWN_RATE, Noam

BROUGHT = "network.brought.body.0.weight"
RUN = [*TINY, f"model._target_={TARGET}", "callbacks=none", "trainer=cpu"]


def part(**options) -> Pretrained:
    return Pretrained(nn.Linear(2, 3), learning_rate=0.01, **options)


def test_the_groups_of_an_optimizer() -> None:
    """One for all that the optimizer has its rate for, frozen or not, in the order of the network; one for each part
    that will be trained."""
    network = nn.Sequential(part(finetune_from=5), nn.Linear(3, 2), part(), part(finetune_from=0))
    rest, first, second = parameter_groups(network.parameters(), rates_of(pretrained_parts(network).values()))
    assert [id(p) for p in rest["params"]] == [id(p) for n in (1, 2) for p in network[n].parameters()]
    for group, number in ((first, 0), (second, 3)):
        assert [id(p) for p in group["params"]] == [id(p) for p in network[number].parameters()]
        assert group["lr"] == 0.01
    for some in (network[1], network[1:3]):  # without such a part there is one group
        others = parameter_groups(some.parameters(), rates_of(pretrained_parts(network).values()))
        assert [id(p) for p in others] == [id(p) for p in some.parameters()]
    optimizer = torch.optim.Adam([rest, first, second], lr=0.5)
    assert [group["lr"] for group in optimizer.param_groups] == [0.5, 0.01, 0.01]


@pytest.mark.parametrize("name", ["cosine", "linear", "milestones", "noam", "plateau", "step"])
def test_a_schedule_scales_the_rate_of_each_group(name: str) -> None:
    """All rates are the same share of their highest: of noam, which sets that of the others itself, at the warm-up."""
    network = nn.Sequential(part(finetune_from=0), nn.Linear(3, 2))
    told = plain(compose([f"scheduler={name}", "model=transformer", "data=copy"]).scheduler)["scheduler"]
    told = {key: 12 if value == "total_steps" else value for key, value in told.items()}
    if name == "noam":
        told |= {"warmup": 4}
    optimizer = torch.optim.SGD(
        parameter_groups(network.parameters(), rates_of(pretrained_parts(network).values())), lr=0.5
    )
    schedule = instantiate(told, optimizer=optimizer, _convert_="all")
    highest = schedule.scale * schedule.dim**-0.5 * 4**-0.5 if isinstance(schedule, Noam) else 0.5
    shares = []
    for _ in range(12):
        rest, own = (group["lr"] for group in optimizer.param_groups)
        assert own / 0.01 == pytest.approx(rest / highest)
        shares.append(own / 0.01)
        optimizer.step()
        schedule.step(*([1.0] if name == "plateau" else []))
    assert max(shares) == pytest.approx(1.0, rel=0.2) and min(shares) < 0.6
    assert optimizer.param_groups[1][OWN_RATE]


def test_frozen_before_its_epoch_and_trained_from_there(tmp_path) -> None:
    told = [*RUN, "+model.finetune_from=1"]
    assert launch([*told, "trainer.max_epochs=1", "hydra.run.dir=before"], tmp_path) == 0
    assert launch([*told, "trainer.max_epochs=2", "hydra.run.dir=after"], tmp_path) == 0
    assert not torch.equal(weights(tmp_path / "after")[BROUGHT], weights(tmp_path / "before")[BROUGHT])
    said = (tmp_path / "after/train.log").read_text(encoding="utf-8")
    assert said.count("epoch 1: from now on brought is trained, at a rate of up to 0.1") == 1
    assert ", 117 of them frozen" in said  # 8 * 8 + 8 and 8 * 5 + 5
    first = torch.load(tmp_path / "before/checkpoints/last.ckpt", weights_only=True)["optimizer_states"][0]
    assert [len(group["params"]) for group in first["param_groups"]][1] == 4  # there from the start, without a state
    assert len(first["state"]) == len(first["param_groups"][0]["params"])  # it took no step


def test_a_run_goes_on_with_the_parts_that_it_had(tmp_path, capfd) -> None:
    """Its weights serve any other run, and a test."""
    last, tuned = "trainer.max_epochs=1", "+model.finetune_from=0"
    assert launch([*RUN, last, "hydra.run.dir=frozen"], tmp_path) == 0
    assert launch([*RUN, tuned, last, "hydra.run.dir=no", "ckpt_path=frozen"], tmp_path) == 2
    said = capfd.readouterr().err.strip().splitlines()[-1]
    assert "trained 0 parts of its network at rates of their own, this run has 1 (brought)" in said
    assert "use the same finetune_from" in said
    assert launch([*RUN, tuned, last, "hydra.run.dir=begun", "start_from=frozen"], tmp_path) == 0
    assert launch([*RUN, tuned, "train=false", "hydra.run.dir=tested", "ckpt_path=frozen"], tmp_path) == 0
    assert launch([*RUN, last, "hydra.run.dir=not", "ckpt_path=begun"], tmp_path) == 2
    assert "trained 1 parts of its network at rates of their own, this run has 0:" in capfd.readouterr().err
