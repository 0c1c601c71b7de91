"""Documents: the facts that a network is built from, and batches with boolean masks, True = real."""

from dataclasses import dataclass

import torch
from torch import Tensor

from zoo.arguments import Count, Natural
from zoo.data.batch import Batch, Spec, derived
from zoo.data.inputs import Inputs, ids, mask
from zoo.layers.packing import Packing, distinct, places


@dataclass(frozen=True)
class DocumentSpec(Spec):
    """Documents of sentences of words, each with one class."""

    vocabulary_size: Count
    """Rows of the word embedding, the padding and unknown words included."""
    classes: tuple[str, ...]
    """Names of the classes, in the order of the logits."""
    padding: Natural = 0
    unknown: Natural = 1

    @property
    def num_classes(self) -> int:
        return len(self.classes)

    def inputs(self) -> Inputs:
        axes = ("batch", "sentences", "words")
        return Inputs(DocumentBatch, {"words": ids(axes, self.vocabulary_size), "word_mask": mask(axes)})


@dataclass(frozen=True)
class DocumentBatch(Batch):
    """B documents of at most S sentences of at most W words."""

    words: Tensor
    """(B, S, W) word ids."""
    word_mask: Tensor
    """(B, S, W) True at words."""
    label: Tensor | None = None
    """(B,) class of each document; None when predicting."""
    index: Tensor = derived(lambda batch: torch.arange(batch.words.shape[0]), sliced=True)
    """(B,) number of each document in its split."""
    evidence: Tensor | None = None
    """(B, S, W) True at the words that decided the label; only for samples, which know them."""
    text: tuple[list[list[str]], ...] | None = None
    """The written words of the B documents, by sentences, in the positions of their ids; only for evaluation."""
    sentence_mask: Tensor = derived(lambda batch: batch.word_mask.any(-1))
    """(B, S) True at sentences that hold a word."""
    word_packing: Packing = derived(lambda batch: Packing.of(batch.word_mask))
    """Rows are sentences: packs (B, S, W)."""
    sentence_packing: Packing = derived(lambda batch: Packing.of(batch.sentence_mask))
    """Rows are documents: packs (B, S)."""
    distinct: Tensor = derived(lambda batch: distinct(batch.word_packing.pack(batch.words)))
    """(U,) the distinct word ids of the batch, in ascending order."""
    word_at: Tensor = derived(lambda batch: places(batch.distinct, batch.word_packing.pack(batch.words)))
    """(N,) the row in `distinct` of each packed word."""

    def __len__(self) -> int:
        return len(self.words)
