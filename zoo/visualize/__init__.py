"""What tasks show: attention on the terminal, as a page, as a picture; the confusion matrix; data sets."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "DocumentText": "document_text",
    "View": "view",
    "alignment_figure": "alignment_picture",
    "confusion_figure": "confusion",
    "document_figure": "document_picture",
    "document_html": "document_page",
    "save_picture": "drawing",
    "view_of": "view",
}
"""What can be imported from here, and the module that it stands in."""

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:  # late, so that text on the terminal does not wait for matplotlib
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
