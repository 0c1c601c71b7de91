"""A score of the user's own in the networks that look at every step: by `step` where the time loop does not know it."""

import logging

import pytest
import torch

import zoo
from tests.contract import by_steps, equal
from tests.families import family_of
from tests.run.programs import TINY_PAIRS, launch
from zoo.attention import SCORES, DotScore, Form, GeneralScore, score
from zoo.models import Luong, RNNSearch

OWN = "tests.models.own_scores"
FAMILY = family_of("translation")
NETWORKS = [
    (RNNSearch, {"attention_dim": 6, "maxout_dim": 4}),
    (Luong, {"num_layers": 2, "init_range": 0.5}),
    (Luong, {"num_layers": 2, "init_range": 0.5, "attention": "local_p", "window": 2}),
    (Luong, {"num_layers": 2, "init_range": 0.5, "attention": "local_m", "window": 1, "reverse_source": True}),
    (Luong, {"num_layers": 2, "init_range": 0.5, "input_feeding": False}),
]
BOTH = pytest.mark.parametrize(("cls", "options"), NETWORKS, ids=lambda value: getattr(value, "__name__", None))


def built(cls, options, name):
    torch.manual_seed(0)
    return cls(FAMILY.spec, embedding_dim=5, hidden_dim=6, score=name, **options).double()


def found(network):
    """Log-probabilities, attention, and the gradients of the loss and of what attention was given."""
    batch = FAMILY.batch(1)
    output = network(batch)
    loss = FAMILY.loss(output, batch) + output.attention["source"].square().sum()
    gradients = torch.autograd.grad(loss, list(network.parameters()))
    names = [name for name, _ in network.named_parameters()]
    return {
        "log_probs": output.logits.log_softmax(-1),
        "attention": output.attention["source"],
        **dict(zip(names, gradients, strict=True)),
    }


@BOTH
def test_walking_by_steps_gives_what_the_loop_gives(cls, options):
    known, hidden = (found(built(cls, options, name)) for name in ("dot", f"{OWN}.HiddenDot"))
    assert known.keys() == hidden.keys()
    for name, part in known.items():
        equal(hidden[name], part)


@BOTH
@pytest.mark.parametrize("name", ["DoubledDot", "Bilinear"])
def test_a_score_of_ones_own_is_used_in_training_and_in_steps_alike(cls, options, name):
    network, batch = built(cls, options, f"{OWN}.{name}"), FAMILY.batch(1)
    plain = found(built(cls, options, "dot"))["log_probs"]
    ours = found(network)
    assert not torch.allclose(ours["log_probs"], plain)  # what DoubledDot inherits is not taken for its own form
    log_probs, _ = by_steps(network, batch, FAMILY.without_targets(batch))
    equal(ours["log_probs"], batch.target_packing.pack(log_probs))


def test_attention_is_left_out_of_the_walk_where_nobody_asks():
    network = built(RNNSearch, NETWORKS[0][1], f"{OWN}.Bilinear")
    assert network(FAMILY.batch(1), need_weights=False).attention == {}


@pytest.mark.parametrize(("cls", "options", "lines"), [(*NETWORKS[0], 1), (*NETWORKS[1], 1), (*NETWORKS[4], 0)])
def test_one_log_line_a_network_says_that_it_is_slower(cls, options, lines, caplog):
    with caplog.at_level(logging.INFO):
        network = built(cls, options, f"{OWN}.Bilinear")
        for _ in range(2):
            network(FAMILY.batch(1))
        built(cls, options, "general")
    assert [record.getMessage().split(" gives")[0] for record in caplog.records] == ["Bilinear"] * lines


def test_it_is_named_trained_and_loaded_as_any_other(tmp_path):
    words = [*TINY_PAIRS, f"model.score={OWN}.Bilinear", "callbacks=none", "trainer.max_epochs=1", "hydra.run.dir=run"]
    assert launch(words, tmp_path) == 0
    assert "Bilinear gives no form" in (tmp_path / "run" / "train.log").read_text()
    predictor = zoo.load(tmp_path / "run" / "checkpoints" / "best.ckpt")
    assert type(predictor.task.network.score).__name__ == "Bilinear"


def test_a_form_is_not_inherited_by_what_computes_something_else():
    class Slower(GeneralScore):
        def prepare(self, keys):
            return super().prepare(keys) / 2

    class Renamed(GeneralScore):
        """An equal function under another name."""

    class Told(DotScore):
        def many(self, queries, prepared):
            return 3 * super().many(queries, prepared)

        def form(self, prepared):
            return Form(3 * prepared)

    keys = torch.ones(1, 2, 4)
    assert Slower(4, 4).form(keys) is None
    assert Renamed(4, 4).form(keys) is not None
    assert torch.equal(Told(4, 4).form(keys).keys, 3 * keys)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("aditive", r"score=aditive: expected dot, .* a class of your own, found 'aditive'; did you mean 'add"),
        (
            "nowhere.MyScore",
            "score: nowhere.MyScore cannot be imported: No module named 'nowhere'; expected one of dot, ",
        ),
        (f"{OWN}.Bilinaer", "score: .*Bilinaer cannot be imported: .*no attribute 'Bilinaer'"),
        ("torch.nn.Linear", "score: torch.nn.Linear is not a subclass of Score; expected one of dot, "),
        ("zoo.attention.Score", "lacks many"),
        (
            f"{OWN}.WantsMore",
            "WantsMore score needs flavour, but the only arguments that a score can have are query_dim",
        ),
    ],
)
def test_a_name_that_is_no_score(name, message):
    with pytest.raises(ValueError, match=message) as error:
        score(name, 4, 4)
    assert "\n" not in str(error.value)
    if "needs" not in message and "lacks" not in message:
        assert all(known in str(error.value) for known in SCORES)
