"""The ways from a tree, typed brackets, or plain words to the tree that a network reads."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, Literal

from zoo.arguments import Count
from zoo.data.rows import beginning
from zoo.data.text.options import SUBWORDS, Language, TokenOptions
from zoo.data.text.tokenization import Tokenizer, tokenizer_of
from zoo.data.trees.brackets import EXAMPLE, parse
from zoo.data.trees.samples.parsing import EXAMPLES, PARSERS
from zoo.data.trees.tree import BUILDERS, Tree, binarised, build
from zoo.errors import ConfigError, UnusableInput
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


class TreeBuilder:
    """Builds trees by one method, `data.trees`, for one kind of network input.

    `inside` states whether nodes with children have words, as in dependency trees.
    """

    def __init__(self, trees: str, text: TreeTextOptions, *, inside: bool) -> None:
        """Raises ConfigError for a parser that is not installed, or that does not give such trees."""
        self.trees, self.text, self.inside = trees, text, inside
        self.tokenizer: Tokenizer = tokenizer_of(text, text.language)
        if trees.startswith(SPACY):
            if not inside:
                raise ConfigError(
                    f"data.trees={trees} builds trees with words at inner nodes, but these data need words only at "
                    f"leaves; use one of {', '.join(BUILDERS)}"
                )
            parser(trees.removeprefix(SPACY))

    def words(self, text: str) -> list[str]:
        """Cut a text into words."""
        return self.tokenizer.split(text).shown

    def of_tree(self, tree: Tree) -> Tree:
        """Return a tree of the data by this method: unchanged, binarised, or built on its first `max_words` words.

        A newly built tree keeps only the label of the root.
        """
        if self.trees == GIVEN:
            return tree
        if self.trees == BINARISED:
            return binarised(tree)
        return self._built(tree.words[: self.text.max_words], tree.label[tree.root])

    def of_line(self, line: str, spare: str | None) -> tuple[Tree, str | None]:
        """The tree of a typed line, and the method by which it was built (None for brackets).

        Plain text gets a tree on its first `max_words` words by the method of the data, or by `spare` if the data have
        given trees; one word needs no method. Raises UnusableInput for malformed brackets, for a text without words,
        and for a text if neither method builds trees.
        """
        text = line.strip()
        if text.startswith("("):
            try:
                tree = parse(text)
            except ValueError as error:
                raise UnusableInput(
                    f"{beginning(text)}: bad tree: {error} (a text that begins with '(' is read as a tree)"
                ) from error
            return (binarised(tree) if self.trees == BINARISED else tree), None
        words = self.words(text)
        if not words:
            raise UnusableInput(f"{beginning(line)}: found no words, expected a text or {EXAMPLE}")
        way = self.trees if builds(self.trees) else spare or ("balanced" if len(words) == 1 else None)
        if way is None:
            raise UnusableInput(
                f"{beginning(text)} has no tree, and the network was trained on parses; {advice(self.inside)}"
            )
        by = self if way == self.trees else TreeBuilder(way, self.text, inside=self.inside)
        return by._built(words[: self.text.max_words], None)._replace(words=words), way

    def _built(self, words: Sequence[str], label: str | None) -> Tree:
        if self.trees in BUILDERS:
            return build(words, BUILDERS[self.trees], inside=self.inside, label=label)
        if not self.trees.startswith(GRAMMAR):
            return parsed(words, self.trees.removeprefix(SPACY), label)
        sample = self.trees.removeprefix(GRAMMAR)
        if (found := PARSERS[sample](words, self.inside)) is None:
            raise UnusableInput(
                f"{beginning(' '.join(words))} is not a sentence of the sample's grammar, which parses for "
                f"example {EXAMPLES[sample]!r}; {advice(self.inside)}"
            )
        return found


def advice(inside: bool) -> str:
    """Advice for users whose text needs a tree, because the network was trained on parses."""
    way = f"pass --trees {SPACY}MODEL for a parser" if inside else "write its phrases in brackets"
    return f"{way}, or pass --trees balanced, with scores like those of a bag of words"


@cache
def parser(model: str) -> Any:
    """The spaCy pipeline called `model`. Raises ConfigError if it is not installed or has no parser."""
    try:
        pipeline = import_module("spacy").load(model)
    except ImportError as error:
        raise ConfigError(f"data.trees=spacy:{model}: spaCy is not installed; run pip install -e '.[spacy]'") from error
    except OSError as error:
        raise ConfigError(
            f"data.trees=spacy:{model}: spaCy has no such model; run python -m spacy download {model}"
        ) from error
    if "parser" not in pipeline.pipe_names:
        found = ", ".join(pipeline.pipe_names) or "nothing"
        raise ConfigError(f"data.trees=spacy:{model}: this model has no parser, only {found}; use another model")
    return pipeline


def parsed(words: Sequence[str], model: str, label: str | None) -> Tree:
    """The dependency tree of words by spaCy; the roots of later sentences become children of the first root."""
    pipeline = parser(model)
    document = import_module("spacy.tokens").Doc(pipeline.vocab, list(words))
    for _, part in pipeline.pipeline:
        document = part(document)
    roots = [token.i for token in document if token.head.i == token.i]
    parent = [token.head.i if token.head.i != token.i else roots[0] for token in document]
    parent[roots[0]] = -1
    labels: list[str | None] = [None] * len(parent)
    labels[roots[0]] = label
    return Tree(list(words), parent, list(range(len(parent))), labels)
