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
from zoo.predicting.trees import ReadTree
from zoo.visualize.view import View

CHOICE, LIMIT = "--trees chooses another", "data.text.max_words of the training data"
SPOKEN = {"balanced": "a balanced tree", "left": "a left-branching tree", "right": "a right-branching tree"}
LOSS = (
    "its scores are about as good as those of a bag of words (on the samples, SICK's Pearson falls from .92 to .46, "
    "and 394 of 1,000 roots of SST keep their class)"
)


class TreeView(View):
    """Trees, or texts for which trees are built."""

    trained_on_given = False  # Whether the training data had trees of their own, unlike those that are built

    def __init__(self) -> None:
        self._reported: set[str] = set()

    def options(self, group: _ArgumentGroup) -> None:
        ways = f"the tree for a {self.noun} without brackets; default: as in the training data if its trees were "
        ways += "built, the parse of the sample's grammar if it was a sample; otherwise plain text is refused"
        group.add_argument("--trees", metavar="|".join([*BUILDERS, f"{SPACY}MODEL"]), help=ways)

    def prepare(self, predictor: Any, options: Namespace) -> None:
        encoder: TreeReading = predictor.encoder
        trained, way = encoder.builder.trees, options.trees
        self.trained_on_given = not builds(trained)
        if way is None:
            return
        if not builds(way):
            ways = f"{', '.join(BUILDERS)} or {SPACY}MODEL with a parser that spaCy has installed"
            raise ConfigError(f"--trees {way}: expected {ways}")
        if way == trained:
            return
        if not self.trained_on_given:
            raise ConfigError(
                f"--trees {way}: this network was trained on texts with {spoken(trained)}, and reads all texts so; "
                f"leave the option out, or train with data.trees={way}"
            )
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
        for hint, note in self.notes(prediction).items():
            if hint not in self._reported:  # only the first note with each hint
                self._reported.add(hint)
                print(f"{note} ({hint})", file=sys.stderr)
        return super().terminal(prediction, number, options)

    def unknown(self, prediction: Any) -> list[str]:
        return [tree.words[place] for tree in self.trees(prediction) for place in tree.unknown]

    def notes(self, prediction: Any) -> dict[str, str]:
        """Return notes on how the input was read, by their hints: along a built tree, or only its beginning."""
        trees, found = self.trees(prediction), {}
        built = [tree for tree in trees if tree.built is not None]
        ways = dict.fromkeys(tree.built or "" for tree in built if len(tree.words) > 1)  # all trees of a word are equal
        if self.trained_on_given and (names := [spoken(way) for way in ways if not way.startswith(GRAMMAR)]):
            note = f"read along {' and '.join(names)}: none was given"
            found[CHOICE] = note if len(built) == len(trees) else f"one of the two was {note} for it"
        cut = [tree for tree in built if not (tree.built or "").startswith(GRAMMAR)]  # which leaves out the full stop
        read = [(sum(word >= 0 for word in tree.word), len(tree.words)) for tree in cut]
        if parts := [f"{some:,} of {every:,}" for some, every in read if some < every]:
            found[LIMIT] = f"only the first {' and '.join(parts)} words were read"
        return found

    def head_notes(self, prediction: Any) -> tuple[str, ...]:
        """Return the notes, those on trees in one line."""
        notes = self.notes(prediction)
        trees = "; ".join(notes.pop(hint) for hint in (CHOICE, LIMIT) if hint in notes)
        return tuple(filter(None, [trees, *notes.values()]))


def spoken(way: str) -> str:
    """Return the name of the trees that a way to build them gives."""
    return SPOKEN.get(way, f"the tree of {way}")
