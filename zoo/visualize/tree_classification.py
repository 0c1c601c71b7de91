"""The view of tree classification: the class of a sentence and of all its phrases, on the tree."""

from typing import Any

from zoo.data.trees.builder import builds
from zoo.predicting.tree_classification import ExaminedTree, TreePrediction
from zoo.predicting.trees import ReadTree
from zoo.printable import shortened, shown
from zoo.visualize.blocks import Block, Classes, Head
from zoo.visualize.tree_view import TreeView
from zoo.visualize.trees.drawing import Tree, page_keys
from zoo.visualize.trees.marks import marks
from zoo.visualize.view import Field

NAMED, LONGEST_LABEL = 4, 60  # Labels that a note names, and letters of one label


class TreeClassificationView(TreeView):
    """Trees, or texts, with a class for each node."""

    typed = '"(_ (_ (_ not) (_ bad)) (_ (_ at) (_ all)))"'
    columns = ("text", "predicted", "probability")
    title = "The predicted class of each phrase"

    def try_it(self, data: Any) -> str:
        """Return a text of the data if the training built its trees, since only then plain text is read as well."""
        return super().try_it(data) if builds(data.trees) else self.typed

    def form(self) -> tuple[Field, ...]:
        return (Field("sentence, or tree in brackets", 2),)

    def trees(self, prediction: TreePrediction) -> list[ReadTree]:
        return [prediction.tree]

    def row(self, prediction: TreePrediction) -> list[Any]:
        probability = prediction.probabilities.get(prediction.label, 0.0)
        return [shown(" ".join(prediction.tree.words)), prediction.label, round(probability, 4)]

    def notes(self, prediction: TreePrediction) -> dict[str, str]:
        """Return the notes of `TreeView`, and one that names labels in the brackets which were not read."""
        labels = [shortened(label, LONGEST_LABEL) for label in prediction.unread]
        if not labels:
            return super().notes(prediction)
        more = f" and {len(labels) - NAMED:,} more" if len(labels) > NAMED else ""
        are = "are not classes" if len(labels) > 1 else "is not a class"
        note = f"the labels in the brackets were not read: {', '.join(labels[:NAMED])}{more} {are}"
        names = [shortened(name, LONGEST_LABEL) for name in prediction.probabilities]
        return super().notes(prediction) | {f"the classes are {', '.join(names)}": note}

    def blocks(self, prediction: TreePrediction, examined: ExaminedTree | None = None) -> list[Block]:
        name, probabilities, labels, given = prediction.label, prediction.probabilities, prediction.labels, examined
        if given is None and prediction.given is not None:  # a tree that was typed with its classes
            given = ExaminedTree(0, prediction, prediction.given[prediction.root], prediction.given, None)
        true, truth, evidence = (given.labels, given.truth, given.evidence) if given else (None, None, None)
        signs, first = marks(list(probabilities)), (name, truth, *labels, *(true or ()))
        tree = Tree(prediction.tree, labels, prediction.confidence, signs, true, evidence)
        classes = Classes(probabilities, name, marks=signs, first=first, in_one_line=True)
        notes, keys = self.head_notes(prediction), page_keys([tree], "its class")
        head = Head.compared(name, truth, "class", classes, above="predicted", notes=notes, keys=keys)
        return [head, tree]
