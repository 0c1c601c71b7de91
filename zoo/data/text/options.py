"""The keys that say how a text becomes tokens, or sentences of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from zoo.arguments import Count
from zoo.data.options import Options
from zoo.data.text.languages import writing
from zoo.errors import ConfigError

SUBWORDS = ("bpe", "unigram")
"""Tokenizers that are learned from the training texts."""
DEFAULT_SUBWORDS = 8000
"""How many there are where `data.text.vocabulary_size` does not say."""
UNSPACED_ADVICE = "text without blanks between words needs data.text.tokenizer=characters, unigram or spacy"
Language = Annotated[str, Field(pattern=r"^\w+$", description="the code of a language, such as de")]
Size = Annotated[int, Field(ge=6)]
"""Of a vocabulary: its special tokens, and something else."""


@dataclass(frozen=True)
class TokenOptions(Options):
    """How a text becomes tokens, and the tokens ids."""

    group: ClassVar[str] = "text"
    treebank: ClassVar[bool] = False
    """`words` of English are those of the Penn Treebank, which are not put together again, and not those of Moses."""

    tokenizer: Literal["words", "spacy", "whitespace", "characters", "bpe", "unigram"] = "words"
    """`words` by rules for the language, `spacy` by spaCy's, `whitespace`, `characters`, or subwords that are learned
    from the training texts, `bpe` or `unigram`."""
    lower: bool = True
    """Case is dropped."""
    minimum_frequency: Count = 1
    """Tokens that occur less often in the training texts are unknown; not for subwords."""
    vocabulary_size: Size | None = None
    """Tokens, the special ones included, at most; the rarest are unknown. None sets no limit to words and 8,000 to
    subwords."""

    @property
    def subwords(self) -> bool:
        """Tokens are learned."""
        return self.tokenizer in SUBWORDS


def check_language(tokenizer: str, language: str) -> None:
    """Raises ConfigError where `tokenizer` has no words to find."""
    if tokenizer == "words" and not writing(language).spaced:
        raise ConfigError(f"data.text.tokenizer=words has no rules for the language {language!r}: {UNSPACED_ADVICE}")


@dataclass(frozen=True)
class SentenceOptions(TokenOptions):
    """How a text that is only read becomes sentences of tokens, and the tokens ids."""

    treebank: ClassVar[bool] = True

    language: Language = "en"
    """Whose rules cut sentences, `words` and those of `spacy`."""
    sentences: Literal["punkt", "lines"] = "punkt"
    """`punkt` splits into sentences, `lines` takes one sentence a line."""
    max_sentences: Count = 100
    """Sentences of a text that are kept, from its beginning."""
    max_words: Count = 100
    """Words of a sentence that are kept, from its beginning."""
    max_word_length: Count = 40
    """Letters of a word that are kept."""
