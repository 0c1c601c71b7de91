"""One corpus, one LightningDataModule. Imported late, so that a model that needs a batch does not load Lightning."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zoo.data.ag_news import AgNews
    from zoo.data.dates import Dates
    from zoo.data.documents import DocumentData
    from zoo.data.imdb import Imdb
    from zoo.data.multi30k import Multi30k
    from zoo.data.own_documents import Documents
    from zoo.data.pairs import PairData
    from zoo.data.parallel import Parallel
    from zoo.data.prepared import PreparedData
    from zoo.data.symbols import Copy, Reverse, Sort
    from zoo.data.yelp import Yelp

__all__ = [
    "AgNews",
    "Copy",
    "Dates",
    "DocumentData",
    "Documents",
    "Imdb",
    "Multi30k",
    "PairData",
    "Parallel",
    "PreparedData",
    "Reverse",
    "Sort",
    "Yelp",
]

MODULES = {
    "AgNews": "ag_news",
    "Copy": "symbols",
    "Dates": "dates",
    "DocumentData": "documents",
    "Documents": "own_documents",
    "Imdb": "imdb",
    "Multi30k": "multi30k",
    "PairData": "pairs",
    "Parallel": "parallel",
    "PreparedData": "prepared",
    "Reverse": "symbols",
    "Sort": "symbols",
    "Yelp": "yelp",
}


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return getattr(import_module(f"zoo.data.{MODULES[name]}"), name)
    raise AttributeError(f"module 'zoo.data' has no attribute {name!r}")
