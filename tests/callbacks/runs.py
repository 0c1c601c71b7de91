"""A small HAN on small documents, to run callbacks with."""

import random
from types import SimpleNamespace

import numpy as np
import torch
from torch.utils.data import DataLoader

from tests.tasks import running
from zoo.data.documents.batch import DocumentBatch, DocumentSpec
from zoo.tasks import Classification

WORDS = ["<pad>", "<unk>", "the", "food", "was", "good", "bad", "not", "we", "left"]


def documents(first, count):
    """A batch of `count` documents of the split, numbered from `first`; the label is whether `good` (5) occurs."""
    rng = np.random.default_rng(first)
    words = torch.from_numpy(rng.integers(2, len(WORDS), (count, 3, 5)))
    lengths = torch.from_numpy(rng.integers(1, 6, (count, 3)))
    lengths[:, 2] *= torch.from_numpy(rng.integers(0, 2, count))  # some have two sentences
    mask = torch.arange(5) < lengths[..., None]
    good = (words == 5) & mask
    index = torch.arange(first, first + count)
    return batch_of(words, mask, good.flatten(1).any(1).long(), index=index, evidence=good)


def batch_of(words, mask, label, **more):
    """A batch with its text."""
    rows = zip(words.tolist(), mask.sum(2).tolist(), strict=True)
    text = [[[WORDS[i] for i in row[:n]] for row, n in zip(*pair, strict=True) if n] for pair in rows]
    return DocumentBatch(words * mask, mask, label, text=tuple(text), **more)


BATCHES = [documents(first, 6) for first in range(0, 24, 6)]


def text(number):
    """The words of a document of `BATCHES`, with blanks between."""
    batch, row = BATCHES[number // 6], number % 6
    return " ".join(WORDS[i] for i in batch.words[row][batch.word_mask[row]].tolist())


class WordEncoder:
    """As much of an encoder as a task asks for."""

    vocabulary = SimpleNamespace(words=WORDS)

    def state(self):
        return {"words": WORDS}

    @classmethod
    def from_state(cls, state):
        return cls()


def task(**model):
    torch.manual_seed(0)
    model = {
        "_target_": "zoo.models.han.HAN",
        "embedding_dim": 6,
        "word_hidden_dim": 4,
        "word_attention_dim": 5,
        **model,
    }
    made = Classification(
        model={**model, "sentence_hidden_dim": 4, "sentence_attention_dim": 5},
        optimizer={"_target_": "torch.optim.Adam", "lr": 0.01},
        monitor="val/accuracy",
        mode="max",
    )
    made.build(DocumentSpec(len(WORDS), ("bad", "good")), WordEncoder())
    return made


def loader(batches=BATCHES, shuffle=False):
    return DataLoader(batches, batch_size=None, shuffle=shuffle)


def trainer(folder, callbacks, **options):
    return running.trainer(folder, callbacks=callbacks, **{"max_epochs": 1, **options})


def random_states():
    return torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist()
