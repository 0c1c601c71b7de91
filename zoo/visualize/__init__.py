"""What tasks show: attention on the terminal, as a page, as a picture; the confusion matrix; data sets."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zoo.visualize.alignment import alignment_figure
    from zoo.visualize.confusion import confusion_figure
    from zoo.visualize.document_page import document_html
    from zoo.visualize.picture import document_figure, save_picture
    from zoo.visualize.terminal import DocumentText, document_text
    from zoo.visualize.view import View, view_of

__all__ = [
    "DocumentText",
    "View",
    "alignment_figure",
    "confusion_figure",
    "document_figure",
    "document_html",
    "document_text",
    "save_picture",
    "view_of",
]

_MODULES = {
    "DocumentText": "terminal",
    "View": "view",
    "alignment_figure": "alignment",
    "confusion_figure": "confusion",
    "document_figure": "picture",
    "document_html": "document_page",
    "document_text": "terminal",
    "save_picture": "picture",
    "view_of": "view",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:  # late, so that text on the terminal does not wait for matplotlib
        return getattr(import_module(f"zoo.visualize.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'zoo.visualize' has no attribute {name!r}")
