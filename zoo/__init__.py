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
    from zoo.visualize.attention import attention_page, attention_picture

__version__ = "0.1.0"
_HOMES = {
    "Result": "run.python",
    "attention_page": "visualize.attention",
    "attention_picture": "visualize.attention",
    "create_model": "run.create",
    "list_data": "run.catalogue",
    "list_models": "run.catalogue",
    "load": "run.checkpoint",
    "load_data": "run.python",
    "train": "run.python",
}
"""The public names and their modules, which are imported late, so that `import zoo` is quick."""

__all__ = [
    "Result",
    "__version__",
    "attention_page",
    "attention_picture",
    "create_model",
    "list_data",
    "list_models",
    "load",
    "load_data",
    "train",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"zoo.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'zoo' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
