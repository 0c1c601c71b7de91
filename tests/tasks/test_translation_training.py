"""Translation in training: the step and the state of an objective."""

import pytest
import torch

from tests.tasks.running import loader, trainer
from tests.tasks.test_translation import batch, task
from zoo.objectives import CrossEntropy
from zoo.run.checkpoint import load


class Spy(CrossEntropy):
    """Cross-entropy that stores the steps that it receives."""

    def __init__(self, steps):
        super().__init__()
        self.steps = steps

    def __call__(self, network, batch, *, spec, step, need_weights):
        self.steps.append(step)
        return super().__call__(network, batch, spec=spec, step=step, need_weights=need_weights)


def test_an_objective_is_told_the_optimisers_step_also_after_a_resumption_and_is_not_asked_outside_training(tmp_path):
    """Two batches make a step."""

    def fit(epochs, **options):
        made, translation = trainer(tmp_path, max_epochs=epochs, accumulate_grad_batches=2), task()
        translation.objective = Spy(steps)
        batches = loader(*(batch([row]) for row in range(4)))
        made.fit(translation, batches, batches, **options)
        return made

    steps = []
    fit(1).save_checkpoint(tmp_path / "one.ckpt")
    assert steps == [0, 0, 1, 1]
    fit(2, ckpt_path=tmp_path / "one.ckpt")
    assert steps[4:] == [2, 2, 3, 3]


def test_what_an_objective_remembers_travels_and_trains_with_the_network(tmp_path):
    """The moving average of a resumed run goes on, moves with the network, and a network that predicts does without."""

    def fit(epochs, **options):
        learning = task(objective="Reinforce", reward={"_target_": "zoo.objectives.SentenceBLEU"}, **average)
        made = trainer(tmp_path, max_epochs=epochs)
        made.fit(learning, loader(*(batch([row]) for row in range(4))), **options)
        return made, learning.objective

    average = {"baseline": "moving_average", "samples": 2}
    made, first = fit(1)
    made.save_checkpoint(tmp_path / "one.ckpt")
    assert first.counted.item() == pytest.approx(1 - 0.99**4)  # batches
    assert fit(2, ckpt_path=tmp_path / "one.ckpt")[1].counted.item() == pytest.approx(1 - 0.99**8)
    kept = torch.load(tmp_path / "one.ckpt", weights_only=True)
    assert kept["state_dict"]["objective.counted"] == first.counted
    predicting = task(**average, objective="Reinforce", reward={"_target_": "zoo.objectives.SentenceBLEU"})
    assert {b.device.type for b in predicting.to("meta").objective.buffers()} == {"meta"}
    assert load(tmp_path / "one.ckpt").task.network is not None


@pytest.mark.parametrize(("one", "other"), [("moving_average", None), (None, "moving_average")])
def test_what_an_objective_remembers_is_left_behind_by_another(one, other):
    def made(baseline):
        if baseline is None:
            return task()
        return task(objective="Reinforce", reward={"_target_": "zoo.objectives.SentenceBLEU"}, baseline=baseline)

    first, second = made(one), made(other)
    for parameter in first.network.parameters():
        torch.nn.init.uniform_(parameter)
    checkpoint = {"state_dict": first.state_dict()}
    first.on_save_checkpoint(checkpoint)
    second.on_load_checkpoint(checkpoint)
    second.load_state_dict(checkpoint["state_dict"])
    for name, parameter in second.network.named_parameters():
        assert torch.equal(parameter, first.network.get_parameter(name))
