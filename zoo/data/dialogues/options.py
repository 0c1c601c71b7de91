"""The keys by which the turns of dialogues become words."""

from dataclasses import dataclass

from zoo.arguments import Count
from zoo.data.text.options import Language, TokenOptions


@dataclass(frozen=True)
class DialogueTextOptions(TokenOptions):
    """How turns become words, and the words ids."""

    minimum_frequency: Count = 2
    language: Language = "en"
    """The language whose rules `words` and `spacy` follow."""
    max_words: Count | None = 100
    """The most words of a turn that are kept, from its beginning; None keeps all."""
