"""Every network of the catalogue keeps the contract, and the contract can be broken."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.catalogue import MODELS
from tests.contract import (
    CLAUSES,
    Case,
    a_saved_network_is_the_same,
    attention_is_a_distribution,
    bf16_autocast_runs,
    every_parameter_learns,
    examples_do_not_meet,
    nothing_is_parked,
    one_batch_can_be_learned,
    padding_changes_nothing,
    returns_an_output,
    targets_are_not_read,
)
from tests.families import FAMILIES
from zoo.data.batch import DocumentBatch
from zoo.data.spec import DocumentSpec
from zoo.models.output import Output

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "han": [{"word_pooling": "mean", "sentence_pooling": "max"}, {"word_pooling": "max", "sentence_pooling": "mean"}],
}
"""Other ways through a model than its defaults, which keep the contract too."""

WIDEST = 16


def small(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments with every width cut down: the contract does not depend on them, its speed does."""
    return {
        name: min(value, WIDEST) if name.endswith("_dim") and isinstance(value, int) else value
        for name, value in arguments.items()
    }


def cases() -> Iterator[Any]:
    for model in MODELS.values():
        for task in model.cls.tasks:
            for variant in ({}, *VARIANTS.get(model.name, [])):
                arguments = small(model.arguments | variant)
                build = functools.partial(model.cls, FAMILIES[task].spec, **arguments)
                words = [model.name, task, *(f"{name}={value}" for name, value in variant.items())]
                yield pytest.param(Case(build, FAMILIES[task]), id="-".join(words))


CASES = list(cases())


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda clause: clause.__name__)
@pytest.mark.parametrize("case", CASES)
def test_contract(case: Case, clause: Callable[[Case], None]) -> None:
    clause(case)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("case", CASES)
def test_cuda_gives_what_the_cpu_gives(case: Case) -> None:
    batch, network = case.family.batch(1), case.network().eval()
    expected = network(batch)
    output = network.cuda()(batch.to("cuda"))
    torch.testing.assert_close(output.logits.cpu(), expected.logits, rtol=1e-4, atol=1e-4)
    for name, weights in output.attention.items():
        torch.testing.assert_close(weights.cpu(), expected.attention[name], rtol=1e-4, atol=1e-4)


# Broken on purpose: a network that keeps the contract, and one for each way to break it.


class Sound(nn.Module):
    """Averages the words of a sentence, then the sentences of a document."""

    def __init__(self, spec: DocumentSpec) -> None:
        super().__init__()
        self.embedding = nn.Embedding(spec.vocabulary_size, 8)
        self.classifier = nn.Linear(8, spec.num_classes)

    def weigh(self, mask: Tensor) -> Tensor:
        return mask.double() / mask.sum(-1, keepdim=True).clamp(min=1)

    def score(self, document: Tensor, batch: DocumentBatch) -> Tensor:
        return self.classifier(document)

    def forward(self, batch: DocumentBatch) -> Output:
        dtype = self.embedding.weight.dtype
        word, sentence = self.weigh(batch.word_mask).to(dtype), self.weigh(batch.sentence_mask).to(dtype)
        sentences = (word[..., None] * self.embedding(batch.words)).sum(2)
        document = (sentence[..., None] * sentences).sum(1)
        return Output(self.score(document, batch), {"word": word, "sentence": sentence})


class AttendsToPadding(Sound):
    def weigh(self, mask: Tensor) -> Tensor:
        return torch.full_like(mask, 1 / mask.shape[-1], dtype=torch.float64)


class DividesByZero(Sound):
    def weigh(self, mask: Tensor) -> Tensor:
        return mask / mask.sum(-1, keepdim=True)


class SumsToTwo(Sound):
    def weigh(self, mask: Tensor) -> Tensor:
        return 2 * super().weigh(mask)


class ReadsPadding(Sound):
    def score(self, document: Tensor, batch: DocumentBatch) -> Tensor:
        return self.classifier(document + self.embedding(batch.words).mean((1, 2)))


class ComparesExamples(Sound):
    def score(self, document: Tensor, batch: DocumentBatch) -> Tensor:
        return self.classifier(document - document.mean(0))


class CountsPlaces(Sound):
    def score(self, document: Tensor, batch: DocumentBatch) -> Tensor:
        return self.classifier(document) + torch.arange(len(batch), device=document.device)[:, None]


class ReadsTargets(Sound):
    def score(self, document: Tensor, batch: DocumentBatch) -> Tensor:
        known = torch.zeros_like(batch.index) if batch.label is None else batch.label
        return self.classifier(document) + known[:, None]


class HasIdleWeights(Sound):
    def __init__(self, spec: DocumentSpec) -> None:
        super().__init__(spec)
        self.idle = nn.Linear(2, 2)


class NeverMoves(Sound):
    def __init__(self, spec: DocumentSpec) -> None:
        super().__init__(spec)
        nn.init.zeros_(self.classifier.weight)  # then nothing before it learns in the first step

    def score(self, document: Tensor, batch: DocumentBatch) -> Tensor:
        return self.classifier(torch.zeros_like(document))


class Forgets(Sound):
    def __init__(self, spec: DocumentSpec) -> None:
        super().__init__(spec)
        self.register_buffer("shift", torch.randn(spec.num_classes), persistent=False)

    def score(self, document: Tensor, batch: DocumentBatch) -> Tensor:
        return self.classifier(document) + self.shift


class MixesTypes(Sound):
    def score(self, document: Tensor, batch: DocumentBatch) -> Tensor:
        scores = self.classifier(document)  # bf16 under autocast
        return torch.zeros(scores.shape, dtype=document.dtype).index_add(0, torch.arange(len(scores)), scores)


class ParksAttention(Sound):
    def weigh(self, mask: Tensor) -> Tensor:
        self.attention = super().weigh(mask)
        return self.attention


class WritesIntoTheBatch(Sound):
    def score(self, document: Tensor, batch: DocumentBatch) -> Tensor:
        batch.words.masked_fill_(~batch.word_mask, 1)
        return self.classifier(document)


class NamesNoMask(Sound):
    def forward(self, batch: DocumentBatch) -> Output:
        output = super().forward(batch)
        return Output(output.logits, {"hop": output.attention["word"]})


def broken(cls: type[Sound]) -> Case:
    return Case(lambda: cls(FAMILIES["classification"].spec), FAMILIES["classification"])


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda clause: clause.__name__)
def test_a_sound_network_keeps_the_contract(clause: Callable[[Case], None]) -> None:
    clause(broken(Sound))


@pytest.mark.parametrize(
    ("cls", "clause"),
    [
        (NamesNoMask, returns_an_output),
        (DividesByZero, returns_an_output),
        (AttendsToPadding, attention_is_a_distribution),
        (DividesByZero, attention_is_a_distribution),
        (SumsToTwo, attention_is_a_distribution),
        (AttendsToPadding, padding_changes_nothing),
        (ReadsPadding, padding_changes_nothing),
        (ComparesExamples, examples_do_not_meet),
        (CountsPlaces, examples_do_not_meet),
        (ReadsTargets, targets_are_not_read),
        (HasIdleWeights, every_parameter_learns),
        (DividesByZero, every_parameter_learns),
        (NeverMoves, every_parameter_learns),
        (NeverMoves, one_batch_can_be_learned),
        (Forgets, a_saved_network_is_the_same),
        (MixesTypes, bf16_autocast_runs),
        (ParksAttention, nothing_is_parked),
        (WritesIntoTheBatch, nothing_is_parked),
    ],
    ids=lambda value: value.__name__,
)
def test_a_broken_network_is_found(cls: type[Sound], clause: Callable[[Case], None]) -> None:
    with pytest.raises(RuntimeError if cls is MixesTypes else AssertionError):
        clause(broken(cls))


def test_every_clause_can_be_broken() -> None:
    marks = test_a_broken_network_is_found.pytestmark
    assert {clause for _, clause in marks[0].args[1]} == set(CLAUSES)
