"""Typos end in one line that names the key and the nearest right one."""

import shlex
from dataclasses import dataclass
from typing import Annotated, Literal

import pytest
from annotated_types import Ge, Lt
from hydra.errors import HydraException
from omegaconf import OmegaConf

from zoo.errors import ConfigError, DataError, did_you_mean, one_of
from zoo.run.arguments import check_arguments
from zoo.run.check import check
from zoo.run.compose import compose
from zoo.run.messages import explain
from zoo.values import hold


@dataclass
class Width:
    width: int


class WithOptions:
    def __init__(self, options: Width) -> None: ...


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


def test_a_name_in_a_message_stays_as_it_was_written():
    said = line("model=luong", "data=multi30k", "model.score=my_zoo.MyScore")
    assert said.startswith("error: model.score: it names my_zoo.MyScore, which is not here: No module")


def test_a_dataclass_among_the_arguments_is_left_to_itself():
    node = {"_target_": "tests.run.test_messages.WithOptions", "options": {"width": 3}}
    check_arguments(OmegaConf.create(node), "model")


def test_a_value_that_has_to_be_given():
    assert "data.path has no value yet" in line("data=documents")


def test_values_with_letters_that_hydra_does_not_read_are_to_be_quoted_all_at_once():
    overrides = ["data=documents", "data.label_column=étoiles", "data.split.val='là'", "data.text_column=评论"]
    with pytest.raises(HydraException) as caught:
        compose(overrides)
    message = explain(caught.value, overrides)
    quoted = "\"data.label_column='étoiles'\" \"data.text_column='评论'\""
    assert message == f"error: cannot read {overrides[1]} {overrides[3]}: put such values in quotes, {quoted}"


@pytest.mark.parametrize(
    ("word", "quoted"),
    [
        ("data.path=a=b.csv", "\"data.path='a=b.csv'\""),
        ("data.path=re (1).csv", "\"data.path='re (1).csv'\""),
        ("data.path=x,y.csv", "\"data.path='x,y.csv'\""),
        ("data.path=my files/x,y", "\"data.path='my files/x,y'\""),
        ("ckpt_path=logs/epoch=3-step=10.ckpt", "\"ckpt_path='logs/epoch=3-step=10.ckpt'\""),
        ("data.path=it's.csv", "'data.path='\"'\"'it\\'\"'\"'s.csv'\"'\"''"),
        ("data.path=50$.csv", None),
        ("data.path=5 $ (old).csv", "'data.path='\"'\"'5 $ (old).csv'\"'\"''"),
    ],
)
def test_a_value_with_signs_that_mean_something_to_hydra_is_answered_with_its_quoted_form(word, quoted):
    overrides = ["data=documents", word]
    if quoted is None:
        assert compose(overrides).data.path == word.partition("=")[2]
        return
    with pytest.raises(HydraException) as caught:
        compose(overrides)
    assert explain(caught.value, overrides) == f"error: cannot read {word}: put such values in quotes, {quoted}"
    (typed,) = shlex.split(quoted)
    key, _, value = word.partition("=")
    assert OmegaConf.select(compose(["data=documents", typed]), key) == value


def test_a_list_that_is_not_closed_is_not_a_value_to_be_quoted():
    assert "put such values in quotes" not in line("model.word_hidden_dim=[1,2")


def test_missing_equals_sign():
    assert "model" in line("model")


def test_an_unknown_root_key_is_refused_with_a_plus_too():
    assert "colour" in line("+colour=red")


class Other:
    tasks = ("translation",)

    def __init__(self) -> None: ...


def test_a_model_and_data_that_do_not_fit_name_what_does(monkeypatch):
    cfg = compose([])
    OmegaConf.set_struct(cfg, False)
    cfg.data = {"_target_": f"{__name__}.Other"}
    with pytest.raises(ConfigError) as caught:
        check(cfg)
    message = str(caught.value)
    assert "HAN and Other do not fit" in message
    assert "the data are for translation, the model serves classification" in message
    assert "For this model: data=" in message and "yelp" in message


def test_a_node_without_target():
    with pytest.raises(ConfigError, match="choose one with model=NAME"):
        check_arguments(None, "model")


class Bounded:
    """As networks say what their arguments may be."""

    def __init__(
        self,
        *,
        pooling: Literal["attention", "mean", "max"] = "mean",
        dropout: Annotated[float, Ge(0), Lt(1)] = 0.0,
        size: Annotated[int, Ge(1)] | None = None,
        sizes: Annotated[int, Ge(1)] | list[Annotated[int, Ge(1)]] = 1,
        rates: tuple[float, float] = (0.0, 1.0),
        either: bool | str = False,
        built: Exception | None = None,
    ) -> None: ...


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "pooling",
            "median",
            "part.pooling=median: expected attention, mean or max, found 'median'; did you mean 'mean'?",
        ),
        ("dropout", 1.5, "part.dropout=1.5: expected a number from 0 up to 1, without 1, found 1.5"),
        ("dropout", -0.1, "part.dropout=-0.1: expected a number from 0 up to 1, without 1, found -0.1"),
        ("dropout", True, "part.dropout=true: expected a number from 0 up to 1, without 1, found true"),
        ("size", 0, "part.size=0: expected a whole number from 1 on or null, found 0"),
        ("size", 2.0, "part.size=2.0: expected a whole number from 1 on or null, found 2.0"),
        ("size", "two", "part.size=two: expected a whole number from 1 on or null, found 'two'"),
        (
            "sizes",
            [3, 0],
            "part.sizes=[3, 0]: expected a whole number from 1 on or a list (each a whole number from 1 on), found",
        ),
        ("rates", [0.9], "part.rates=[0.9]: expected a list of 2 (each a number), found [0.9]"),
        ("either", 3, "part.either=3: expected true, false or text, found 3"),
        ("built", 3, "part.built=3: expected a group with a _target_ or null, found 3"),
    ],
)
def test_a_value_that_an_annotation_does_not_allow(name, value, said):
    with pytest.raises(ConfigError) as caught:
        check_arguments(OmegaConf.create({"_target_": f"{__name__}.Bounded", name: value}), "part")
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_values_that_annotations_allow():
    allowed = [("dropout", 0), ("size", None), ("size", 3), ("sizes", [3, 1]), ("rates", [1, 0.5]), ("either", "x")]
    for name, value in [*allowed, ("built", {"_target_": "zoo.Thing"})]:
        check_arguments(OmegaConf.create({"_target_": f"{__name__}.Bounded", name: value}), "part")


def test_a_bad_choice_is_a_value_error_too():
    with pytest.raises(
        ValueError, match="score=genral: expected dot or general, found 'genral'; did you mean 'general'"
    ):
        one_of("score", "genral", ["dot", "general"])


def test_what_there_is_where_nothing_is_near():
    assert did_you_mean("x", ["b", "a"]) == "there are a, b"
    assert did_you_mean("modl", ["model", "data"], "conf.") == "did you mean conf.model?"


def test_a_message_shows_the_beginning_of_a_long_value():
    """A value of a damaged file may be a megabyte long."""
    long = "it's" * 40_000
    assert str(DataError(f"a.csv, line 3: {long!r} isn't a number")) == (
        f'a.csv, line 3: "{long[:120]}..." isn\'t a number'
    )
    with pytest.raises(ConfigError) as caught:
        one_of("score", long, ["dot"])
    assert len(str(caught.value)) < 600
    with pytest.raises(ConfigError) as caught:
        hold("data.path", [long], int)
    assert len(str(caught.value)) < 600
    assert len(str(DataError(", ".join(f"column_{n}" for n in range(10_000))))) < 5000


def test_a_message_with_short_values_stays_as_it_is():
    about = "the network's words are 'a.', and then, after many other words that are not in quotes at all, and more, "
    assert str(DataError(about + "'b' isn't theirs")) == about + "'b' isn't theirs"
