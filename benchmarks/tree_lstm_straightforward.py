"""The Tree-LSTM as it is usually written: a function that calls itself, one node after the other."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from zoo.data.trees.batch import NO_LABEL, TreeBatch
from zoo.models.tree_lstm import TreeLSTM


class NodeByNode:
    """The same network with the same weights: N-ary over binary trees, gated leaves."""

    def __init__(self, model: TreeLSTM) -> None:
        assert model.n_ary and model.word is not None
        self.model = model

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
            self._visit(parent.index(-1), children, [ids[at] if at >= 0 else -1 for at in word], labels, losses)
            total = total + torch.stack(losses).sum()
        return total / len(batch)

    def _visit(
        self, node: int, children: list[list[int]], ids: list[int], labels: list[int], losses: list[Tensor]
    ) -> tuple[Tensor, Tensor]:
        """h and c of a node; the losses of it and of all below it are added."""
        model, hidden = self.model, self.model.hidden_dim
        assert model.word is not None
        if children[node]:
            (h_l, c_l), (h_r, c_r) = (self._visit(child, children, ids, labels, losses) for child in children[node])
            u, i, o, f_l, f_r = (model.state(torch.cat([h_l, h_r])) + model.bias[0]).split(hidden)
            c = i.sigmoid() * u.tanh() + f_l.sigmoid() * c_l + f_r.sigmoid() * c_r
        else:
            x = model.embedding(torch.tensor(ids[node]))
            u, i, o = (model.word(x) + model.bias[0, : 3 * hidden]).split(hidden)
            c = i.sigmoid() * u.tanh()
        h = o.sigmoid() * c.tanh()
        if labels[node] != NO_LABEL:
            scores = model.head.classifier(model.head.dropout(h))  # type: ignore[union-attr, operator]
            losses.append(F.cross_entropy(scores, torch.tensor(labels[node])))
        return h, c
