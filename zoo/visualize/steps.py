"""How many steps a network took at each position, drawn over the words."""

from collections.abc import Sequence

from zoo.predicting.classification import AttendedSentence
from zoo.visualize.blocks import Passage
from zoo.visualize.drawing import Key

STEPS = Key(long="The number after a text is how many steps the network took there; darker texts took more.")


def steps_passage(title: str, rows: Sequence[Sequence[str]], steps: Sequence[Sequence[int]]) -> Passage:
    """The texts of each row with their numbers of steps, shaded by the share of the largest one."""
    most = max((number for row in steps for number in row), default=1)
    sentences = [
        AttendedSentence(
            words=tuple(f"{word}:{number}" for word, number in zip(texts, numbers, strict=True)),
            weight=None,
            word_weights=tuple(number / most for number in numbers),
        )
        for texts, numbers in zip(rows, steps, strict=True)
    ]
    return Passage(sentences, "word", title=title, keys=(STEPS,))
