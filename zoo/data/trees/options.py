"""How the words of trees become ids, and the ways to build a tree on words that have none."""

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from zoo.arguments import Count
from zoo.data.text.options import SUBWORDS, Language, TokenOptions
from zoo.data.trees.tree import BUILDERS
from zoo.errors import ConfigError
from zoo.values import refusal

GIVEN, BINARISED, SPACY, GRAMMAR = "given", "binarised", "spacy:", "grammar:"
WAYS = f"{GIVEN}, {BINARISED}, {', '.join(BUILDERS)}, or {SPACY}MODEL with a parser that spaCy has installed"
NAMES = (GIVEN, BINARISED, *BUILDERS)
"""The trees of the data, these with two children at each node, or trees that are built on the words."""


@dataclass(frozen=True)
class TreeTextOptions(TokenOptions):
    """How the words of trees become ids. A text without a tree is first cut into the words of the treebanks."""

    treebank: ClassVar[bool] = True

    language: Language = "en"
    """The language whose rules cut texts for the tokenizers `words` and `spacy`."""
    lower: bool = False
    vocabulary_splits: Literal["train", "all"] = "train"
    """The splits whose words get ids. With `all`, words that training does not have can use their pretrained vectors;
    without such vectors they keep random ones."""
    max_words: Count = 200
    """The most words on which a tree is built; later ones are left out."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tokenizer in SUBWORDS:
            raise ConfigError(f"data.text.tokenizer={self.tokenizer}: the leaves of trees are words; use words")


def check_way(trees: str) -> str:
    """Return `trees`. Raises ConfigError if it is not one of the ways."""
    if trees not in NAMES and not re.fullmatch(rf"{SPACY}\S+", str(trees)):
        raise refusal("data.trees", trees, WAYS, NAMES)
    return trees


def builds(trees: str) -> bool:
    """Whether this way builds trees on words, instead of reading those of the data."""
    return trees in BUILDERS or trees.startswith(SPACY)
