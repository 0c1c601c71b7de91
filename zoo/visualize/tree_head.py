"""What stands above pictures of trees: the prediction, and the classes with their probabilities, which are the key to
the marks in the tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from zoo.visualize.drawing import INK, SOFT
from zoo.visualize.tree_marks import Mark
from zoo.visualize.tree_sheet import BRANCH, Letters, Sheet

BAR, TRACK = "#8b95a4", "#eff1f4"

# inches
MARGIN, NARROWEST = 0.35, 6.4
ROW, CLASS_BAR, NUMBER, DISC, LONGEST_NAME = 0.2, 1.1, 0.4, 0.4, 2.6
"""From class to class; of a bar, of the number behind it, of the mark before a name, and of a name at most."""
KEY_SHARE = 0.45
"""Of the width of a picture, which grows where the key needs more."""
APART = 0.25
"""Between what must not run into each other."""
MOST_CLASSES, MOST_ROWS = 6, 12
"""Of more classes only the likeliest and those that are seen in the tree are told, at most MOST_ROWS."""


def chosen(
    probabilities: Mapping[str, float], first: Iterable[str | None] = (), seen: Iterable[str | None] = ()
) -> list[str]:
    """The classes of the key: all of few, in their order; else `first`, then those that are `seen` in the tree, the
    most frequent first, then the likeliest, told from the likeliest on where they are not all."""
    classes = list(probabilities)
    if len(classes) <= MOST_CLASSES:
        return classes
    likeliest = sorted(classes, key=lambda name: -probabilities[name])
    wanted = [name for name, _ in Counter(seen).most_common()]
    named = [name for name in dict.fromkeys([*first, *wanted]) if name in probabilities][:MOST_ROWS]
    named = list(dict.fromkeys([*named, *likeliest]))[: max(MOST_CLASSES, len(named))]
    return classes if len(named) == len(classes) else [name for name in likeliest if name in set(named)]


class Head:
    """`large` is the prediction, `under` is below it; a `verdict` is words, a name, which is cut where both do not fit,
    and their colour. `marks` stand before the classes that are `told`, and the predicted one is `bold`."""

    def __init__(
        self,
        letters: Letters,
        probabilities: Mapping[str, float],
        told: Sequence[str],
        *,
        above: str,
        large: str,
        under: str,
        verdict: tuple[str, str, str] | None = None,
        marks: Mapping[str, Mark] | None = None,
        bold: str = "",
    ) -> None:
        self.letters, self.probabilities, self.told = letters, probabilities, told
        self.above, self.large, self.under, self.verdict = above, large, under, verdict
        self.marks, self.bold = marks or {}, bold
        self.names = [letters.cut(name, LONGEST_NAME, 8.5, "bold", told) for name in told]
        left_out = len(probabilities) - len(told)
        self.more = f"and {left_out:,} more" if left_out else ""
        widest = max((letters.width(name, 8.5, "bold") for name in [*self.names, self.more]), default=0.0)
        self.key = DISC + widest + 0.1 + CLASS_BAR + NUMBER

    @property
    def least(self) -> float:
        """The width below which the picture has too little room on the left."""
        return max(NARROWEST, self.key / KEY_SHARE)

    def _room(self, width: float) -> float:
        """From the margin to the key."""
        return width - 2 * MARGIN - self.key - APART

    def _verdict(self, width: float) -> tuple[float, float, str]:
        """How far right and how far down it stands, and what of it fits."""
        assert self.verdict is not None
        before, name, _ = self.verdict
        behind, room = self.letters.width(self.under, 8.5) + 0.2, self._room(width)
        if behind + self.letters.width(before + name, 8.5, "bold") <= room:
            return behind, 0.68, before + name
        left = room - self.letters.width(before, 8.5, "bold")
        return 0.0, 0.92, before + self.letters.cut(name, left, 8.5, "bold", self.probabilities)

    def height(self, width: float) -> float:
        """On a picture of that width."""
        below = 0.0 if self.verdict is None else self._verdict(width)[1] + 0.1
        return MARGIN + max(0.78, below, (len(self.told) + bool(self.more)) * ROW) + 0.25

    def draw(self, sheet: Sheet) -> None:
        sheet.write(MARGIN, MARGIN + 0.1, self.above)
        large = self.letters.cut(self.large, self._room(sheet.width), 15, "bold", self.probabilities)
        sheet.write(MARGIN, MARGIN + 0.41, large, 15, INK, weight="bold")
        sheet.write(MARGIN, MARGIN + 0.68, self.letters.cut(self.under, self._room(sheet.width), 8.5))
        if self.verdict is not None:
            right, down, said = self._verdict(sheet.width)
            sheet.write(MARGIN + right, MARGIN + down, said, color=self.verdict[2], weight="bold")
        for number, (name, written) in enumerate(zip(self.told, self.names, strict=True)):
            self._row(sheet, number, name, written)
        if self.more:
            y, right = MARGIN + 0.1 + len(self.told) * ROW, sheet.width - MARGIN
            rest = sum(share for name, share in self.probabilities.items() if name not in self.told)
            sheet.write(right - NUMBER - CLASS_BAR - 0.1, y, self.more, side="right")
            sheet.write(right, y, f"{rest:.2f}", side="right")

    def _row(self, sheet: Sheet, number: int, name: str, written: str) -> None:
        y, right = MARGIN + 0.1 + number * ROW, sheet.width - MARGIN
        bar, probability = right - NUMBER - CLASS_BAR, self.probabilities[name]
        weight, color = ("bold", INK) if name == self.bold else ("normal", SOFT)
        sheet.write(bar - 0.1, y, written, color=color, weight=weight, side="right")
        sheet.bar("tracks", bar, y - 0.09, CLASS_BAR, 0.1, TRACK)
        sheet.bar("bars", bar, y - 0.09, CLASS_BAR * probability, 0.1, INK if name == self.bold else BAR)
        sheet.write(right, y, f"{probability:.2f}", color=color, weight=weight, side="right")
        if name in self.marks:
            x = right - self.key + 0.1
            sheet.disc("nodes", x, y - 0.045, 0.082, self.marks[name].colour, BRANCH, 0.5)
            sheet.sign(x, y - 0.045, self.marks[name], 0.088)
