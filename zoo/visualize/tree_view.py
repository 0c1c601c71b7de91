"""The base of the views of tasks that read trees: it chooses the tree for a text that comes without one."""

import sys
from abc import abstractmethod
from argparse import Namespace, _ArgumentGroup
from typing import Any

from rich.console import RenderableType

from zoo.data.trees.builder import GRAMMAR, SPACY, TreeBuilder, builds
from zoo.data.trees.encoding import TreeReading
from zoo.data.trees.tree import BUILDERS
from zoo.errors import ConfigError
from zoo.tasks.trees import ReadTree
from zoo.visualize.view import Predicts, View

CHOICE, LIMIT = "--trees chooses another", "data.text.max_words of the training data"
SPOKEN = {"balanced": "a balanced tree", "left": "a left-branching tree", "right": "a right-branching tree"}
LOSS = (
    "its scores are about as good as those of a bag of words (on the samples, SICK's Pearson falls from .92 to .46, "
    "and 394 of 1,000 roots of SST keep their class)"
)


class TreeView(View):
    """Trees, or texts for which trees are built."""

    trained_on_given = False
    """Whether the training data had trees of their own, so that a built tree is of another kind."""

    def __init__(self) -> None:
        self._reported: set[str] = set()

    def options(self, group: _ArgumentGroup) -> None:
        ways = (
            f"the tree for a {self.noun} without brackets; default: as in the training data if its trees were "
            "built, the parse of the sample's grammar if it was a sample; otherwise plain text is refused"
        )
        group.add_argument("--trees", metavar="|".join([*BUILDERS, f"{SPACY}MODEL"]), help=ways)

    def prepare(self, predictor: Predicts, options: Namespace) -> None:
        encoder = predictor.encoder
        assert isinstance(encoder, TreeReading)
        trained = encoder.builder.trees
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
                    f"--trees {way}: this network was trained on texts with {spoken(trained)}, and reads all texts so; "
                    f"leave the option out, or train with data.trees={way}"
                )
            return
        try:
            TreeBuilder(way, encoder.builder.text, inside=encoder.builder.inside)
        except ConfigError as error:
            raise ConfigError(str(error).replace(f"data.trees={way}", f"--trees {way}")) from error
        encoder.spare = way
        if way in BUILDERS:
            print(f"warning: the network was trained on parses, not on {spoken(way)}; {LOSS}", file=sys.stderr)
            self._reported.add(CHOICE)  # the note would repeat the warning

    @abstractmethod
    def trees(self, prediction: Any) -> list[ReadTree]:
        """Return the trees of a prediction."""

    def terminal(self, prediction: Any, number: int, options: Namespace) -> RenderableType:
        for hint, note in self.notes(*self.trees(prediction)).items():
            self.report(note, hint)
        return super().terminal(prediction, number, options)

    def unknown(self, prediction: Any) -> list[str]:
        return [tree.words[place] for tree in self.trees(prediction) for place in tree.unknown]

    def notes(self, *trees: ReadTree) -> dict[str, str]:
        """Return notes on how trees were read, by their hints.

        One says that the network was trained on given trees but has read a built one; all trees of a single word are
        equal. The other one says that only the beginning of a text was read, as of the training texts.
        """
        built, found = [tree for tree in trees if tree.built is not None], {}
        ways = dict.fromkeys(tree.built or "" for tree in built if len(tree.words) > 1)
        if self.trained_on_given and (names := [spoken(way) for way in ways if not way.startswith(GRAMMAR)]):
            note = f"read along {' and '.join(names)}: none was given"
            found[CHOICE] = note if len(built) == len(trees) else f"one of the two was {note} for it"
        # a grammar leaves out the full stop
        cut = [tree for tree in built if not (tree.built or "").startswith(GRAMMAR)]
        read = [(sum(word >= 0 for word in tree.word), len(tree.words)) for tree in cut]
        if parts := [f"{some:,} of {every:,}" for some, every in read if some < every]:
            found[LIMIT] = f"only the first {' and '.join(parts)} words were read"
        return found

    def report(self, note: str, hint: str) -> None:
        """Write a note to the standard error, only the first one with each hint."""
        if note and hint not in self._reported:
            self._reported.add(hint)
            print(f"{note} ({hint})", file=sys.stderr)


def spoken(way: str) -> str:
    """Return the name of the trees that a way to build them gives."""
    return SPOKEN.get(way, f"the tree of {way}")
