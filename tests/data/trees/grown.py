"""Random trees, and readable forms of trees."""

from hypothesis import strategies as st

from zoo.data.trees.tree import Tree

LABELS = st.sampled_from([None, "A", "B", "C"])


def _inner(below):
    return st.lists(below, min_size=1, max_size=4).flatmap(
        lambda children: st.tuples(LABELS, st.none() | st.integers(0, len(children)), st.just(children))
    )


NESTED = st.recursive(st.tuples(LABELS, st.just(0), st.just([])), _inner, max_leaves=12)
"""(label, place, children): the place of the word of a node among its children, None for a node without a word."""


def grown(nested):
    """The tree of a value of NESTED, with the words w0, w1, ... in reading order."""
    tree = Tree([], [], [], [])

    def grow(one, above):
        label, place, below = one
        node = len(tree.parent)
        tree.parent.append(above)
        tree.label.append(label)
        tree.word.append(-1)
        for number, child in enumerate([*below, None]):
            if number == place:
                tree.word[node] = len(tree.words)
                tree.words.append(f"w{len(tree.words)}")
            if child is not None:
                grow(child, node)

    grow(nested, -1)
    return tree


@st.composite
def any_trees(draw, smallest=0):
    """Any tree: nodes in any order, with words in any order at some or all of them, and words outside the tree."""
    size = draw(st.integers(smallest, 9))
    order = draw(st.permutations(range(size)))
    above = [order[draw(st.integers(0, number - 1))] if number else -1 for number in range(size)]
    parent = [above[order.index(node)] for node in range(size)]
    words = [draw(st.sampled_from("abcde")) for _ in range(size + draw(st.integers(0, 2)))]
    places = draw(st.permutations(range(len(words))))
    childless = set(range(size)) - set(parent)
    word = [places[node] if node in childless or draw(st.booleans()) else -1 for node in range(size)]
    return Tree(words if size else [], parent, word, [draw(LABELS) for _ in range(size)])


def seen(tree, node=None):
    """(label, word, children) of a node, the root if none is given; for trees that are not deep."""
    node = tree.root if node is None else node
    word = None if tree.word[node] < 0 else tree.words[tree.word[node]]
    return tree.label[node], word, [seen(tree, child) for child in tree.children[node]]


def joined(tree, node=None):
    """The words of a tree in brackets, `((a b) c)`; a word with children is before a colon."""
    _, word, below = seen(tree) if node is None else node
    inside = " ".join(joined(tree, child) for child in below)
    if not below:
        return word
    return f"({inside})" if word is None else f"({word}: {inside})"


def covered(tree):
    """The numbers of the words at each node and below it."""
    found = [set() for _ in tree.parent]
    for node, word in enumerate(tree.word):
        while word >= 0 and node >= 0:
            found[node].add(word)
            node = tree.parent[node]
    return found
