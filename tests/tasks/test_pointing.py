"""The task of pointing: trained, validated and tested by Lightning, on hulls and on tours without targets; its figures
by hand, for each part of the test; constraints, and what is refused."""

from itertools import permutations

import numpy as np
import pytest
import torch
from scipy.spatial import ConvexHull

from tests.objectives.test_tours import Mean
from tests.tasks.points import GROUPS, batch_of, pointing
from tests.tasks.running import loader, logged, trainer
from zoo.data.points.geometry import length
from zoo.decoding import BeamSearch, Hypothesis
from zoo.decoding.constraint import Constrained
from zoo.errors import ConfigError
from zoo.models.output import Output
from zoo.predicting.pointing import ExaminedPointing
from zoo.run.compose import compose
from zoo.tasks.captioning import Captioning
from zoo.tasks.pointing import Pointing

SQUARE = [[0.0, 0.0], [0.4, 0.0], [0.2, 0.1], [0.4, 0.4], [0.0, 0.4]]  # The hull is 0, 1, 3, 4


def hulls(count, sizes, seed):
    random = np.random.default_rng(seed)
    sets = [random.random((sizes[i % len(sizes)], 2)) for i in range(count)]
    corners = [ConvexHull(points).vertices.tolist() for points in sets]
    rows = [row[(at := row.index(min(row))) :] + row[:at] for row in corners]
    return batch_of([points.tolist() for points in sets], rows, group=[i % len(sizes) for i in range(count)])


def tours(count, size, seed, solved=True):
    random = np.random.default_rng(seed)
    sets = [random.random((size, 2)) for _ in range(count)]
    rows = None
    if solved:
        best = [min(permutations(range(1, size)), key=lambda row: length(points[[0, *row]])) for points in sets]
        rows = [[0, *row] for row in best]
    return batch_of([points.tolist() for points in sets], rows)


def metrics(made):
    return {name: value.item() for name, value in made.callback_metrics.items()}


@pytest.fixture(scope="module")
def trained():
    """A task that was fitted, validated and tested on hulls, and what was logged."""
    task = pointing(decoding={"_target_": "zoo.decoding.BeamSearch", "beam_size": 3}, constraint="hull")
    made = trainer(max_epochs=6, check_val_every_n_epoch=6, num_sanity_val_steps=0)
    made.fit(task, loader(*(hulls(64, (4, 5), seed) for seed in range(20))), loader(hulls(64, (4, 5), 99)))
    found = metrics(made)
    made.test(task, loader(hulls(64, (4, 5), 100), hulls(64, (4, 5), 101)), verbose=False)
    return task.eval(), {**found, **metrics(made)}


def test_it_learns_hulls_and_is_scored_for_each_part_of_the_test(trained):
    task, found = trained
    assert found["val/accuracy"] > 0.15
    assert found["val/non_simple"] == found["test/non_simple"] == 0  # the constraint
    assert found["val/attention_recall"] > 1.5 * found["val/attention_chance"]
    for name in ("accuracy", "area", "non_simple"):
        parts = [found[f"test/{name}_{group}"] for group in ("n4", "n5")]
        assert found[f"test/{name}"] == pytest.approx(sum(parts) / 2)
        assert [task.figures[group][name] for group in ("n4", "n5")] == pytest.approx(parts)
    assert task.shown_figures()["n4"]["accuracy"] == f"{100 * found['test/accuracy_n4']:.1f}%"
    assert task.remarks(found) == {}
    found = {**found, "test/non_simple_n5": 0.0234}
    assert task.remarks(found) == {"test/area_n5": "FAIL: 2.3% of the polygons are not simple"}
    assert found["test/loss"] == pytest.approx(np.log(found["test/perplexity"]))


def test_what_is_validated_is_greedy_and_what_is_tested_a_beam(trained):
    task, _ = trained
    assert isinstance(task.decode, BeamSearch) and task.decode.rules.max_length == (1.0, 1.0)
    assert task.greedy.rules.max_length == (1.0, 1.0)
    assert isinstance(task.writing, Constrained) and task.writing.network is task.network


@pytest.mark.parametrize("task", [Captioning, Pointing])
def test_a_beam_of_a_run_that_was_greedy_ranks_as_the_configured_one(task):
    """`test_translation.py` tests that such a beam has this length penalty."""
    configured = compose(["data=tsp", "model=pointer_net", f"decoding=beam_{task.name}"]).decoding
    assert task.length_penalty == configured.length_penalty == 0


def test_predictions_are_numbers_from_1_and_plain_data(trained):
    task, _ = trained
    batch = batch_of([SQUARE], scale=[10.0])
    task.search(beam_size=3, nbest=2)
    (prediction,) = task.predictions(batch, [[(10 * x, 10 * y) for x, y in SQUARE]])
    task.search(beam_size=3, nbest=1)
    assert prediction.goal == "hull" and prediction.points[3] == (4.0, 4.0) and len(prediction.answers) == 2
    best = prediction.best
    assert set(best.numbers) <= {1, 2, 3, 4, 5} and best.figures == {"non_simple": 0}
    assert best.log_prob == best.score >= prediction.answers[1].score
    assert len(best.attention) == len(best.numbers) + 1 and len(best.attention[0]) == 6
    plain = prediction.to_dict()
    assert plain["answers"][0]["numbers"] == best.numbers and plain["goal"] == "hull"


def test_examined_sets_have_their_targets(trained):
    task, _ = trained
    examined = task.examine(batch_of([SQUARE, SQUARE[:3]], [[0, 1, 3, 4], [0, 1, 2]], scale=[1.0, 100.0]))
    assert [type(one) for one in examined] == [ExaminedPointing] * 2
    assert examined[0].target == (1, 2, 4, 5) and examined[0].truth == "1 2 4 5" and examined[0].index == 0
    assert np.array(examined[1].prediction.points) == pytest.approx(np.array([[0, 0], [40, 0], [20, 10]]))
    assert set(examined[1].prediction.best.figures) == {"accuracy", "area", "non_simple"}
    (without,) = task.examine(batch_of([SQUARE]))
    assert without.target is without.truth is None


# figures


def written(*rows):
    return [Hypothesis((*(3 + number for number in row), 2), 0.0, 0.0, True) for row in rows]


def scored(goal, sets, targets, rows, groups=GROUPS, **options):
    """The logged figures of a test in which a network wrote these rows, and the figures of each part."""
    task = pointing(goal, groups=groups)
    with pytest.MonkeyPatch.context() as patch:
        found = logged(task, patch)
        task.score_written("test", batch_of(sets, targets, **options), written(*rows))
        task.on_test_epoch_end()
    return {name: float(value) for name, value in found.items()}, task.figures


def test_hulls_by_hand():
    rows = [[1, 3, 4, 0], [0, 1, 3], [0, 3, 1, 4]]
    found, figures = scored("hull", [SQUARE] * 3, [[0, 1, 3, 4]] * 3, rows, group=[0, 1, 1])
    by_hand = {"accuracy": (0.5, 1, 0), "area": (0.75, 1, 0.5), "non_simple": (0.25, 0, 0.5)}
    names = {f"test/{name}{part}": (name, n) for name in by_hand for n, part in enumerate(("", "_n4", "_n5"))}
    assert found == pytest.approx({key: by_hand[name][n] for key, (name, n) in names.items()})
    assert figures["n5"] == pytest.approx({"accuracy": 0, "area": 0.5, "non_simple": 0.5})


def test_tours_by_hand_and_in_the_units_of_their_source():
    square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    rows = [[0, 3, 2, 1], [0, 2, 1, 3], [0, 1, 2]]
    found, _ = scored("tour", [square] * 3, [[0, 1, 2, 3]] * 3, rows, scale=[1.0, 50.0, 1.0], group=[0, 1, 1])
    crossed = 2 + 2 * 2**0.5
    assert found["test/length_n4"] == pytest.approx(4) and found["test/length_n5"] == pytest.approx(50 * crossed)
    assert found["test/ratio_n5"] == pytest.approx(crossed / 4)
    assert (found["test/invalid_n4"], found["test/invalid_n5"], found["test/accuracy"]) == (0, 0.5, 0.5)


def test_a_figure_that_nothing_counts_for_is_not_logged():
    found, figures = scored("hull", [SQUARE], [[0, 1, 3, 4]], [[0, 3, 1, 4]], group=[0])
    assert "test/area" not in found and "test/accuracy_n5" not in found and found["test/accuracy"] == 0
    assert np.isnan(figures["n5"]["accuracy"])
    found, figures = scored("hull", [SQUARE], [[0, 1, 3, 4]], [[0, 1, 3]], groups=("n5",))  # one part has no name
    assert found == pytest.approx({"test/accuracy": 0, "test/area": 0.5, "test/non_simple": 0})
    assert figures == {"n5": pytest.approx({"accuracy": 0, "area": 0.5, "non_simple": 0})}


def test_each_validation_counts_anew(monkeypatch):
    task, batch = pointing("hull"), batch_of([SQUARE], [[0, 1, 3, 4]])
    found = logged(task, monkeypatch)
    for row, accuracy in (([0, 1, 3, 4], 1), ([0, 3, 1, 4], 0)):
        task.score_written("val", batch, written(row))
        task.on_validation_epoch_end()
        assert found["val/accuracy"] == accuracy


def test_attention_that_cannot_look_at_the_end_misses_nothing_there():
    """Perfect attention to the points, as of a network that names its positions, and even attention."""
    batch, perfect = batch_of([SQUARE], [[0, 1, 3, 4]]), torch.zeros(1, 5, 6)
    perfect[0, torch.arange(5), torch.tensor([1, 2, 4, 5, 1])] = 1
    for weights, recall, wrong in ((perfect, 1, 0), (batch.content_mask[:, None].expand(1, 5, 6) / 5, 0.2, None)):
        task, logits = pointing("hull"), torch.zeros(5, 8)
        task.network.attends = {"source": "content_mask"}
        task.score_forced("val", batch, Output(logits, {"source": weights}))
        found = {name: float(task.val_metrics[name].compute()) for name in ("attention_recall", "attention_chance")}
        assert found == pytest.approx({"attention_recall": recall, "attention_chance": 0.2})
        if wrong is not None:
            assert task.val_metrics["alignment_error_rate"].compute() == wrong


# tours without targets


def rewarded(critic):
    """Options of a task that learns from the length of tours, its baseline a critic or a moving average."""
    told = {"_target_": "zoo.objectives.Reinforce", "baseline": "moving_average", "momentum": 0.9}
    if critic:
        partial = {"_target_": "tests.tasks.test_pointing.single", "_partial_": True}
        told = {"_target_": "zoo.objectives.ReinforceCritic", "critic": partial}
    reward = {"_target_": "zoo.objectives.TourLength"}
    objective = {**told, "reward": reward, "weight": 1.0, "samples": 8, "extra": 0}
    return {"objective": objective, "monitor": "val/length", "groups": ("n5",)}


def test_a_critic_is_in_the_optimiser_and_in_the_checkpoint_but_not_in_what_predicts():
    task, made = pointing("tour", **rewarded(critic=True)), trainer(max_epochs=1, num_sanity_val_steps=0)
    made.fit(task, loader(tours(8, 5, 1, solved=False)), loader(tours(8, 5, 2)))
    found, critic = metrics(made), task.objective.critic.output
    assert found["val/invalid"] == 0 and found["train/loss"] == pytest.approx(
        found["train/reinforce"] + found["train/critic"], abs=1e-5
    )
    (group,) = made.optimizers[0].param_groups
    assert any(parameter is critic.weight for parameter in group["params"])
    state = dict(task.state_dict())
    assert "objective.critic.output.weight" in state
    predicts = pointing("tour")
    predicts.keep_to_the_network(state)
    predicts.load_state_dict(state)


def single(spec):
    return Mean(spec).float()


def test_sets_without_targets_are_tested_by_what_needs_none(monkeypatch):
    task = pointing("tour", groups=("n6",))
    found = logged(task, monkeypatch)
    task.validation_step(tours(4, 6, 0, solved=False), 0)
    task.on_validation_epoch_end()
    assert found["val/invalid"] == 0 and found["val/length"] > 1 and found["val/ratio"].isnan()
    assert "val/loss" not in found


# constraints and refusals


def test_tours_are_valid_unless_told_otherwise():
    assert pointing("hull").constraint is None and pointing("order").constraint is None
    assert type(pointing("tour").constraint).__name__ == "Tour"
    assert pointing("tour", constraint="none").constraint is None
    assert type(pointing("order", constraint="tour").constraint).__name__ == "Tour"


@pytest.mark.parametrize(
    ("goal", "options", "message"),
    [
        ("hull", {"constraint": "tour"}, "forbids right answers where the goal is hull; .*none, distinct or hull"),
        ("triangulation", {"constraint": "distinct"}, "task.constraint=none"),
        ("hull", {"constraint": "hulls"}, "constraint=hulls: expected auto, none, distinct, hull or tour"),
        ("hull", {"monitor": "val/length"}, "task.monitor=val/length: hull has no such figure"),
        (
            "triangulation",
            {"decoding": {"_target_": "zoo.decoding.Greedy", "max_length": [2.0, 10]}, "longest": 10},
            r"sequences for 10 points may have 30 tokens, .* up to 46; set decoding.max_length=\[6.0, 0.0\]",
        ),
        (
            "tour",
            {"decoding": {"_target_": "zoo.decoding.Greedy", "max_length": [1.0, 0]}},
            "sequences for 3 points may have 3 tokens",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_before_the_training(goal, options, message):
    with pytest.raises(ConfigError, match=message):
        pointing(goal, **options)


@pytest.mark.parametrize(
    ("goal", "options", "message"),
    [
        ("hull", rewarded(critic=True), "the reward is the length of a tour, the data are goal=hull: use data=tsp"),
        ("tour", {"solved": False}, "data.solve=false: training has no targets.*; use objective=reinforce_critic"),
        ("tour", {"solved": False, "objective": {**rewarded(critic=False)["objective"], "weight": 0.5}}, "data.solve"),
    ],
)
def test_an_objective_that_the_data_cannot_serve_is_refused_before_the_training(goal, options, message):
    with pytest.raises(ConfigError, match=message):
        pointing(goal, **{**options, "monitor": "val/loss"})
