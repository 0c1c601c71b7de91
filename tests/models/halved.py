"""Dropout without chance, so that its places show."""

import torch


def halve(monkeypatch):
    """Dropout at any rate halves what it is given, in training alone."""

    def halved(x, p=0.5, training=True, inplace=False):
        return x / 2 if training else x

    monkeypatch.setattr(torch.nn.functional, "dropout", halved)
