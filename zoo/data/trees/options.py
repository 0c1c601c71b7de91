"""How words of trees become ids, and what puts a tree on words that have none."""

from __future__ import annotations

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
"""Where the trees come from: as they stand in the data, these with two children at each node, or built on the words."""


@dataclass(frozen=True)
class TreeTextOptions(TokenOptions):
    """How the words of trees become ids; a text without a tree is cut into words before, those of the treebanks."""

    treebank: ClassVar[bool] = True

    language: Language = "en"
    """Whose rules cut `words` and those of `spacy`."""
    lower: bool = False
    vocabulary_splits: Literal["train", "all"] = "train"
    """Whose words have ids: those of the training trees, or of all splits, so that pretrained vectors serve words that
    training does not have; without such vectors these keep the random ones that they start with."""
    max_words: Count = 200
    """Words of a text without a tree that are kept, from its beginning."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tokenizer in SUBWORDS:
            raise ConfigError(f"data.text.tokenizer={self.tokenizer}: the leaves of trees are words; take words")


def check_way(trees: str) -> str:
    """`trees` as it is. Raises ConfigError where there is no such way."""
    if trees not in NAMES and not re.fullmatch(rf"{SPACY}\S+", str(trees)):
        raise refusal("data.trees", trees, WAYS, NAMES)
    return trees


def builds(trees: str) -> bool:
    """Whether this way puts trees on words, instead of reading those that stand in the data."""
    return trees in BUILDERS or trees.startswith(SPACY)
