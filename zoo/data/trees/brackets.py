"""Trees in brackets, one a line, as treebanks have them: (3 (2 It) (4 (2 really) (4 works)))."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from zoo.data.rows import BadRows, Lines, guarded, line_of
from zoo.data.trees.row import Labelled
from zoo.data.trees.tree import Tree

# Blanks are those of ASCII: a no-break space stands inside tokens of the treebanks (2 1/2 is one).
WORD = re.compile(r"(?:[^ \t\n\r\f\v()]++|\)(?=[^ \t\n\r\f\v()]))++")
TOKEN = re.compile(rf"\(|{WORD.pattern}|\)")
ESCAPED = re.compile(r"\\([/*])")
EXAMPLE = "a tree such as (3 (2 It) (4 works))"


def parse(text: str) -> Tree:
    """The one tree that is written in brackets, its nodes numbered from the top, each before its children, and these
    from left to right.

    Behind ( stands a label, or nothing where another ( follows, then subtrees and bare words. One bare word alone makes
    the node a leaf, other bare words are leaves without a label. A ) with a letter right behind it, neither blank nor
    bracket, is a part of a word. Brackets without a label around one tree are taken off. In words, not in labels, `\\/`
    and `\\*` lose the backslash; -LRB- and the like stay. Raises ValueError, with the letter counted from 1, for what
    is not one tree.
    """
    words: list[str] = []
    parent: list[int] = []
    word: list[int] = []
    label: list[str | None] = []
    opened: list[tuple[int, int]] = []
    """Node and letter of each bracket that is open."""

    def add(its_word: int) -> None:
        parent.append(opened[-1][0] if opened else -1)
        word.append(its_word)
        label.append(None)

    before = ""
    for found in TOKEN.finditer(text):
        token, letter = found[0], found.start() + 1
        if not opened and (parent or token != "("):
            raise ValueError(f"found {token[:40]!r} at letter {letter}, expected {_outside(token, bool(parent))}")
        if token == "(":
            add(-1)
            opened.append((len(parent) - 1, letter))
        elif token == ")":
            node, _ = opened.pop()
            below = len(parent) - 1 - node
            if not below:
                what = f"the label {label[node]!r}" if label[node] else "'('"
                raise ValueError(f"found ')' at letter {letter} behind {what}, expected a word or a subtree")
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
    if opened or not parent:
        raise ValueError(_ended(opened, words))

    fan = Counter(parent)
    outer = 0
    while label[outer] is None and word[outer] < 0 and fan[outer] == 1:
        outer += 1
    return Tree(words, [-1, *(above - outer for above in parent[outer + 1 :])], word[outer:], label[outer:])


def _outside(token: str, behind: bool) -> str:
    """What to expect where no bracket is open, in place of a token behind a tree or before one."""
    if not behind:
        return f"'(': {EXAMPLE}"
    if token == "(":
        return "the end of the line behind the first tree; write one tree a line"
    return (
        "the end of the line: each '(' before it is closed" if token == ")" else "the end of the line behind the tree"
    )


def _ended(opened: list[tuple[int, int]], words: list[str]) -> str:
    """What to say of a text that ends inside a tree or before one."""
    if not opened:
        return f"found nothing, expected {EXAMPLE}"
    several = f", the last of {len(opened)} open ones" if len(opened) > 1 else ""
    glued = next((word for word in words if ")" in word), None)
    hint = f"; a ')' with a letter right behind it is a part of the word, as in {glued[:40]!r}" if glued else ""
    return f"found the end of the line, expected ')' for the '(' at letter {opened[-1][1]}{several}{hint}"


def unescaped(word: str) -> str:
    """The word without the backslash that the Penn Treebank writes before / and *."""
    return ESCAPED.sub(r"\1", word)


def written(tree: Tree) -> str:
    """The tree in brackets, on one line: `parse` gives it back, numbered from the top.

    Raises ValueError for a tree that brackets cannot hold: a word at a node with children, a node with neither, words
    that are not all at leaves from left to right, a word or a label with a blank or a bracket, a leaf without a label
    that stands alone or first below a node without one, or a root without a label above one node.
    """
    children = tree.children
    pieces: list[str] = []
    seen = 0
    waiting: list[int | None] = [tree.root]
    """Nodes to be written, last first; None where a bracket is to be closed."""
    while waiting:
        node = waiting.pop()
        if node is None:
            pieces.append(")")
            continue
        below, word, label = children[node], tree.word[node], tree.label[node]
        if (word >= 0) == bool(below):
            found = "a word and children" if below else "neither a word nor children"
            raise ValueError(f"node {node} has {found}; brackets hold trees with each word at a leaf")
        opening = f" ({_writable(label, node)}" if label is not None else " ("
        if below:
            bare_first = tree.word[below[0]] >= 0 and tree.label[below[0]] is None
            if bare_first and (label is None or len(below) == 1):
                raise ValueError(f"leaf {below[0]} has no label, and brackets would have its word for another thing")
            if label is None and node == tree.root and len(below) == 1:
                raise ValueError("the root has no label and one child, and such brackets are taken off when read")
            pieces.append(opening)
            waiting += [None, *reversed(below)]
            continue
        if word != seen:
            raise ValueError(f"leaf {node} has word {word}, expected {seen}: words stand in order in brackets")
        seen += 1
        text = _writable(ESCAPED.sub(r"\\\\\1", tree.words[word]), node)
        if label is not None:
            pieces.append(f"{opening} {text})")
        elif node == tree.root:
            raise ValueError("the tree is one word without a label, and brackets hold none without")
        else:
            pieces.append(f" {text}")
    if seen < len(tree.words):
        raise ValueError(f"word {seen}, {tree.words[seen]!r}, is at no leaf, and brackets hold only those that are")
    return "".join(pieces).lstrip()


def _writable(token: str, node: int) -> str:
    """The word or label of a node as it is. Raises ValueError where it would not be read as one."""
    if not WORD.fullmatch(token):
        raise ValueError(f"node {node} has {token!r}; write brackets as -LRB- and -RRB-, and no blanks")
    return token


@guarded
def read_trees(path: Path, bad: BadRows) -> Iterator[Labelled]:
    """The trees of a file, one a line; a line that begins with a blank goes on with a tree of which brackets are open,
    as in the .mrg files of the Penn Treebank. Blank lines are left out. What is not one tree is a bad row."""
    with Lines(path, encoding=bad.encoding) as lines:
        for number, text in _tree_lines(lines, bad):
            place = line_of(path, number)
            try:
                tree = parse(text)
            except ValueError as error:
                bad(place, "bad tree", str(error))
            else:
                yield Labelled(tree, place)


def _tree_lines(lines: Lines, bad: BadRows) -> Iterator[tuple[int, str]]:
    """The number of its first line and the text of each tree, of which all lines are text."""
    number, parts, opened = 0, list[str | None](), 0
    for text in chain(text_lines(lines, bad), [""]):
        goes_on = opened > 0 and (text is None or (text.startswith((" ", "\t")) and bool(text.strip())))
        if not goes_on:
            if parts and None not in parts:
                yield number, "\n".join(part for part in parts if part is not None)
            number, parts, opened = lines.number, [], 0
        if text is None:
            parts, opened = [*parts, None], opened or 1  # what it opens is not known
        elif text.strip():
            parts.append(text)
            opened += sum({"(": 1, ")": -1}.get(token, 0) for token in TOKEN.findall(text))


def text_lines(lines: Lines, bad: BadRows) -> Iterator[str | None]:
    """Each line without its end; None, once reported, for one that is no text."""
    for line in lines:
        undecodable = lines.undecodable
        lines.mark()
        if undecodable:
            bad(line_of(lines.path, lines.number), "not UTF-8", undecodable)
        elif "\0" in line:
            bad(line_of(lines.path, lines.number), "NUL byte", "the file is binary or damaged")
        yield None if undecodable or "\0" in line else line.rstrip("\r\n")
