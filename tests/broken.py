"""Broken on purpose: for each kind of network one that keeps the contract, and one for each way to break it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor, nn

from zoo.attention import masked_softmax
from zoo.data.documents.batch import DocumentBatch
from zoo.data.documents.spec import DocumentSpec
from zoo.data.pairs.batch import PairBatch
from zoo.data.pairs.spec import PairSpec
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.pretrained import Pretrained
from zoo.layers.state import State, Step
from zoo.models.output import Output


class Sound(nn.Module):
    """Averages the words of a sentence, then the sentences of a document."""

    attends: ClassVar[dict[str, str]] = {"word": "word_mask", "sentence": "sentence_mask"}

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


class BringsWeights(Sound):
    """Sound as well: what is frozen in it is a part that brings its weights along."""

    def __init__(self, spec: DocumentSpec) -> None:
        super().__init__(spec)
        self.known = Pretrained(nn.Linear(8, spec.num_classes), learning_rate=1.0)

    def score(self, document: Tensor, batch: DocumentBatch) -> Tensor:
        return self.classifier(document) + self.known(document)


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


class FreezesItsWeights(Sound):
    def __init__(self, spec: DocumentSpec) -> None:
        super().__init__(spec)
        self.embedding.requires_grad_(False)


class SkipsWhatIsShort(Sound):
    def __init__(self, spec: DocumentSpec) -> None:
        super().__init__(spec)
        self.between = nn.Linear(8, spec.num_classes)

    def score(self, document: Tensor, batch: DocumentBatch) -> Tensor:
        scores = self.classifier(document)
        return scores + self.between(document) if batch.words.shape[1] > 1 else scores


class SharesAGradient(Sound):
    def __init__(self, spec: DocumentSpec) -> None:
        super().__init__(spec)
        self.one, self.other = (nn.Parameter(torch.zeros(spec.num_classes)) for _ in range(2))

    def score(self, document: Tensor, batch: DocumentBatch) -> Tensor:
        return self.classifier(document) + (self.one[None] + self.other[None])


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


class AddsInHalf(Sound):
    def weigh(self, mask: Tensor) -> Tensor:
        rows, of_row = mask.flatten(0, -2), torch.arange(mask[..., 0].numel())[:, None].expand_as(mask.flatten(0, -2))
        total = torch.zeros(len(rows), dtype=torch.bfloat16).index_add(0, of_row.flatten(), rows.flatten().bfloat16())
        return mask.double() / total.double().view(*mask.shape[:-1], 1).clamp(min=1)


class ParksAttention(Sound):
    def weigh(self, mask: Tensor) -> Tensor:
        self.attention = super().weigh(mask)
        return self.attention


class ParksAttentionInTraining(Sound):
    def weigh(self, mask: Tensor) -> Tensor:
        weights = super().weigh(mask)
        if self.training:
            self.attention = weights
        return weights


class WritesIntoTheBatch(Sound):
    def score(self, document: Tensor, batch: DocumentBatch) -> Tensor:
        batch.words.masked_fill_(~batch.word_mask, 1)
        return self.classifier(document)


class NamesNoMask(Sound):
    def forward(self, batch: DocumentBatch) -> Output:
        output = super().forward(batch)
        return Output(output.logits, {"hop": output.attention["word"]})


class NamesAStrangersMask(Sound):
    attends: ClassVar[dict[str, str]] = {"word": "word_mask", "sentence": "memory_mask"}


class SumsToOneAfterAll(Sound):
    unnormalised = ("word",)


class Writes(nn.Module):
    """Reads the mean of the tokens so far, and the source by attention from that."""

    attends: ClassVar[dict[str, str]] = {"source": "memory_mask"}

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
