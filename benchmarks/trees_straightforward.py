"""Networks over trees as they are usually written: a function that calls itself, one node after the other."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from zoo.data.trees.batch import NO_LABEL, TreeBatch
from zoo.models import MVRNN, RNTN, Recursive, TreeLSTM

State = tuple[Tensor, ...]
"""State of a node; its first part is classified."""
Cell = Callable[[int | None, list[State]], State]
"""The state of a node by the id of its word, if it has one, and the states of its children."""


class NodeByNode:
    """A network of ours with its own weights, read as its paper defines it."""

    def __init__(self, model: Any) -> None:
        self.model, self.cell = model, cell_of(model)

    def loss(self, batch: TreeBatch) -> Tensor:
        """The mean over trees of the sum of the cross-entropies of their labelled nodes."""
        assert batch.label is not None
        trees = batch.trees
        total = torch.zeros(())
        for (parent, word), ids, labels in zip(trees.plain(), trees.ids(), trees.by_tree(batch.label), strict=True):
            children: list[list[int]] = [[] for _ in parent]
            for node, above in enumerate(parent):
                if above >= 0:
                    children[above].append(node)
            losses: list[Tensor] = []
            words = [ids[at] if at >= 0 else None for at in word]
            self._visit(parent.index(-1), children, words, labels, losses)
            total = total + torch.stack(losses).sum()
        return total / len(batch)

    def _visit(
        self, node: int, children: list[list[int]], words: list[int | None], labels: list[int], losses: list[Tensor]
    ) -> State:
        """The state of a node; the losses of it and of all below it are added."""
        below = [self._visit(child, children, words, labels, losses) for child in children[node]]
        state = self.cell(words[node], below)
        if labels[node] != NO_LABEL:
            head = self.model.head
            losses.append(F.cross_entropy(head.classifier(head.dropout(state[0])), torch.tensor(labels[node])))
        return state


def cell_of(model: Any) -> Cell:
    """The equations of its paper."""
    if isinstance(model, TreeLSTM):
        return _n_ary(model) if model.n_ary else _child_sum(model)
    return {Recursive: _recursive, MVRNN: _mv_rnn, RNTN: _rntn}[type(model)](model)


def _vector(model: Any, word: int | None) -> Tensor:
    return model.embedding(torch.tensor(word))


def _recursive(model: Recursive) -> Cell:
    def cell(word: int | None, below: list[State]) -> State:
        if not below:
            return (_vector(model, word),)
        return (model.composition(torch.cat([state[0] for state in below])).tanh(),)

    return cell


def _rntn(model: RNTN) -> Cell:
    def cell(word: int | None, below: list[State]) -> State:
        if not below:
            return (_vector(model, word).tanh(),)
        v = torch.cat([state[0] for state in below])
        return ((model.tensor @ v @ v + model.composition(v)).tanh(),)

    return cell


def _mv_rnn(model: MVRNN) -> Cell:
    d = model.hidden_dim

    def cell(word: int | None, below: list[State]) -> State:
        if not below:
            row = model.shared if word is None or not model.shared <= word <= model.last else word
            at = torch.tensor(row - model.shared)
            u, v = model.factors(at).view(2, d, -1)
            return _vector(model, word), u @ v.T + model.diagonal(at).diag()
        (a, of_a), (b, of_b) = below
        p = model.composition(torch.cat([of_b @ a, of_a @ b])).tanh()
        return p, model.of_matrices.weight @ torch.cat([of_a, of_b])

    return cell


def _n_ary(model: TreeLSTM) -> Cell:
    assert model.word is not None
    read, hidden = model.word, model.hidden_dim

    def cell(word: int | None, below: list[State]) -> State:
        if below:
            (h_l, c_l), (h_r, c_r) = below
            u, i, o, f_l, f_r = (model.state(torch.cat([h_l, h_r])) + model.bias[0]).split(hidden)
            c = i.sigmoid() * u.tanh() + f_l.sigmoid() * c_l + f_r.sigmoid() * c_r
        else:
            u, i, o = (read(_vector(model, word)) + model.bias[0, : 3 * hidden]).split(hidden)
            c = i.sigmoid() * u.tanh()
        return o.sigmoid() * c.tanh(), c

    return cell


def _child_sum(model: TreeLSTM) -> Cell:
    assert model.word is not None and model.forget is not None
    read, forget, hidden = model.word, model.forget, model.hidden_dim

    def cell(word: int | None, below: list[State]) -> State:
        of_word, of_forget = (read(_vector(model, word)) + model.bias[0]).split([3 * hidden, hidden])
        if below:
            of_word = of_word + model.state(torch.stack([h for h, _ in below]).sum(0))
        u, i, o = of_word.split(hidden)
        c = i.sigmoid() * u.tanh()
        for h_k, c_k in below:
            c = c + (of_forget + forget(h_k)).sigmoid() * c_k
        return o.sigmoid() * c.tanh(), c

    return cell
