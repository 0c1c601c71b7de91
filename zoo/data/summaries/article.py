"""An article and its summaries as they are in their file."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Article(NamedTuple):
    """One article."""

    text: str
    """The text. Sentences or paragraphs are on lines of their own, where the file separates them."""
    summaries: tuple[str, ...]
    """One or more summaries of equal rank, each with its sentences on lines of their own."""
    place: str
    """File and line, for messages."""
    name: str = ""
    """The identifier of the article in its corpus; empty without one."""
    evidence: Mapping[str, Any] = MappingProxyType({})
    """The places of the facts that the summary repeats, by the columns of the encoder; only for samples."""
