"""Draw sentences in a picture: a bar for the weight of each sentence, a box behind each word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from zoo.visualize.blocks import Passage
from zoo.visualize.drawing import Drawing, tint
from zoo.visualize.renderers.parts import NORMAL, SMALL, Part, fitted
from zoo.visualize.texts.letters import Letters

TEXT_WIDTH, TEXT_LEFT = 796, 124
"""The width of a passage, and of its margin with bars and titles."""
BAR_LEFT, BAR_WIDTH, BAR_HEIGHT = 35, 67, 10.6
LINE, BOX, SENTENCE_GAP = 26, 20.6, 8.6
"""The heights of a line and of the box behind a word, and the room between two sentences."""


class Placed(NamedTuple):
    """A word of a passage."""

    word: str
    number: int
    """Its position in the sentence."""
    line: int
    left: float
    width: float


@fitted.register
def _(block: Passage, letters: Letters) -> Part:
    rows = placed_words(block, letters)
    note = _left_out(block, rows)
    height = sum(LINE * (1 + row[-1].line if row else 1) + SENTENCE_GAP for row in rows) + LINE * bool(note)

    def paint(sheet: Drawing, left: float, top: float, width: float) -> None:
        bars, shades, y = block.bars, block.shades(), top
        sheet.write(left, y + 22, block.title)
        for s, row in enumerate(rows):
            sheet.line("rules", [(left, y), (left + width, y)])
            y += SENTENCE_GAP / 2
            base = y + 17.8
            if bars is not None:
                weight = f"{block.sentences[s].weight:.2f}"
                color = "faint" if weight == "0.00" else "soft"
                sheet.write(left + BAR_LEFT - 8, base, weight, SMALL, color, side="right")
                sheet.box("tracks", left + BAR_LEFT, base - 10, BAR_WIDTH, BAR_HEIGHT)
                sheet.box("bars", left + BAR_LEFT, base - 10, BAR_WIDTH * bars[s], BAR_HEIGHT, "bar")
            for word in row:
                x, line = left + word.left, base + word.line * LINE
                strength = shades[s][word.number] if shades else 0.0
                if strength > 0.01:
                    sheet.box("words", x - 3.4, line - 15, word.width + 6.8, BOX, tint("attention", strength), 4.3)
                sheet.write(x, line, word.word, NORMAL, "ink")
            if block.evidence is not None:
                _underline(sheet, "evidence", row, block.evidence[s], left, base + 5)
            unknown = [number in block.sentences[s].unknown for number in range(len(block.sentences[s].words))]
            _underline(sheet, "unknown", row, unknown, left, base + 7.2)
            y += LINE * (1 + row[-1].line if row else 1) + SENTENCE_GAP / 2
        sheet.line("rules", [(left, y), (left + width, y)])
        sheet.write(left + TEXT_LEFT, y + 21, note)

    return Part(TEXT_WIDTH, lambda width: height, paint)


def placed_words(block: Passage, letters: Letters) -> list[list[Placed]]:
    """Return the words of the sentences that fit into `most_lines` lines; the last one shown may be cut."""
    space = letters.width("n n", NORMAL) - 2 * letters.width("n", NORMAL) + 2
    rows: list[list[Placed]] = []
    left_over = block.most_lines
    for sentence in block.sentences:
        if left_over <= 0:
            break
        row: list[Placed] = []
        line, left = 0, float(TEXT_LEFT)
        for number, word in enumerate(sentence.words):
            word = letters.cut(word, TEXT_WIDTH - TEXT_LEFT, NORMAL)
            width = letters.width(word, NORMAL)
            if left > TEXT_LEFT and left + width > TEXT_WIDTH:
                line, left = line + 1, float(TEXT_LEFT)
            if line == left_over:
                break
            row.append(Placed(word, number, line, left, width))
            left += width + space
        rows.append(row)
        left_over -= 1 + (row[-1].line if row else 0)
    return rows


def _left_out(block: Passage, rows: list[list[Placed]]) -> str:
    """Say what the picture does not show; empty where it shows all."""
    if not block.sentences:
        return "(no words)"
    cut = len(block.sentences[len(rows) - 1].words) - len(rows[-1])
    missing = block.sentences[len(rows) :]
    parts = [f"{cut:,} more word{'s' * (cut > 1)} of this sentence"] if cut else []
    if missing:
        weights = [sentence.weight for sentence in missing if sentence.weight is not None]
        attention = f" with {sum(weights):.2f} of the attention" if weights else ""
        parts.append(f"{len(missing):,} more sentence{'s' * (len(missing) > 1)}{attention}")
    return "… " + " and ".join(parts) if parts else ""


def _underline(sheet: Drawing, kind: str, row: list[Placed], marked: Sequence[bool], left: float, y: float) -> None:
    """Draw a line under each marked word, through to the next one where that is marked too."""
    for word, following in zip(row, [*row[1:], None], strict=False):
        if not marked[word.number]:
            continue
        right = word.left + word.width
        if following is not None and following.line == word.line and marked[following.number]:
            right = following.left
        below = y + word.line * LINE
        sheet.line(kind, [(left + word.left, below), (left + right, below)])
