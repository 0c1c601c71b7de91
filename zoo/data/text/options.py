"""The keys that define how a text becomes tokens, or sentences of tokens, and what sets languages apart."""

import re
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field

from zoo.arguments import Count
from zoo.data.options import Options
from zoo.errors import ConfigError

SUBWORDS = ("bpe", "unigram")  # Tokenizers that are learned from the training texts
DEFAULT_SUBWORDS = 8000  # The number of subwords if `data.text.vocabulary_size` is not set
UNSPACED_ADVICE = "text without blanks between words needs data.text.tokenizer=characters, unigram or spacy"
Language = Annotated[str, Field(pattern=r"^\w+$", description="the code of a language, such as de")]
Size = Annotated[int, Field(ge=6)]
"""The size of a vocabulary: the special tokens, and at least two others."""


@dataclass(frozen=True)
class NoText(Options):
    """No options: the examples have no text."""

    group: ClassVar[str] = "text"
    subwords: ClassVar[bool] = False


class Writing(NamedTuple):
    """How a language is written."""

    spaced: bool = True
    """Whether words have blanks between them. Otherwise the rules of `words` find none."""
    bleu: str = "13a"
    """The tokenizer of sacrebleu that cuts its texts for BLEU."""


WRITINGS = {
    "zh": Writing(spaced=False, bleu="zh"),
    "yue": Writing(spaced=False, bleu="zh"),
    "ja": Writing(spaced=False, bleu="ja-mecab"),
    "ko": Writing(bleu="ko-mecab"),
    **dict.fromkeys(("th", "lo", "km", "my", "bo"), Writing(spaced=False, bleu="char")),
}
"""Languages that differ from `Writing()`, by their primary codes."""
SHORTER = {
    "zho": "zh",
    "chi": "zh",
    "cmn": "zh",
    "jpn": "ja",
    "kor": "ko",
    "tha": "th",
    "lao": "lo",
    "khm": "km",
    "mya": "my",
    "bur": "my",
    "bod": "bo",
    "tib": "bo",
}
"""Codes of two letters for codes of three letters (ISO 639-2 and 639-3)."""


def primary(language: str) -> str:
    """The code of a language without script and country: `zh` for `zh_CN`, `ZH-Hant` and `zho_Hans`."""
    code = re.split("[_-]", language.lower())[0]
    return SHORTER.get(code, code)


def writing(language: str) -> Writing:
    """How a language is written, for any form of its code."""
    return WRITINGS.get(primary(language), Writing())


@dataclass(frozen=True)
class TokenOptions(Options):
    """How a text becomes tokens, and the tokens ids."""

    group: ClassVar[str] = "text"
    treebank: ClassVar[bool] = False
    """Whether `words` of English follow the Penn Treebank, whose tokens cannot be joined again, instead of Moses."""

    tokenizer: Literal["words", "spacy", "whitespace", "characters", "bpe", "unigram"] = "words"
    """`words` by rules for the language, `spacy` by the rules of spaCy, `whitespace`, `characters`, or subwords that
    are learned from the training texts: `bpe` or `unigram`."""
    lower: bool = True
    """Whether words become lower case."""
    minimum_frequency: Count = 1
    """Tokens that occur less often in the training texts are unknown. Subwords ignore it."""
    vocabulary_size: Size | None = None
    """The most tokens, including the special ones; the rarest are unknown. None: no limit for words, 8,000 for
    subwords."""

    @property
    def subwords(self) -> bool:
        """Whether tokens are learned."""
        return self.tokenizer in SUBWORDS


def check_language(tokenizer: str, language: str) -> None:
    """Raise ConfigError if `tokenizer` finds no words in the language."""
    if tokenizer == "words" and not writing(language).spaced:
        raise ConfigError(f"data.text.tokenizer=words has no rules for the language {language!r}: {UNSPACED_ADVICE}")


@dataclass(frozen=True)
class SentenceOptions(TokenOptions):
    """How a text that is only read becomes sentences of tokens, and the tokens ids."""

    treebank: ClassVar[bool] = True

    language: Language = "en"
    """The language whose rules split sentences; the tokenizers `words` and `spacy` have rules of it too."""
    sentences: Literal["punkt", "lines"] = "punkt"
    """`punkt` splits a text into sentences, `lines` has one sentence per line."""
    max_sentences: Count = 100
    """The most sentences of a text that are kept, from its beginning."""
    max_words: Count = 100
    """The most words of a sentence that are kept, from its beginning."""
    max_word_length: Count = 40
    """The most letters of a word that are kept."""
