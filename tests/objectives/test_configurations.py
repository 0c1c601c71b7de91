"""Each file of conf/objective and conf/regularizer builds its class and names every argument."""

import inspect

import pytest
import yaml
from hydra.utils import get_class, instantiate

from tests.catalogue import ROOT
from tests.objectives.toy import SPEC, Toy, pairs
from tests.tasks.points import batch_of, spec_of
from zoo.errors import ConfigError
from zoo.models import PointerNet
from zoo.objectives import (
    CoverageLoss,
    CrossEntropy,
    Reinforce,
    ReinforceCritic,
    ScheduledSampling,
    SelfCritical,
    SoftFeedback,
)
from zoo.objectives.policy_gradient import PolicyGradient
from zoo.run.old_checkpoints import modernised

OBJECTIVES = sorted((ROOT / "conf" / "objective").glob("*.yaml"))
REGULARIZERS = sorted((ROOT / "conf" / "regularizer").glob("*.yaml"))


def arguments(node):
    return {key: value for key, value in node.items() if key != "_target_"}


def assert_complete(node):
    """The file gives each argument, and where the class has a default it is the same one, if only in kind."""
    parameters = inspect.signature(get_class(node["_target_"])).parameters
    assert set(arguments(node)) == set(parameters)
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters.values())


@pytest.mark.parametrize("path", OBJECTIVES, ids=lambda path: path.stem)
def test_objective(path):
    node = yaml.safe_load(path.read_text(encoding="utf-8"))
    if (above := node.pop("defaults", None)) is not None:  # another file's, with changes
        node = {**yaml.safe_load(path.with_stem(*above).read_text(encoding="utf-8")), **node}
    assert_complete(node)
    parameters = inspect.signature(get_class(node["_target_"])).parameters
    for name, value in arguments(node).items() if above is None else ():
        assert parameters[name].default in (inspect.Parameter.empty, value), name
    of_points = node.get("reward", {}).get("_target_") == "zoo.objectives.TourLength"
    network, batch, spec = tours() if of_points else (Toy(), pairs(), SPEC)
    objective = instantiate(node)
    if isinstance(objective, PolicyGradient):
        objective.build(spec, lambda: [[[4, 5]], [[6, 6, 7, 4], [4]], [[]], [[5, 4, 7]]])  # the targets of `pairs()`
    loss = objective(network, batch, spec=spec, step=100, need_weights=True)
    assert loss.output is not None
    sum(term.weight * term.total / term.count for term in loss.terms).backward()
    assert all(parameter.grad.isfinite().all() for parameter in network.parameters())
    assert {term.name: term.weight for term in loss.terms}["nll"] == 0
    assert sum(term.weight for term in loss.terms if term.name != "critic") == 1
    assert all(value.shape == () for value in loss.logs.values())


@pytest.mark.parametrize(
    "cls", [CrossEntropy, Reinforce, ReinforceCritic, ScheduledSampling, SelfCritical, SoftFeedback]
)
def test_an_argument_outside_its_bounds_is_named(cls):
    """Text is neither a number nor the name of a choice."""
    parameters = inspect.signature(cls).parameters
    needed = {name: object() for name, one in parameters.items() if one.default is one.empty}
    for name in parameters.keys() - needed.keys():
        with pytest.raises(ConfigError, match=rf"^{name}=nothing: expected .*, found 'nothing'"):
            cls(**needed, **{name: "nothing"})


def tours():
    """A network that points, sets of points with their tours, and what they are."""
    sets = [[[0.1, 0.2], [0.9, 0.1], [0.8, 0.9], [0.2, 0.6]], [[0.5, 0.5], [0.1, 0.9], [0.3, 0.3]]]
    spec = spec_of("tour")
    return PointerNet(spec, hidden_dim=16), batch_of(sets, [[0, 1, 2, 3], [0, 2, 1]]), spec


@pytest.mark.parametrize("path", REGULARIZERS, ids=lambda path: path.stem)
def test_regularizer_is_a_node_named_after_its_file(path):
    text = path.read_text(encoding="utf-8")
    nodes = yaml.safe_load(text)
    assert list(nodes) == [path.stem]
    assert_complete(nodes[path.stem])
    batch = pairs()
    term = instantiate(nodes[path.stem])(Toy()(batch), batch)
    assert term.weight == nodes[path.stem]["weight"]
    assert term.total.item() > 0


def test_doubly_stochastic_attention_is_coverage_of_one():
    node = yaml.safe_load((ROOT / "conf" / "regularizer" / "doubly_stochastic.yaml").read_text(encoding="utf-8"))
    built = instantiate(node)["doubly_stochastic"]
    assert isinstance(built, CoverageLoss)
    assert built.tau == 1


def test_checkpoints_of_before_name_the_loss_by_its_old_name():
    told = {"regularizer": {"coverage": {"_target_": "zoo.objectives.Coverage", "weight": 0.1, "tau": None}}}
    today = modernised({"zoo": {}, "hyper_parameters": told})["hyper_parameters"]
    assert isinstance(instantiate(today["regularizer"]["coverage"]), CoverageLoss)
