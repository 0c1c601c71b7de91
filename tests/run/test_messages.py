"""Typos end in one line that names the key and the nearest right one."""

import pytest
from hydra.errors import HydraException
from omegaconf import OmegaConf

from zoo.errors import ConfigError
from zoo.run.check import check, check_arguments
from zoo.run.compose import compose
from zoo.run.messages import explain


def line(*overrides):
    with pytest.raises((ConfigError, HydraException)) as caught:
        check(compose(list(overrides)))
    message = explain(caught.value, list(overrides))
    assert message is not None and "\n" not in message
    return message


@pytest.mark.parametrize(
    ("override", "nearest"),
    [
        ("modl=han", "model"),
        ("model=hann", "model=han"),
        ("data=yellp", "data=yelp"),
        ("experimnt=x", "experiment"),
        ("experiment=han_yelp215", "experiment=han_yelp2015"),
        ("seeed=2", "seed"),
        ("model.word_hiden_dim=10", "model.word_hidden_dim"),
        ("+model.word_hiden_dim=10", "model.word_hidden_dim"),
        ("trainer.precison=16", "trainer.precision"),
        ("optimizer.lrr=1", "optimizer.lr"),
        ("trainer=ddp_cup", "trainer=ddp_cpu"),
        ("callbacks.best.moniter=x", "callbacks.best.monitor"),
        ("data.batch_size=32", "data.loader.batch_size"),
    ],
)
def test_the_nearest_right_name(override, nearest):
    message = line(override)
    assert override.lstrip("+").split("=")[0] in message
    assert f"did you mean {nearest}?" in message


def test_nothing_near_lists_what_there_is():
    assert "there are" in line("model.zzzzzz=1")
    assert "embedding_dim" in line("model.zzzzzz=1")


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("seed=abc", "seed=abc"),
        ("train=maybe", "train=maybe"),
        ("model.word_hidden_dim=abc", "expected a whole number"),
        ("model.dropout=[1,2]", "expected a number"),
    ],
)
def test_a_wrong_type_is_named_before_anything_is_built(override, expected):
    assert expected in line(override)


def test_a_value_that_has_to_be_given():
    assert "data.path has no value yet" in line("data=documents")


def test_a_value_with_accents_is_to_be_quoted():
    override = "data.label_column=étoiles"
    with pytest.raises(HydraException) as caught:
        compose(["data=documents", override])
    message = explain(caught.value, ["data=documents", override])
    assert message == f"error: cannot read {override}: put such a value in quotes, \"data.label_column='étoiles'\""


def test_missing_equals_sign():
    assert "model" in line("model")


def test_an_unknown_root_key_is_refused_with_a_plus_too():
    assert "colour" in line("+colour=red")


class Other:
    task = "translation"

    def __init__(self) -> None: ...


def test_a_model_and_data_that_do_not_fit_name_what_does(monkeypatch):
    cfg = compose([])
    OmegaConf.set_struct(cfg, False)
    cfg.data = {"_target_": f"{__name__}.Other"}
    with pytest.raises(ConfigError) as caught:
        check(cfg)
    message = str(caught.value)
    assert "HAN and Other do not fit" in message
    assert "the data is for translation, the model serves classification" in message
    assert "For this model: data=" in message and "yelp" in message


def test_a_node_without_target():
    with pytest.raises(ConfigError, match="choose one with model=NAME"):
        check_arguments(None, "model")
