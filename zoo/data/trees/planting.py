"""From what there is of a sentence, a tree, brackets, or words alone, to the tree that is read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

from zoo.data.rows import beginning
from zoo.data.text.tokenization import Tokenizer, tokenizer_of
from zoo.data.trees.brackets import parse
from zoo.data.trees.options import BINARISED, GIVEN, SPACY, TreeTextOptions, builds
from zoo.data.trees.tree import BUILDERS, Tree, binarised, build
from zoo.errors import ConfigError, UnusableInput


class Planting:
    """Trees in one way, `data.trees`, for one kind of network input.

    `inside` says whether nodes with children have words, as in dependency trees.
    """

    def __init__(self, trees: str, text: TreeTextOptions, *, inside: bool) -> None:
        """Raises ConfigError for a parser that is not installed, or that does not give such trees."""
        self.trees, self.text, self.inside = trees, text, inside
        self.tokenizer: Tokenizer = tokenizer_of(text, text.language)
        if trees.startswith(SPACY):
            if not inside:
                raise ConfigError(
                    f"data.trees={trees} gives trees with words at inner nodes, and words stand at leaves here; take "
                    f"one of {', '.join(BUILDERS)}"
                )
            parser(trees.removeprefix(SPACY))

    def of_tree(self, tree: Tree) -> Tree:
        """A tree of the data in this way: as it is, with two children, or another one on its words, of which only the
        root keeps its label."""
        if self.trees == GIVEN:
            return tree
        if self.trees == BINARISED:
            return binarised(tree)
        return self._built(tree.words, tree.label[tree.root])

    def of_text(self, text: str, label: str | None = None) -> Tree:
        """A tree on the words of a text, of a longer one on the first `max_words`, as in training: those behind them
        are at no node. No node where it has no word."""
        words = self.tokenizer.split(text).shown
        if not words:
            return Tree([], [], [], [])
        return self._built(words[: self.text.max_words], label)._replace(words=words)

    def _built(self, words: Sequence[str], label: str | None) -> Tree:
        if self.trees in BUILDERS:
            return build(words, BUILDERS[self.trees], inside=self.inside, label=label)
        return parsed(words, self.trees.removeprefix(SPACY), label)

    def forms(self, words: Sequence[str]) -> list[str]:
        """Words as the vocabulary knows them."""
        return [word.lower() for word in words] if self.text.lower else list(words)


@cache
def parser(model: str) -> Any:
    """The pipeline of spaCy called `model`. Raises ConfigError where it is not installed or does not parse."""
    try:
        pipeline = import_module("spacy").load(model)
    except ImportError as error:
        raise ConfigError(f"data.trees=spacy:{model}: spaCy is not installed; pip install -e '.[spacy]'") from error
    except OSError as error:
        raise ConfigError(
            f"data.trees=spacy:{model}: spaCy has no such model; python -m spacy download {model}"
        ) from error
    if "parser" not in pipeline.pipe_names:
        found = ", ".join(pipeline.pipe_names) or "nothing"
        raise ConfigError(f"data.trees=spacy:{model}: this model has no parser, only {found}; take another one")
    return pipeline


def parsed(words: Sequence[str], model: str, label: str | None) -> Tree:
    """The dependency tree that spaCy puts on words; of several sentences the later ones hang on the first."""
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


def planted(line: str, planting: Planting, spare: str | None) -> tuple[Tree, str | None]:
    """The tree of a line that is typed, and what put it on its words: brackets are taken as they are, other text in the
    way of the data, or, where the data brought its trees along, by `spare`. Raises UnusableInput for brackets that are
    none, and for a text where neither builds."""
    text = line.strip()
    if text.startswith("("):
        try:
            tree = parse(text)
        except ValueError as error:
            said = f"{beginning(text)}: bad tree: {error} (what begins with '(' is read as a tree)"
            raise UnusableInput(said) from error
        return (binarised(tree) if planting.trees == BINARISED else tree), None
    way = planting.trees if builds(planting.trees) else spare
    if way is None:
        raise UnusableInput(
            f"{beginning(text)} has no tree: write it in brackets, or give --trees, one of {', '.join(BUILDERS)}"
        )
    by = planting if way == planting.trees else Planting(way, planting.text, inside=planting.inside)
    return by.of_text(text), way
