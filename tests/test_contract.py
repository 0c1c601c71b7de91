"""Every network of the catalogue keeps the contract, and the contract can be broken."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.catalogue import MODELS
from tests.contract import (
    FOR_ALL,
    FOR_CLASSES,
    FOR_GENERATION,
    Case,
    a_certain_distribution_is_a_token,
    a_saved_network_is_the_same,
    a_step_does_no_work_twice,
    a_step_leaves_its_state_alone,
    attention_is_a_distribution,
    bf16_autocast_runs,
    by_steps,
    clauses,
    decoding_agrees_with_the_parallel_pass,
    every_parameter_learns,
    examples_do_not_meet,
    hypotheses_do_not_meet,
    later_tokens_are_not_read,
    nothing_is_parked,
    one_batch_can_be_learned,
    padding_changes_nothing,
    returns_an_output,
    steps_equal_the_parallel_pass,
    targets_are_not_read,
)
from tests.families import FAMILIES
from zoo.attention import masked_softmax
from zoo.data.batch import DocumentBatch, PairBatch
from zoo.data.spec import DocumentSpec, PairSpec
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.state import State, Step
from zoo.models.output import Output

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "conv_s2s": [{"encoder_layers": [[8, 3], [6, 5]], "decoder_layers": [[6, 3], [8, 1]]}],
    "han": [{"word_pooling": "mean", "sentence_pooling": "max"}, {"word_pooling": "max", "sentence_pooling": "mean"}],
    "luong": [
        {"input_feeding": False, "score": "concat"},
        {"attention": "local_m", "score": "dot"},
        {"attention": "local_p", "window": 2},
        {"attention": "local_p", "input_feeding": False},
        {"attention": "local_m", "input_feeding": False, "reverse_source": True},
        {"score": "location", "reverse_source": True},
    ],
    "rnnsearch": [{"score": "general"}, {"score": "dot"}],
    "seq2seq_lstm": [{"reverse_source": False}],
    "transformer": [{"norm": "pre", "positions": "learned"}, {"tied": "target", "window": 3}],
}
"""Other ways through a model than its defaults, which keep the contract too."""

SUM_TO_LESS = ({"attention": "local_p"},)
"""Variants whose attention the paper does not renormalise."""

WIDEST = 16


def small(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments with every width cut down and no dropout: the contract does not depend on them, its speed does."""
    cut = {
        name: min(value, WIDEST) if name.endswith("_dim") and isinstance(value, int) else value
        for name, value in arguments.items()
    }
    return cut | ({"dropout": 0.0} if "dropout" in cut else {})


def cases() -> Iterator[Any]:
    for model in MODELS.values():
        for task in model.cls.tasks:
            for variant in ({}, *VARIANTS.get(model.name, [])):
                arguments = small(model.arguments | variant)
                build = functools.partial(model.cls, FAMILIES[task].spec, **arguments)
                words = [model.name, task, *(f"{name}={value}" for name, value in variant.items())]
                less = any(part.items() <= variant.items() for part in SUM_TO_LESS)
                yield pytest.param(Case(build, FAMILIES[task], sums_to_one=not less), id="-".join(words))


CASES = list(cases())
PAIRED = [
    pytest.param(*case.values, clause, id=f"{case.id}-{clause.__name__}")
    for case in CASES
    for clause in clauses(case.values[0].family)
]


@pytest.mark.parametrize(("case", "clause"), PAIRED)
def test_contract(case: Case, clause: Callable[[Case], None]) -> None:
    clause(case)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("case", CASES)
def test_cuda_gives_what_the_cpu_gives(case: Case) -> None:
    def found(network: nn.Module, batch: Any) -> tuple[Output, list[Tensor], Tensor]:
        """What `forward` gives, the gradients of the loss, and what the steps give."""
        output = network(batch)
        gradients = torch.autograd.grad(case.family.loss(output, batch), list(network.parameters()))
        if not case.family.generates:
            return output, list(gradients), output.logits
        return output, list(gradients), by_steps(network, batch, case.family.without_targets(batch))[0]

    batch, network = case.family.batch(1), case.network().train()  # cuDNN has no gradient in evaluation
    expected = found(network, batch)
    ours = found(network.cuda(), batch.to("cuda"))

    def equal(one: Tensor, other: Tensor) -> None:
        torch.testing.assert_close(one.cpu(), other, rtol=1e-4, atol=1e-4)

    equal(ours[0].logits, expected[0].logits)
    for name, weights in ours[0].attention.items():
        equal(weights, expected[0].attention[name])
    for one, other in zip(ours[1], expected[1], strict=True):
        equal(one, other)
    equal(ours[2], expected[2])


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


class Writes(nn.Module):
    """Reads the mean of the tokens so far, and the source by attention from that."""

    def __init__(self, spec: PairSpec) -> None:
        super().__init__()
        self.source = TokenEmbedding(spec.source_size, 8)
        self.target = TokenEmbedding(spec.target_size, 8)
        self.vocabulary = nn.Linear(16, spec.target_size)

    def read(self, batch: PairBatch) -> dict[str, Tensor]:
        return {"values": self.source(batch.source), "mask": batch.source_mask}

    def say(self, history: Tensor, memory: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """(B, L, E) -> scores (B, L, V) and weights (B, L, S)."""
        weights = masked_softmax(history @ memory["values"].transpose(1, 2), memory["mask"][:, None])
        return self.vocabulary(torch.cat([history, weights @ memory["values"]], -1)), weights

    def history(self, embedded: Tensor) -> Tensor:
        """(B, T, E) -> the mean of the tokens up to each position."""
        steps = torch.arange(1, embedded.shape[1] + 1, device=embedded.device)
        return embedded.cumsum(1) / steps[:, None]

    def forward(self, batch: PairBatch, *, need_weights: bool = True) -> Output:
        assert batch.target_input is not None
        assert batch.target_mask is not None
        assert batch.target_packing is not None
        logits, weights = self.say(self.history(self.target(batch.target_input)), self.read(batch))
        real = batch.target_mask[..., None]
        return Output(batch.target_packing.pack(logits), {"source": weights.where(real, 0.0)})

    def start(self, batch: PairBatch) -> State:
        zero = self.target.weight.new_zeros(len(batch), 1, self.target.embedding_dim)
        return State(self.read(batch), {"sum": zero, "count": zero[..., :1]})

    def step(self, tokens: Tensor, state: State) -> Step:
        total = state.hypotheses["sum"] + self.target(tokens)
        count = state.hypotheses["count"] + 1
        logits, weights = self.say(total / count, state.memory)
        return Step(logits.log_softmax(-1), State(state.memory, {"sum": total, "count": count}), {"source": weights})


class ReadsAhead(Writes):
    def history(self, embedded: Tensor) -> Tensor:
        return super().history(embedded.roll(-1, 1))


class ReadsNothing(Writes):
    def history(self, embedded: Tensor) -> Tensor:
        return super().history(torch.zeros_like(embedded))


class CountsFromZero(Writes):
    def start(self, batch: PairBatch) -> State:
        state = super().start(batch)
        return State(state.memory, {**state.hypotheses, "count": state.hypotheses["count"] + 1})


class HasNoGradient(Writes):
    def step(self, tokens: Tensor, state: State) -> Step:
        step = super().step(tokens, state)
        return step._replace(state=State(state.memory, {k: v.detach() for k, v in step.state.hypotheses.items()}))


class ComparesHypotheses(Writes):
    def step(self, tokens: Tensor, state: State) -> Step:
        step = super().step(tokens, state)
        mean = step.state.hypotheses["sum"].mean(1, keepdim=True)
        total = step.state.hypotheses["sum"]
        return step._replace(state=State(state.memory, {**step.state.hypotheses, "sum": 2 * total - mean}))


class CopiesItsMemory(Writes):
    def step(self, tokens: Tensor, state: State) -> Step:
        step = super().step(tokens, state)
        memory = {name: part.clone() for name, part in state.memory.items()}
        return step._replace(state=State(memory, step.state.hypotheses))


class ChangesItsState(Writes):
    def step(self, tokens: Tensor, state: State) -> Step:
        step = super().step(tokens, state)
        state.hypotheses["count"].add_(1)
        return step


class WantsNumbers(Writes):
    def step(self, tokens: Tensor, state: State) -> Step:
        return super().step(tokens.argmin(-1) if tokens.is_floating_point() else tokens, state)


class ReadsItsMemoryAnew(Writes):
    def __init__(self, spec: PairSpec) -> None:
        super().__init__(spec)
        self.projection = nn.Linear(8, 8)

    def say(self, history: Tensor, memory: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        return super().say(history, {**memory, "values": self.projection(memory["values"])})


class ReadsThePrefixAnew(Writes):
    def start(self, batch: PairBatch) -> State:
        state = super().start(batch)
        return State(state.memory, {"before": state.hypotheses["sum"].new_zeros(len(batch), 1, 0, 8)})

    def step(self, tokens: Tensor, state: State) -> Step:
        before = torch.cat([state.hypotheses["before"], self.target(tokens)[:, :, None]], 2)
        logits, weights = self.say(self.history(before[:, 0]), state.memory)
        after = State(state.memory, {"before": before})
        return Step(logits[:, -1:].log_softmax(-1), after, {"source": weights[:, -1:]})


def broken(cls: type[nn.Module]) -> Case:
    family = FAMILIES["translation" if issubclass(cls, Writes) else "classification"]
    return Case(lambda: cls(family.spec), family)


@pytest.mark.parametrize(
    ("cls", "clause"),
    [(cls, clause) for cls in (Sound, Writes) for clause in clauses(broken(cls).family)],
    ids=lambda value: value.__name__,
)
def test_a_sound_network_keeps_the_contract(cls: type[nn.Module], clause: Callable[[Case], None]) -> None:
    clause(broken(cls))


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
        (ReadsAhead, steps_equal_the_parallel_pass),
        (CountsFromZero, steps_equal_the_parallel_pass),
        (HasNoGradient, steps_equal_the_parallel_pass),
        (ReadsAhead, later_tokens_are_not_read),
        (ReadsNothing, later_tokens_are_not_read),
        (ComparesHypotheses, hypotheses_do_not_meet),
        (CopiesItsMemory, hypotheses_do_not_meet),
        (ChangesItsState, a_step_leaves_its_state_alone),
        (WantsNumbers, a_certain_distribution_is_a_token),
        (ReadsItsMemoryAnew, a_step_does_no_work_twice),
        (ReadsThePrefixAnew, a_step_does_no_work_twice),
        (CountsFromZero, decoding_agrees_with_the_parallel_pass),
    ],
    ids=lambda value: value.__name__,
)
def test_a_broken_network_is_found(cls: type[nn.Module], clause: Callable[[Case], None]) -> None:
    with pytest.raises(RuntimeError if cls is MixesTypes else AssertionError):
        clause(broken(cls))


def test_every_clause_can_be_broken() -> None:
    marks = test_a_broken_network_is_found.pytestmark
    assert {clause for _, clause in marks[0].args[1]} == {*FOR_ALL, *FOR_CLASSES, *FOR_GENERATION}
