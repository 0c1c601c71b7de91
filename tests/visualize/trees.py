"""Trees that the tests of this folder draw."""

from zoo.data.trees.brackets import parse
from zoo.data.trees.tree import BUILDERS, build
from zoo.predicting.relatedness import RelatednessPrediction
from zoo.predicting.tree_classification import ExaminedTree, TreePrediction
from zoo.predicting.trees import ReadTree

FINE = ("very negative", "negative", "neutral", "positive", "very positive")
TEXT = "(3 (2 (2 The) (2 film)) (3 (2 was) (3 (2 not) (1 (0 bad) (2 (2 at) (2 all))))))"
"""Its nodes by their numbers: 0 all, 1 The film, 2 The, 3 film, 4 was .. all, 5 was, 6 not .. all, 7 not, 8 bad at all,
9 bad, 10 at all, 11 at, 12 all."""


def read(text, weights=None, unknown=(), built=None):
    """A tree in brackets, as it was read, and the labels in it."""
    tree = parse(text)
    return ReadTree(tuple(tree.words), tuple(tree.parent), tuple(tree.word), weights, unknown, built), tree.label


def grown(words, way, *, inside=False):
    """Built over w0, w1, ..."""
    tree = build([f"w{number}" for number in range(words)], BUILDERS[way], inside=inside)
    return ReadTree(tuple(tree.words), tuple(tree.parent), tuple(tree.word), None)


def dependency(words, parent, weights=None, unknown=()):
    """Each word hangs on the one that `parent` names."""
    return ReadTree(tuple(words.split()), tuple(parent), tuple(range(len(parent))), weights, unknown)


def prediction(tree=None, labels=None, classes=FINE, probabilities=None):
    """TEXT as its labels say, or another tree; the probability of the label of a node is 0.5 and a bit."""
    if tree is None:
        tree, found = read(TEXT)
        labels = labels or [classes[int(label)] for label in found]
    labels = tuple(labels or (classes[number % len(classes)] for number in range(len(tree.parent))))
    said = labels[tree.parent.index(-1)]
    even = {name: 0.75 if name == said else 0.25 / (len(classes) - 1) for name in classes}
    return TreePrediction(
        label=said,
        probabilities=probabilities or even,
        tree=tree,
        labels=labels,
        confidence=tuple(0.5 + number / 1000 for number in range(len(labels))),
    )


def examined(wrong=(), evidence=None, **changes):
    """A prediction, true but for the nodes `wrong`, which are neutral and were predicted as something else."""
    right = prediction(**changes)
    labels = tuple("very positive" if node in wrong else label for node, label in enumerate(right.labels))
    true = tuple("neutral" if node in wrong else label for node, label in enumerate(right.labels))
    said = prediction(right.tree, labels)
    marked = None if evidence is None else tuple(node in evidence for node in range(len(true)))
    return ExaminedTree(0, said, true[0], true, marked)


PAIR = RelatednessPrediction(
    score=4.25,
    probabilities={"1": 0.0, "2": 0.0, "3": 0.125, "4": 0.5, "5": 0.375},
    first=dependency("A brown dog is running", (2, 2, 4, 4, -1)),
    second=dependency("The cat <runs>", (1, 2, -1), (0.125, 0.25, 0.625), (2,)),
)
