"""Trees in brackets, one per line, as treebanks have them: (3 (2 It) (4 (2 really) (4 works)))."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from zoo.data.rows import BadRows, Lines, beginning, guarded, line_of
from zoo.data.trees.tree import Labelled, Tree
from zoo.errors import DataError

# Blanks are those of ASCII: tokens of the treebanks may contain a no-break space (2 1/2 is one token).
LETTER = r"[^ \t\n\r\f\v()]"
WORD = re.compile(rf"\)?{LETTER}+(?:\){LETTER}+)*")  # not possessive: Python 3.11.2 cuts such groups short
TOKEN = re.compile(rf"\(|{WORD.pattern}|\)")
ESCAPED = re.compile(r"\\([/*])")
EXAMPLE = "a tree such as (3 (2 It) (4 works))"
OUTSIDE = {
    "(": "the end of the line after the first tree; write one tree per line",
    ")": "the end of the line: every '(' before it is closed",
}
"""Expectations for a bracket after the end of a tree."""


def parse(text: str) -> Tree:
    """Read one tree in brackets. Nodes are numbered from the top, each before its children, left to right.

    After ( follows a label, or nothing before another (, then subtrees and bare words. One bare word alone makes the
    node a leaf; other bare words are leaves without a label. A ) directly before a letter is part of a word. Brackets
    without a label around one tree are removed. Words, but not labels, lose the backslash of `\\/` and `\\*`. Raises
    ValueError, with the position of the letter from 1, for a text that is not one tree.
    """
    words: list[str] = []
    parent: list[int] = []
    word: list[int] = []
    label: list[str | None] = []
    opened: list[tuple[int, int]] = []
    """Node and letter of each open bracket."""

    def add(its_word: int) -> None:
        parent.append(opened[-1][0] if opened else -1)
        word.append(its_word)
        label.append(None)

    before = ""
    for found in TOKEN.finditer(text):
        token, letter = found[0], found.start() + 1
        if not opened and (parent or token != "("):
            expected = OUTSIDE.get(token, "the end of the line after the tree") if parent else f"'(': {EXAMPLE}"
            raise ValueError(f"found {token[:40]!r} at letter {letter}, expected {expected}")
        if token == "(":
            add(-1)
            opened.append((len(parent) - 1, letter))
        elif token == ")":
            node, _ = opened.pop()
            below = len(parent) - 1 - node
            if not below:
                what = f"the label {label[node]!r}" if label[node] else "'('"
                raise ValueError(f"found ')' at letter {letter} after {what}, expected a word or a subtree")
            # A leaf in brackets has a label and a bare one has none, so this is one bare word alone.
            if below == 1 and word[-1] >= 0 and label[-1] is None:
                word[node] = word[-1]
                del parent[-1], word[-1], label[-1]
        elif before == "(":
            label[opened[-1][0]] = token
        else:
            add(len(words))
            words.append(unescaped(token))
        before = token
    if opened:
        several = f", the last of {len(opened)} open brackets" if len(opened) > 1 else ""
        glued = next((one for one in words if ")" in one), None)
        hint = f"; a ')' directly before a letter is part of the word, as in {glued[:40]!r}" if glued else ""
        place = f"'(' at letter {opened[-1][1]}{several}{hint}"
        raise ValueError(f"found the end of the line, expected ')' for the {place}")
    if not parent:
        raise ValueError(f"found nothing, expected {EXAMPLE}")

    fan = Counter(parent)
    outer = 0
    while label[outer] is None and word[outer] < 0 and fan[outer] == 1:
        outer += 1
    return Tree(words, [-1, *(above - outer for above in parent[outer + 1 :])], word[outer:], label[outer:])


def unescaped(word: str) -> str:
    """Remove the backslash that the Penn Treebank writes before / and *."""
    return ESCAPED.sub(r"\1", word)


def written(tree: Tree) -> str:
    """Write the tree in brackets on one line. Raises DataError for a tree that `parse` does not read back."""
    tree = tree.from_top()
    children, pieces = tree.children, list[str]()
    waiting: list[int | None] = [0]
    """Nodes to be written, the next one last; None closes a bracket."""
    while waiting:
        node = waiting.pop()
        if node is None:
            pieces.append(")")
        elif children[node]:
            pieces.append(f" ({tree.label[node] or ''}")
            waiting += [None, *reversed(children[node])]
        else:
            label, word = tree.label[node], ESCAPED.sub(r"\\\\\1", tree.words[tree.word[node]])
            pieces.append(f" {word}" if label is None else f" ({label} {word})")
    text = "".join(pieces).lstrip()
    try:
        same = parse(text) == tree
    except ValueError:
        same = False
    if not same:
        raise DataError(
            f"{beginning(' '.join(tree.words))}: brackets cannot hold this tree; expected each word at a leaf, without "
            "blanks and brackets (-LRB- and -RRB-), and a label at a leaf that is alone or the first of a node without "
            "a label"
        )
    return text


@guarded
def read_trees(path: Path, bad: BadRows) -> Iterator[Labelled]:
    """The trees of a file, one per line. A line that begins with a blank continues a tree with open brackets, as in
    the .mrg files of the Penn Treebank."""
    for number, text in _tree_lines(path, bad):
        yield from read_tree(text, line_of(path, number), bad)


def read_tree(text: str, place: str, bad: BadRows) -> Iterator[Labelled]:
    """The row of a text; none, once reported, for a text that is not a tree."""
    try:
        yield Labelled(parse(text), place)
    except ValueError as error:
        bad(place, "bad tree", str(error))


def _tree_lines(path: Path, bad: BadRows) -> Iterator[tuple[int, str]]:
    """The number of the first line and the text of each tree whose lines can all be decoded."""
    first, parts, opened = 0, list[str | None](), 0
    for number, text in enumerate(chain(text_lines(path, bad), [""]), 1):
        continues = opened > 0 and (text is None or (text.startswith((" ", "\t")) and bool(text.strip())))
        if not continues:
            if parts and None not in parts:
                yield first, "\n".join(part for part in parts if part is not None)
            first, parts, opened = number, [], 0
        if text is None:
            parts, opened = [*parts, None], opened or 1  # its brackets are not known
        elif text.strip():
            parts.append(text)
            opened += sum({"(": 1, ")": -1}.get(token, 0) for token in TOKEN.findall(text))


def text_lines(path: Path, bad: BadRows) -> Iterator[str | None]:
    """Each line of a file without its end; None, once reported, for a line that is not text."""
    with Lines(path, encoding=bad.encoding) as lines:
        for line in lines:
            undecodable = lines.undecodable
            lines.mark()
            if undecodable:
                bad(line_of(path, lines.number), lines.problem, undecodable)
            elif "\0" in line:
                bad(line_of(path, lines.number), "NUL byte", "the file is binary or damaged")
            yield None if undecodable or "\0" in line else line.rstrip("\r\n")
