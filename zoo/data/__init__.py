"""One corpus, one LightningDataModule. Imported late, so that a model that needs a batch does not load Lightning."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zoo.data.ag_news import AgNews
    from zoo.data.documents import DocumentData
    from zoo.data.imdb import Imdb
    from zoo.data.own_documents import Documents
    from zoo.data.yelp import Yelp

__all__ = ["AgNews", "DocumentData", "Documents", "Imdb", "Yelp"]

MODULES = {
    "AgNews": "ag_news",
    "DocumentData": "documents",
    "Documents": "own_documents",
    "Imdb": "imdb",
    "Yelp": "yelp",
}


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return getattr(import_module(f"zoo.data.{MODULES[name]}"), name)
    raise AttributeError(f"module 'zoo.data' has no attribute {name!r}")
