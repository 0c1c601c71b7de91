"""Constructors of models, data and tasks: at most twelve arguments, each with a name and with its bounds."""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    TypedDict,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

import pytest
from hydra.utils import get_class

from tests.catalogue import MODELS, ROOT, Model
from zoo.arguments import Count, Probability, Share
from zoo.attention import ScoreName
from zoo.signature import signature

MOST_ARGUMENTS = 12
BY_NAME = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def constructor_problems(cls: Any, arguments: dict[str, Any]) -> list[str]:
    """Problems of a model's constructor, or of the `arguments` in conf/model."""
    parameters = signature(cls).parameters
    found = length_problems(cls)
    names = [name for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY]
    if list(parameters) != ["spec", *names]:
        found.append("the constructor takes spec first and everything else by keyword")
    if set(arguments) != set(names):
        found.append(f"conf/model has the keys {sorted(arguments)}, the constructor {sorted(names)}")
        return found
    for name in names:
        default = parameters[name].default
        if default is not inspect.Parameter.empty and default is not None and arguments[name] is not None:
            allowed, given = (int, float) if isinstance(default, float) else type(default), arguments[name]
            if isinstance(default, bool) != isinstance(given, bool) or not isinstance(given, allowed):
                found.append(f"{name}: conf/model has {arguments[name]!r}, the constructor's default is {default!r}")
    try:
        signature(cls).bind("spec", **arguments)
    except TypeError as error:
        found.append(str(error))
    return found


def length_problems(cls: Any) -> list[str]:
    """Too many arguments of a constructor's own, or arguments that are accepted without a name. Those that it passes on
    to its base class are named by a TypedDict and are not counted."""
    own = [p for p in inspect.signature(cls).parameters.values() if p.kind is not p.VAR_KEYWORD]
    found = [f"{len(own)} arguments, more than {MOST_ARGUMENTS}"] if len(own) > MOST_ARGUMENTS else []
    if any(p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in signature(cls).parameters.values()):
        found.append("*args or **kwargs swallow typing errors: name the arguments")
    return found


def forwarding_problems(cls: Any) -> list[str]:
    """Keys of a TypedDict that a constructor forwards to its base class, and that the base class does not accept, or
    with another annotation."""
    found = []
    owners = [one for one in cls.__mro__ if "__init__" in vars(one)]
    for number, owner in enumerate(owners[:-1]):
        keys = get_type_hints(owner.__init__, include_extras=True)
        own, accepted = inspect.signature(owner).parameters, accepted_by(owners[number + 1 :])
        rest = next((name for name, p in own.items() if p.kind is p.VAR_KEYWORD), None)
        if rest is None:
            break
        if get_origin(keys.get(rest)) is not Unpack:
            continue
        for name, hint in get_type_hints(get_args(keys[rest])[0], include_extras=True).items():
            hint = get_args(hint)[0] if get_origin(hint) in (Required, NotRequired) else hint
            if name not in accepted:
                found.append(f"{owner.__name__} forwards {name}, which no base class accepts")
            elif accepted[name].annotation != hint:
                found.append(f"{owner.__name__} forwards {name} as {hint}, not as {accepted[name].annotation}")
    return found


def accepted_by(bases: Sequence[Any]) -> dict[str, inspect.Parameter]:
    """The parameters of the first base class, and, while one passes on anything, those of the next."""
    found: dict[str, inspect.Parameter] = {}
    for base in bases:
        parameters = signature(base).parameters
        for name, parameter in parameters.items():
            found.setdefault(name, parameter)
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
            break
    return found


def annotation_problems(cls: Any) -> list[str]:
    """Arguments of a constructor whose annotation does not say what is allowed."""
    found = []
    for name, hint in get_type_hints(cls.__init__, include_extras=True).items():
        if name in ("spec", "return"):
            continue
        kinds = list(leaves(hint))
        found += [f"{name}: {kind.__name__} says too little; see zoo/arguments.py" for kind in kinds if kind in BARE]
        if "dropout" in name and Share not in kinds:
            found.append(f"{name} is a Share")
        named = any(get_args(kind)[:1] == (str,) for kind in kinds)  # such as layers by a letter each
        if re.search(r"_dim$|^num_|layers$|^heads$", name) and Count not in kinds and not named:
            found.append(f"{name} is a Count")
    return found


def leaves(hint: Any) -> Iterator[Any]:
    """The types that an annotation is made of; one with a bound is a leaf, and so is a mapping: the arguments of a part
    of the network, which are held against its own class."""
    inner = () if get_origin(hint) in (Annotated, Literal, Mapping) else get_args(hint)
    if not inner:
        yield hint
    for part in inner:
        yield from leaves(part)


BARE = (int, float, str)  # Types that allow what no network can use; a choice is a Literal, a number is bounded


@BY_NAME
def test_constructor(model: Model) -> None:
    assert constructor_problems(model.cls, model.arguments) == []


@BY_NAME
def test_annotations(model: Model) -> None:
    assert annotation_problems(model.cls) == []


def targets() -> dict[str, set[str]]:
    """Every class of the zoo that a file of conf builds, with the files."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "conf").rglob("*.yaml")):
        for target in re.findall(r"^\s*_target_:\s*(\S+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            found.setdefault(target, set()).add(path.name)
    return found


@pytest.mark.parametrize("target", [target for target in targets() if target.startswith("zoo.")])
def test_constructors_of_all_that_is_configured(target: str) -> None:
    cls = get_class(target)
    assert length_problems(cls) + forwarding_problems(cls) == []


class _Right:
    def __init__(self, spec: Any, *, width: int = 4, rate: float = 0.5, gate: bool = True, kind: str = "a") -> None: ...


class _Swallows:
    def __init__(self, spec: Any, *, width: int = 4, **rest: Any) -> None: ...


class _Arguments(TypedDict, total=False):
    width: Count
    rate: Share


class _Base:
    def __init__(self, spec: Any, *, width: Count = 4, rate: Share = 0.5) -> None: ...


class _Forwards(_Base):
    def __init__(self, spec: Any, *, kind: Literal["a", "b"] = "a", **rest: Unpack[_Arguments]) -> None:
        super().__init__(spec, **rest)


class _Widened(_Base):
    def __init__(self, spec: Any, *, width: int, height: Count, **rest: Unpack[_Arguments]) -> None: ...


class _Lost(_Widened):
    def __init__(self, spec: Any, **rest: Unpack[_Arguments]) -> None: ...


class _Positional:
    def __init__(self, spec: Any, width: int = 4) -> None: ...


class _Long:
    def __init__(self, spec: Any, *, a=1, b=1, c=1, d=1, e=1, f=1, g=1, h=1, i=1, j=1, k=1, m=1) -> None: ...


class _Annotated:
    def __init__(
        self, spec: Any, *, encoder: Mapping[str, Any], hidden_dim: Count | None, dropout: Share, reverse: bool,
        layers: Count | list[list[Count]], init: Literal["a"], score: ScoreName,
    ) -> None: ...  # fmt: skip


class _Bare:
    def __init__(
        self, *, hidden_dim: int, layers: Share, inner_dropout: Probability, sizes: list[list[str]]
    ) -> None: ...


def test_an_annotation_that_says_too_little_is_found() -> None:
    assert annotation_problems(_Annotated) == []
    problems = [problem.split(":")[0].split(" ")[0] for problem in annotation_problems(_Bare)]
    assert sorted(problems) == ["hidden_dim", "hidden_dim", "inner_dropout", "layers", "sizes"]


RIGHT = {"width": 8, "rate": 0, "gate": False, "kind": "b"}


@pytest.mark.parametrize(
    ("cls", "arguments", "problem"),
    [
        (_Right, RIGHT, None),
        (_Right, RIGHT | {"width": "wide"}, "width"),
        (_Right, RIGHT | {"width": True}, "width"),
        (_Right, RIGHT | {"gate": 1}, "gate"),
        (_Right, RIGHT | {"rate": "0.5"}, "rate"),
        (_Right, RIGHT | {"widht": 8}, "keys"),
        (_Right, {"width": 8}, "keys"),
        (_Swallows, {"width": 8}, "swallow"),
        (_Forwards, {"width": 8, "rate": 0, "kind": "b"}, None),
        (_Forwards, {"width": 8, "rate": 0}, "keys"),
        (_Forwards, {"width": 8, "rate": "fast", "kind": "b"}, "rate"),
        (_Positional, {"width": 8}, "by keyword"),
        (_Long, dict.fromkeys("abcdefghijkm", 1), "13 arguments"),
    ],
)
def test_a_wrong_constructor_or_configuration_is_found(
    cls: Any, arguments: dict[str, Any], problem: str | None
) -> None:
    found = constructor_problems(cls, arguments)
    assert found == [] if problem is None else any(problem in text for text in found)


def test_arguments_that_the_base_class_does_not_accept_are_found() -> None:
    assert forwarding_problems(_Right) == forwarding_problems(_Forwards) == []
    (problem,) = forwarding_problems(_Lost)
    assert "_Lost forwards width as" in problem and "not as <class 'int'>" in problem
    assert forwarding_problems(type("_Far", (_Base,), {"__init__": _Lost.__init__})) == []


def test_targets_of_the_configuration_exist() -> None:
    """Every `_target_` of conf is a class or function that imports, of a package that Hydra may build."""
    for target, files in targets().items():
        assert target.split(".")[0] in ("zoo", "torch", "torchvision", "torchmetrics", "lightning"), target
        assert get_class(target), f"{files}: {target}"
