"""Attention to look at: on the terminal, as a page, as a picture; and the confusion matrix."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zoo.visualize.alignment import alignment_figure
    from zoo.visualize.confusion import confusion_figure
    from zoo.visualize.page import document_html
    from zoo.visualize.picture import document_figure, save_png
    from zoo.visualize.terminal import DocumentText, document_text

__all__ = [
    "DocumentText",
    "alignment_figure",
    "confusion_figure",
    "document_figure",
    "document_html",
    "document_text",
    "save_png",
]

_MODULES = {
    "DocumentText": "terminal",
    "alignment_figure": "alignment",
    "confusion_figure": "confusion",
    "document_figure": "picture",
    "document_html": "page",
    "document_text": "terminal",
    "save_png": "picture",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:  # late, so that text on the terminal does not wait for matplotlib
        return getattr(import_module(f"zoo.visualize.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'zoo.visualize' has no attribute {name!r}")
