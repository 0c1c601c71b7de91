"""Rules of grammars, phrases with a head, and both of their trees."""

from __future__ import annotations

from typing import Literal, NamedTuple

from zoo.data.trees.tree import Tree


def grammar(text: str) -> dict[str, dict[str, float]]:
    """The expansions of each symbol to one or two symbols, with their weights: `SYMBOL: expansion weight | ...`, or
    `SYMBOL: expansion` if there is only one. Semicolons and line ends separate rules."""
    found: dict[str, dict[str, float]] = {}
    for rule in filter(str.strip, text.replace(";", "\n").splitlines()):
        symbol, expansions = rule.split(":")
        weighted = expansions if "|" in rule else f"{expansions} 1"
        several = (one.rsplit(maxsplit=1) for one in weighted.split("|"))
        found[symbol.strip()] = {expansion.strip(): float(weight) for expansion, weight in several}
    return found


class Phrase(NamedTuple):
    """Two parts, each a phrase or a word; the other part depends on the head."""

    left: Phrase | str
    right: Phrase | str
    head: Literal["left", "right"]


def before(left: Phrase | str, right: Phrase | str) -> Phrase:
    """Join two parts; the right one is the head."""
    return Phrase(left, right, "right")


def then(left: Phrase | str, right: Phrase | str) -> Phrase:
    """Join two parts; the left one is the head."""
    return Phrase(left, right, "left")


def words_of(phrase: Phrase | str) -> list[str]:
    """The words in order."""
    return [phrase] if isinstance(phrase, str) else words_of(phrase.left) + words_of(phrase.right)


def trees(phrase: Phrase | str) -> tuple[Tree, list[int]]:
    """The binary tree of a phrase, numbered from the top, and the head of each word, -1 for the head of the phrase."""
    tree, heads = Tree([], [], [], []), list[int]()

    def grow(part: Phrase | str, above: int) -> int:
        """Add the nodes of a part; return the number of its head word."""
        node, leaf = len(tree.parent), isinstance(part, str)
        tree.parent.append(above)
        tree.label.append(None)
        tree.word.append(len(heads) if leaf else -1)
        if isinstance(part, str):
            tree.words.append(part)
            heads.append(-1)
            return len(heads) - 1
        left, right = grow(part.left, node), grow(part.right, node)
        head, dependent = (left, right) if part.head == "left" else (right, left)
        heads[dependent] = head
        return head

    grow(phrase, -1)
    return tree, heads
