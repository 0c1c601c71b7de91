"""Parses as heads: the files of the Tree-LSTM's authors (https://github.com/stanfordnlp/treelstm) and CoNLL-U.

Theirs come in twos, a sentence a line: tokens (.toks) and, for each of them, the number of its head, counted from 1
(.parents). Constituency parses (.cparents) count nodes, the words first. CoNLL-U is that of
https://universaldependencies.org/format.html.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain, zip_longest
from pathlib import Path
from typing import Literal

from zoo.data.rows import BadRows, Lines, guarded, line_of
from zoo.data.trees.brackets import text_lines, unescaped
from zoo.data.trees.tree import Tree
from zoo.errors import DataError

ROOT, OUTSIDE = 0, -1
"""Heads of the root and, in .parents, of a token that is not in the tree."""
BETWEEN = re.compile(r"[ \t]+")
"""Tokens of a line; a no-break space may stand inside one."""
WHOLE = re.compile(r"-?[0-9]{1,9}")
CONLLU_COLUMNS = 10
LEFT_OUT = re.compile(r"[0-9]+[-.][0-9]+")
"""Numbers of a token of several words, 1-2, and of an empty node, 1.1."""

Builder = Callable[[Sequence[str], Sequence[int]], Tree]
"""The tree of words and heads; raises BadTree."""


class BadTree(ValueError):
    """Heads that make no tree."""

    def __init__(self, problem: str, detail: str, node: int = 0) -> None:
        """`problem` and `detail` as for `BadRows`; `node`, from 0, is where it shows."""
        super().__init__(f"{problem}: {detail}")
        self.problem, self.detail, self.node = problem, detail, node


# From heads to trees


def dependency_tree(words: Sequence[str], heads: Sequence[int]) -> Tree:
    """The tree with a node for each word that is in it, in the order of the sentence, without labels. `heads` has for
    each word the number of its head from 1, 0 for the root, -1 for a word that is not in the tree. Raises BadTree."""
    if len(heads) != len(words):
        raise BadTree("numbers differ", f"found {len(words)} tokens and {len(heads)} heads, expected a head a token")
    _check(heads, "token")
    inside = [token for token, head in enumerate(heads) if head != OUTSIDE]
    for token in inside:
        if heads[token] != ROOT and heads[heads[token] - 1] == OUTSIDE:
            found = f"token {token + 1} has head {heads[token]}, whose own head is {OUTSIDE}"
            raise BadTree("head outside the tree", f"{found}; expected one that is in the tree", token)
    node = {token + 1: number for number, token in enumerate(inside)} | {ROOT: -1}
    return Tree(list(words), [node[heads[token]] for token in inside], inside, [None] * len(inside))


def binary_tree(words: Sequence[str], parents: Sequence[int]) -> Tree:
    """The tree with n words at its leaves and two children at each other node, numbered from the top, without labels.
    `parents` has for each of its 2 n - 1 nodes, of which the words are the first, the number of its parent from 1, 0
    for the root. Raises BadTree."""
    count = len(words)
    if len(parents) != 2 * count - 1:
        said = f"found {count} words and {len(parents)} parents, expected one for each of {max(2 * count - 1, 0)} nodes"
        raise BadTree("numbers differ", said)
    _check(parents, "node")
    fan = Counter(parents)
    for node in range(len(parents)):
        expected = 0 if node < count else 2
        if fan[node + 1] != expected:
            found = f"node {node + 1} is the parent of {fan[node + 1]}, expected {expected}"
            raise BadTree(
                "not binary", f"{found}: nodes 1 to {count} are the words, the others have two children", node
            )
    inner = [-1] * (count - 1)
    above = [parent - 1 for parent in parents]
    return Tree(list(words), above, [*range(count), *inner], [None] * len(parents)).from_top()


def _check(heads: Sequence[int], kind: Literal["token", "node"]) -> None:
    """Raises BadTree unless heads, counted from 1, are in range, one of them is the root, and all lead to it or to
    OUTSIDE, which tokens alone may have."""
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
    """Numbers from 1 that lead back to the first of them, each followed by its head; empty where there are none."""
    walk = [0] * (len(heads) + 1)
    """By which walk each number was reached."""
    for start in range(1, len(heads) + 1):
        number = start
        while number > 0 and not walk[number]:
            walk[number] = start
            number = heads[number - 1]
        if number > 0 and walk[number] == start:
            found = [number]
            while (number := heads[number - 1]) != found[0]:
                found.append(number)
            return found
    return []


# Files of the Tree-LSTM's authors


def read_parents(tokens: Path, parents: Path, bad: BadRows) -> Iterator[tuple[Tree, str]]:
    """Dependency trees, each with its place in the file of tokens, from .toks and .parents. Raises DataError where one
    file has more lines than the other."""
    return _read(tokens, parents, dependency_tree, bad)


def read_constituency_parents(tokens: Path, parents: Path, bad: BadRows) -> Iterator[tuple[Tree, str]]:
    """Constituency trees, each with its place in the file of tokens, from .toks and .cparents. Raises DataError where
    one file has more lines than the other."""
    return _read(tokens, parents, binary_tree, bad)


def _read(tokens: Path, parents: Path, builder: Builder, bad: BadRows) -> Iterator[tuple[Tree, str]]:
    for number, (words, heads) in aligned([tokens, parents], bad):
        tree = tree_of(words, heads, builder, line_of(parents, number), bad)
        if tree is not None:
            yield tree, line_of(tokens, number)


def tree_of(words: str, heads: str, builder: Builder, place: str, bad: BadRows) -> Tree | None:
    """The tree of a line of tokens and the line of their heads, whose place is given; None, once reported, where they
    make none. Tokens lose the backslash of `\\/` and `\\*`."""
    tokens = [unescaped(word) for word in BETWEEN.split(words) if word]
    try:
        return builder(tokens, whole_numbers([head for head in BETWEEN.split(heads) if head]))
    except BadTree as error:
        bad(place, error.problem, error.detail)
        return None


def whole_numbers(texts: Sequence[str]) -> list[int]:
    """The numbers that the texts are. Raises BadTree for what is none."""
    for node, text in enumerate(texts):
        if not WHOLE.fullmatch(text):
            raise BadTree("not a number", f"found {text[:40]!r} in place {node + 1}, expected whole numbers", node)
    return [int(text) for text in texts]


def aligned(paths: Sequence[Path], bad: BadRows) -> Iterator[tuple[int, list[str]]]:
    """(number, that line of each file) of the lines that are not blank in all of them. Raises DataError where one file
    has more lines than another."""
    with ExitStack() as stack:
        files = [stack.enter_context(Lines(path, encoding=bad.encoding)) for path in paths]
        for number, texts in enumerate(zip_longest(*(text_lines(file, bad) for file in files), fillvalue=""), 1):
            if not any(text is None or text.strip() for text in texts):
                continue
            ended = next((file for file in files if file.number < number), None)
            if ended is not None:
                longer = next(file.path for file in files if file.number == number)
                raise DataError(
                    f"{line_of(ended.path, ended.number)}: the file ends here, and {longer} goes on; "
                    "as many lines are expected in each, line k being of sentence k"
                )
            usable = [text for text in texts if text is not None]
            if len(usable) == len(texts):
                yield number, usable


# CoNLL-U


@guarded
def read_conllu(path: Path, bad: BadRows) -> Iterator[tuple[Tree, str]]:
    """Dependency trees, each with the place of its first token, from CoNLL-U: FORM and HEAD are read. Comments, tokens
    of several words (1-2) and empty nodes (1.1) are left out, and the whole sentence where a line of it is broken."""
    words: list[str] = []
    heads: list[int] = []
    at: list[int] = []
    """The line of each word."""
    usable = True
    with Lines(path, encoding=bad.encoding) as lines:
        for text in chain(text_lines(lines, bad), [""]):
            if text is None:
                usable = False
            elif text.strip():
                if usable and not text.startswith("#"):
                    usable = _add_token(text, words, heads, line_of(path, lines.number), bad)
                    at += [lines.number] * (len(words) - len(at))
            else:
                if usable and words:
                    try:
                        tree = dependency_tree(words, heads)
                    except BadTree as error:
                        bad(line_of(path, at[error.node]), error.problem, error.detail)
                    else:
                        yield tree, line_of(path, at[0])
                words, heads, at, usable = [], [], [], True


def _add_token(text: str, words: list[str], heads: list[int], place: str, bad: BadRows) -> bool:
    """Adds the word and the head of a line, where it has one; False, once reported, for a broken line."""
    columns = text.split("\t")
    if len(columns) != CONLLU_COLUMNS:
        bad(place, "wrong number of columns", f"found {len(columns)}, expected {CONLLU_COLUMNS} with tabs between")
        return False
    number, word, head = columns[0], columns[1].strip(), columns[6]
    if LEFT_OUT.fullmatch(number):
        return True
    expected = str(len(words) + 1)
    if number != expected:
        said = f"expected token {expected}, found {number[:40]!r}; between sentences stands a blank line"
        bad(place, "numbers do not run", said)
    elif not word:
        bad(place, "no word", "the second column is empty")
    elif not WHOLE.fullmatch(head) or int(head) < ROOT:
        bad(
            place, "bad head", f"found {head[:40]!r} in the seventh column, expected 0 for the root or a token's number"
        )
    else:
        words.append(word)
        heads.append(int(head))
        return True
    return False
