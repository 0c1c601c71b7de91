"""Parses as heads: the files of the Tree-LSTM's authors (https://github.com/stanfordnlp/treelstm) and CoNLL-U.

The authors' files have one sentence per line: its tokens (.toks), and the head of each token, counted from 1
(.parents). Constituency parses (.cparents) count nodes, the words first. CoNLL-U is described at
https://universaldependencies.org/format.html.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np

from zoo.data.rows import BadRows, guarded, line_of
from zoo.data.trees.brackets import text_lines, unescaped
from zoo.data.trees.tree import Tree
from zoo.errors import DataError

ROOT, OUTSIDE = 0, -1  # Heads of the root and, in .parents, of a token that is not in the tree
BETWEEN = re.compile(r"[ \t]+")
"""Separates the tokens of a line; a token may contain a no-break space."""
WHOLE = re.compile(r"-?[0-9]{1,9}")
CONLLU_COLUMNS = 10
LEFT_OUT = re.compile(r"[0-9]+[-.][0-9]+")
"""Matches the numbers of tokens with several words, e.g. 1-2, and of empty nodes, e.g. 1.1."""

Builder = Callable[[Sequence[str], Sequence[int]], Tree]
"""Builds the tree of words and heads. Raises BadTree."""


class BadTree(ValueError):
    """Heads that do not form a tree."""

    def __init__(self, problem: str, detail: str, node: int = 0) -> None:
        """`problem` and `detail` as for `BadRows`; `node`, from 0, is where the problem is."""
        super().__init__(f"{problem}: {detail}")
        self.problem, self.detail, self.node = problem, detail, node


# From heads to trees


def dependency_tree(words: Sequence[str], heads: Sequence[int]) -> Tree:
    """Build the tree with a node for each of its words, in order, without labels.

    `heads` has for each word the number of its head from 1, 0 for the root, -1 for a word outside the tree. Raises
    BadTree.
    """
    if len(heads) != len(words):
        raise BadTree("numbers differ", f"found {len(words)} tokens and {len(heads)} heads, expected one per token")
    _check(heads, "token")
    inside = [token for token, head in enumerate(heads) if head != OUTSIDE]
    for token in inside:
        if heads[token] != ROOT and heads[heads[token] - 1] == OUTSIDE:
            found = f"token {token + 1} has head {heads[token]}, whose own head is {OUTSIDE}"
            raise BadTree("head outside the tree", f"{found}; expected a head in the tree", token)
    node = {token + 1: number for number, token in enumerate(inside)} | {ROOT: -1}
    return Tree(list(words), [node[heads[token]] for token in inside], inside, [None] * len(inside))


def binary_tree(words: Sequence[str], parents: Sequence[int]) -> Tree:
    """Build the tree with n words at its leaves, two children at each other node, and no labels, from the top.

    `parents` has for each of the 2 n - 1 nodes, the words first, the number of its parent from 1, 0 for the root.
    Raises BadTree.
    """
    count = len(words)
    if len(parents) != 2 * count - 1:
        found = f"found {count} words and {len(parents)} parents"
        raise BadTree("numbers differ", f"{found}, expected one for each of {max(2 * count - 1, 0)} nodes")
    _check(parents, "node")
    fan = Counter(parents)
    for node in range(len(parents)):
        expected = 0 if node < count else 2
        if fan[node + 1] != expected:
            found = f"node {node + 1} is the parent of {fan[node + 1]}, expected {expected}"
            leaves = f"nodes 1 to {count} are the words, the others have two children"
            raise BadTree("not binary", f"{found}: {leaves}", node)
    above = [parent - 1 for parent in parents]
    return Tree(list(words), above, [*range(count), *[-1] * (count - 1)], [None] * len(parents)).from_top()


def _check(heads: Sequence[int], kind: Literal["token", "node"]) -> None:
    """Raise BadTree unless heads, counted from 1, are in range, one is the root, and all lead to it or to OUTSIDE."""
    head_name, whole = ("head", "sentence") if kind == "token" else ("parent", "tree")
    lowest = OUTSIDE if kind == "token" else ROOT
    for number, head in enumerate(heads, 1):
        if not lowest <= head <= len(heads):
            allowed = f"{ROOT} for the root or 1 to {len(heads)}"
            found = f"{kind} {number} has {head_name} {head}, expected {allowed}"
            raise BadTree(f"{head_name} beyond the {whole}", found, number - 1)
    roots = [number for number, head in enumerate(heads, 1) if head == ROOT]
    if not roots:
        raise BadTree("no root", f"no {kind} has {head_name} {ROOT}, expected one")
    if len(roots) > 1:
        found = f"{kind}s {roots[0]} and {roots[1]} have {head_name} {ROOT}"
        raise BadTree("two roots", f"{found}, expected one", roots[1] - 1)
    if cycle := _cycle(heads):
        found = " -> ".join(map(str, [*cycle, cycle[0]]))
        raise BadTree("a cycle", f"{kind}s {found} are each other's {head_name}s", cycle[0] - 1)


def _cycle(heads: Sequence[int]) -> list[int]:
    """Numbers from 1 that form a cycle, each followed by its head; empty if there is none."""
    above = np.maximum([0, *heads], 0)  # the number 0, which is outside the cycles, is its own head
    for _ in range(len(heads).bit_length()):
        above = above[above]
    cycle = [int(above[above > 0].min())] if above.any() else []
    while cycle and (head := heads[cycle[-1] - 1]) != cycle[0]:
        cycle.append(head)
    return cycle


def dependency_heads(tree: Tree) -> list[int]:
    """The inverse of `dependency_tree`."""
    found = [OUTSIDE] * len(tree.words)
    for word, above in zip(tree.word, tree.parent, strict=True):
        found[word] = tree.word[above] + 1 if above >= 0 else ROOT
    return found


def constituency_parents(tree: Tree) -> list[int]:
    """The inverse of `binary_tree`: the words are the first nodes, in their order."""
    order = sorted(range(len(tree.parent)), key=lambda node: (tree.word[node] < 0, tree.word[node], node))
    return [above + 1 for above in tree.numbered(order).parent]


# Files of the Tree-LSTM's authors


def tree_of(words: str, heads: str, builder: Builder, place: str, bad: BadRows) -> Tree | None:
    """The tree of a line of tokens and the line of their heads at `place`. Reports a bad tree and returns None.

    Tokens lose the backslash of `\\/` and `\\*`.
    """
    tokens = [unescaped(word) for word in BETWEEN.split(words) if word]
    try:
        return builder(tokens, whole_numbers([head for head in BETWEEN.split(heads) if head]))
    except BadTree as error:
        bad(place, error.problem, error.detail)
        return None


def whole_numbers(texts: Sequence[str]) -> list[int]:
    """Convert texts to numbers. Raises BadTree for a text that is not a number."""
    for node, text in enumerate(texts):
        if not WHOLE.fullmatch(text):
            raise BadTree("not a number", f"found {text[:40]!r} in place {node + 1}, expected whole numbers", node)
    return [int(text) for text in texts]


def aligned(paths: Sequence[Path], bad: BadRows) -> Iterator[tuple[int, list[str]]]:
    """(line number, this line of each file). Lines that are blank in all files are skipped. Raises DataError if the
    files have different numbers of lines."""
    files = [list(text_lines(path, bad)) for path in paths]
    needed = [max((n for n, text in enumerate(file, 1) if text is None or text.strip()), default=0) for file in files]
    count = max(needed)
    for path, file in zip(paths, files, strict=True):
        if len(file) < count:
            longer = f"{paths[needed.index(count)]} has {count:,} lines"
            raise DataError(
                f"{line_of(path, len(file))}: the file ends here, but {longer}; line k of each file must belong to "
                "sentence k"
            )
    for number in range(1, count + 1):
        texts = [text for file in files if (text := file[number - 1]) is not None]
        if len(texts) == len(files) and any(map(str.strip, texts)):
            yield number, texts


# CoNLL-U


@guarded
def read_conllu(path: Path, bad: BadRows) -> Iterator[tuple[Tree | None, str]]:
    """The dependency tree of each sentence of a CoNLL-U file, and the place of its first line.

    FORM and HEAD are read. Comments, tokens of several words (1-2) and empty nodes (1.1) are ignored. A broken
    sentence is reported and gives None.
    """
    sentence: list[tuple[int, str | None]] = []
    for number, text in enumerate(chain(text_lines(path, bad), [""]), 1):
        if text is None or (text.strip() and not text.startswith("#")):
            sentence.append((number, text))
        elif sentence and not text.strip():
            yield _sentence(sentence, path, bad), line_of(path, sentence[0][0])
            sentence = []


def _sentence(lines: Sequence[tuple[int, str | None]], path: Path, bad: BadRows) -> Tree | None:
    words: list[str] = []
    heads: list[int] = []
    at: list[int] = []
    """The line of each word."""
    try:
        for number, text in lines:
            if text is None:
                return None
            at[len(words) :] = [number]
            if token := _token(text, len(words)):
                words.append(token[0])
                heads.append(token[1])
        return dependency_tree(words, heads)
    except BadTree as error:
        bad(line_of(path, at[error.node]), error.problem, error.detail)
        return None


def _token(text: str, count: int) -> tuple[str, int] | None:
    """The word and the head of a line after `count` words; None for a line without a token. Raises BadTree."""
    columns = text.split("\t")
    if len(columns) != CONLLU_COLUMNS:
        expected = f"found {len(columns)}, expected {CONLLU_COLUMNS} with tabs between"
        raise BadTree("wrong number of columns", expected, count)
    number, word, head = columns[0], columns[1].strip(), columns[6]
    if LEFT_OUT.fullmatch(number):
        return None
    if number != str(count + 1):
        found = f"expected token {count + 1}, found {number[:40]!r}; a blank line separates sentences"
        raise BadTree("wrong token number", found, count)
    if not word:
        raise BadTree("no word", "the second column is empty", count)
    if not WHOLE.fullmatch(head) or int(head) < ROOT:
        found = f"found {head[:40]!r} in the seventh column, expected 0 for the root or a token's number"
        raise BadTree("bad head", found, count)
    return word, int(head)
