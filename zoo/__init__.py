"""attention-zoo: attention and memory networks, one paper per file, trained with one command.

zoo.list_models(), zoo.list_data()           the catalogue
zoo.load("last")                             a trained network, which predicts
zoo.create_model("han", ...)                 a network to train in your own loop
zoo.load_data("yelp")                        batches
zoo.train(model="han", data="yelp")          all of `python train.py`
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zoo.run.catalogue import list_data, list_models
    from zoo.run.checkpoint import load
    from zoo.run.create import create_model
    from zoo.run.python import Result, load_data, train

__version__ = "0.1.0"
__all__ = ["Result", "__version__", "create_model", "list_data", "list_models", "load", "load_data", "train"]

_HOMES = {
    "Result": "python",
    "create_model": "create",
    "list_data": "catalogue",
    "list_models": "catalogue",
    "load": "checkpoint",
    "load_data": "python",
    "train": "python",
}
"""The modules of `zoo.run` that the names come from. They are imported late, so that `import zoo` is quick."""


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"zoo.run.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'zoo' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
