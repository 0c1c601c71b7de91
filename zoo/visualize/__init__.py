"""Views: attention on the terminal, on a page and in a picture; the confusion matrix."""

from importlib import import_module
from typing import Any

_HOMES = {"View": "view", "confusion_figure": "classification", "save_picture": "renderers.canvas", "view_of": "view"}
"""The public names of this package, and their modules."""

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:  # imported on first use, so that text on the terminal does not wait for matplotlib
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
