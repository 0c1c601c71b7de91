"""Constructors that forward arguments: the keys of their TypedDict are arguments like any other."""

import inspect
from typing import Annotated, Any, Literal, Required, TypedDict, Unpack

import pytest
from annotated_types import Ge, Lt
from omegaconf import OmegaConf

from zoo.arguments import Count, Share
from zoo.errors import ConfigError
from zoo.run.arguments import check_arguments
from zoo.signature import signature
from zoo.values import in_words


class LoaderArguments(TypedDict, total=False):
    batch_size: Count
    shuffle: bool
    folder: str


class TextArguments(LoaderArguments, total=False):
    dropout: Share
    unit: Literal["word", "character"]


class Loader:
    def __init__(self, *, folder: str, batch_size: Count = 32, shuffle: bool = True, verbose: bool = False) -> None:
        self.given = {"folder": folder, "batch_size": batch_size, "shuffle": shuffle}


class Texts(Loader):
    def __init__(
        self, *, dropout: Share = 0.0, unit: Literal["word", "character"] = "word", **rest: Unpack[LoaderArguments]
    ) -> None:
        super().__init__(**rest)
        self.given |= {"dropout": dropout, "unit": unit}


class Untouched(Texts):
    """A class between the two levels that has no constructor."""


class Reviews(Untouched):
    def __init__(self, *, stars: Count, **rest: Unpack[TextArguments]) -> None:
        super().__init__(**rest)
        self.given |= {"stars": stars}


class Strict(TypedDict, total=False):
    batch_size: Required[Count]


class Renamed(Loader):
    def __init__(self, *, path: str, **rest: Unpack[Strict]) -> None:
        super().__init__(folder=path, **rest)


RIGHT = {"folder": "a", "batch_size": 8, "shuffle": False, "dropout": 0.5, "unit": "word", "stars": 5}


def node(**arguments: Any) -> Any:
    return OmegaConf.create({"_target_": f"{__name__}.Reviews", **arguments})


def test_the_keys_of_two_levels_are_arguments_with_their_bounds_and_defaults():
    found = signature(Reviews).parameters
    assert {name: (one.annotation, one.default) for name, one in found.items()} == {
        "stars": (Count, inspect.Parameter.empty),
        "batch_size": (Count, 32),
        "shuffle": (bool, True),
        "folder": (str, inspect.Parameter.empty),
        "dropout": (Share, 0.0),
        "unit": (Literal["word", "character"], "word"),
    }
    assert all(one.kind is one.KEYWORD_ONLY for one in found.values())
    bound = signature(Reviews).bind(**RIGHT)
    assert Reviews(**bound.kwargs).given == RIGHT


def test_what_a_class_gives_its_base_class_itself_is_no_argument():
    found = signature(Renamed).parameters
    assert list(found) == ["path", "batch_size"]
    assert found["batch_size"].default is inspect.Parameter.empty, "Required wins over the default of the base class"


def test_a_configuration_that_fits_both_levels_passes():
    check_arguments(node(**RIGHT), "data")
    check_arguments(node(stars=1, folder="a"), "data")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"batch_sise": 8}, "data.batch_sise: Reviews has no such argument; did you mean data.batch_size?"),
        ({"droput": 0.1}, "data.droput: Reviews has no such argument; did you mean data.dropout?"),
        ({"verbose": True}, "data.verbose: Reviews has no such argument; available: batch_size, dropout"),
        ({"batch_size": 0}, "data.batch_size=0: expected a whole number from 1 on, found 0"),
        ({"dropout": 1.5}, "data.dropout=1.5: expected a number from 0 to below 1, found 1.5"),
        ({"unit": "wrod"}, "data.unit=wrod: expected word or character, found 'wrod'; did you mean 'word'?"),
        ({"shuffle": "yes"}, "data.shuffle=yes: expected true or false, found 'yes'"),
        ({"folder": None}, "data.folder: Reviews needs it, but the configuration does not give it"),
        ({"stars": None}, "data.stars: Reviews needs it, but the configuration does not give it"),
    ],
)
def test_a_wrong_key_or_value_at_either_level_gets_one_line(change: dict[str, Any], message: str):
    arguments = {name: value for name, value in (RIGHT | change).items() if value is not None}
    with pytest.raises(ConfigError) as caught:
        check_arguments(node(**arguments), "data")
    assert str(caught.value).startswith(message)


class Bounded:
    """A class whose annotations limit its arguments, as in a network."""

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
    ("name", "value", "expected"),
    [
        ("dropout", True, "a number from 0 to below 1, found true"),
        ("size", 2.0, "a whole number from 1 on or null, found 2.0"),
        ("size", "two", "a whole number from 1 on or null, found 'two'"),
        ("sizes", [3, 0], "a whole number from 1 on or a list (each a whole number from 1 on), found [3, 0]"),
        ("rates", [0.9], "a list of 2 (each a number), found [0.9]"),
        ("either", 3, "true, false or text, found 3"),
        ("built", 3, "a group with a _target_ or null, found 3"),
        *(("dropout", 0, None), ("size", None, None), ("size", 3, None), ("sizes", [3, 1], None)),
        *(("rates", [1, 0.5], None), ("either", "x", None), ("built", {"_target_": "zoo.Thing"}, None)),
    ],
)
def test_a_value_that_an_annotation_does_not_allow(name, value, expected):
    one = OmegaConf.create({"_target_": f"{__name__}.Bounded", name: value})
    if expected is None:
        check_arguments(one, "part")
        return
    with pytest.raises(ConfigError) as caught:
        check_arguments(one, "part")
    shown = str(value).lower() if value is True else value
    assert str(caught.value) == f"part.{name}={shown}: expected {expected}"


def test_annotations_that_are_equal_but_for_their_order_are_named_in_it():
    assert int | str == str | int
    assert (in_words(int | str), in_words(str | int)) == ("a whole number or text", "text or a whole number")


def test_an_annotation_that_cannot_be_hashed_has_bounds_too():
    assert in_words(Annotated[int, Ge(3), {"a": 1}]) == "a whole number from 3 on"
