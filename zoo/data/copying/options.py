"""The keys by which sources and targets become tokens."""

from dataclasses import dataclass

from zoo.arguments import Count
from zoo.data.text.options import Language, TokenOptions


@dataclass(frozen=True)
class CopyTextOptions(TokenOptions):
    """How a source and the text to write become tokens, and the tokens ids of one vocabulary."""

    minimum_frequency: Count = 2
    language: Language = "en"
    """The language whose rules `words` and `spacy` follow."""
    max_source: Count | None = 400
    """The most tokens of a source that are kept, from its beginning; None keeps all."""
    max_target: Count | None = 100
    """The most tokens of a target that are kept, from its beginning; None keeps all."""
