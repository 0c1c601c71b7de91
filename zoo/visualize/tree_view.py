"""What the views of both tasks that read trees share: which tree is put on a text that comes without one."""

from __future__ import annotations

import sys
from argparse import Namespace, _ArgumentGroup
from collections.abc import Sequence
from typing import Any, ClassVar

from zoo.data.trees.encoding import TreeReading
from zoo.data.trees.options import SPACY, builds
from zoo.data.trees.planting import Planting
from zoo.data.trees.tree import BUILDERS
from zoo.errors import ConfigError
from zoo.tasks.trees import ReadTree
from zoo.visualize import page, tree_page
from zoo.visualize.view import Predicts, View

CHOICE, LIMIT = "--trees chooses another", "data.text.max_words of the training data"
SPOKEN = {"balanced": "a balanced tree", "left": "a left-branching tree", "right": "a right-branching tree"}


class TreeView(View):
    """Trees, or texts on which trees are put."""

    style: ClassVar[str] = tree_page.STYLE
    title: ClassVar[str]
    """Of the page."""

    def __init__(self) -> None:
        self.trained_on_given = False
        """Whether the training data brought its trees along, so that one that is built is of another kind."""
        self._noted: set[str] = set()

    def options(self, group: _ArgumentGroup) -> None:
        ways = "|".join([*BUILDERS, f"{SPACY}MODEL"])
        group.add_argument(
            "--trees",
            metavar=ways,
            help=f"the tree that a {self.noun} without brackets is read along; "
            "default: as in the training data where it built them, else balanced",
        )

    def prepare(self, predictor: Predicts, options: Namespace) -> None:
        encoder = predictor.encoder
        assert isinstance(encoder, TreeReading)
        trained = encoder.planting.trees
        self.trained_on_given = not builds(trained)
        way: str | None = options.trees
        if way is None:
            return
        if not builds(way):
            ways = f"{', '.join(BUILDERS)} or {SPACY}MODEL with a parser that spaCy has installed"
            raise ConfigError(f"--trees {way}: expected {ways}")
        if not self.trained_on_given:
            if way != trained:
                raise ConfigError(
                    f"--trees {way}: the training data of this network had each text read along {spoken(trained)}, and "
                    f"so has what is predicted; leave it out, or train with data.trees={way}"
                )
            return
        try:
            Planting(way, encoder.planting.text, inside=encoder.planting.inside)
        except ConfigError as error:
            raise ConfigError(str(error).replace(f"data.trees={way}", f"--trees {way}")) from error
        encoder.spare = way

    def note(self, *trees: ReadTree) -> str:
        """That the network was trained on trees that the data brought along, and has read one that was built; empty
        where this is not so, and of a single word, on which all trees are the same."""
        ways = dict.fromkeys(tree.built for tree in trees if tree.built is not None and len(tree.words) > 1)
        if not self.trained_on_given or not ways:
            return ""
        said = f"read along {' and '.join(map(spoken, ways))}: none was given"
        one_was_given = any(tree.built is None for tree in trees)
        return f"one of the two was {said} for it" if one_was_given else said

    def cut(self, *trees: ReadTree) -> str:
        """That a text was read no further than those of the training data; empty where this is not so."""
        read = [(len(tree.words), sum(word >= 0 for word in tree.word)) for tree in trees if tree.built is not None]
        parts = [f"{some:,} of {every:,}" for every, some in read if some < every]
        return f"only the first {' and '.join(parts)} words were read" if parts else ""

    def notes(self, *trees: ReadTree) -> str:
        """All that has to be said of how trees were read."""
        return "; ".join(filter(None, [self.note(*trees), self.cut(*trees)]))

    def say(self, note: str, hint: str) -> None:
        """Writes a note to the standard error, of those with one hint the first."""
        if note and hint not in self._noted:
            self._noted.add(hint)
            print(f"{note} ({hint})", file=sys.stderr)

    def page(self, predictions: Sequence[Any | None]) -> str:
        articles = [None if prediction is None else self.article(prediction) for prediction in predictions]
        return page.html(self.about(predictions), articles, title=self.title, style=self.style)


def spoken(way: str) -> str:
    """What a way to build trees gives, in words."""
    return SPOKEN.get(way, f"the tree of {way}")
