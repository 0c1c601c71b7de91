"""The shapes of the trees of all splits."""

from __future__ import annotations

from typing import Any

from zoo.data.trees.tree import Tree

FEW = 0.1
"""The share of trees that may be not binary by mistake."""


class Shapes:
    """Collects the shapes of the trees of all splits."""

    def __init__(self) -> None:
        self.arity, self.inside, self.trees, self.others = 0, False, 0, 0
        self.first_other = ""
        """The place of the first tree that is not binary."""
        self.cut = 0
        """The number of texts that lost words to a limit."""

    @property
    def binary(self) -> bool:
        """Whether every node has two children or a word."""
        return not self.others

    def count(self, tree: Tree, place: str) -> None:
        """Count one tree."""
        self.trees += 1
        self.arity = max(self.arity, tree.arity)
        if not tree.binary:
            self.others += 1
            self.first_other = self.first_other or place
        self.inside = self.inside or any(w >= 0 and below for w, below in zip(tree.word, tree.children, strict=True))

    def facts(self) -> dict[str, Any]:
        """The shapes by the names of a `TreeSpec`."""
        return {"arity": self.arity, "binary": self.binary, "words_inside": self.inside}

    def notes(self, noun: str, max_words: int) -> list[str]:
        """Notes on texts that were cut, and on a few trees that exclude networks for binary trees."""
        found = [f"{self.cut:,} {noun} were cut after {max_words:,} words (data.text.max_words)"] if self.cut else []
        if 0 < self.others <= FEW * self.trees:
            where = f", the first: {self.first_other}" if self.first_other else ""
            some = f"{self.others:,} of {self.trees:,} trees are not binary{where}"
            found.append(f"{some}; data.trees=binarised makes them binary")
        return found
