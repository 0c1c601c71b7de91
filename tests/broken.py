"""Broken on purpose: for each kind of network one that keeps the contract, and for each clause some that break it."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from tests import contract, contract_generation
from tests.families import Family, family_of
from zoo.attention import masked_softmax
from zoo.data.documents.batch import DocumentBatch, DocumentSpec
from zoo.data.language.batch import LanguageSpec
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.data.pictures.batch import PictureBatch, PictureSpec, by_level, scaled
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.masked import Inputs, MaskedConvolution
from zoo.layers.packing import Packing
from zoo.layers.pretrained import Pretrained
from zoo.layers.state import State, Step
from zoo.models.network import DensityNetwork, Read, StreamNetwork
from zoo.models.output import Output


class Sound(nn.Module):
    """Averages the words of a sentence, then the sentences of a document."""

    family: ClassVar[Family] = family_of("classification")
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


class HasIdleWeights(Sound):
    def __init__(self, spec: DocumentSpec) -> None:
        super().__init__(spec)
        self.idle = nn.Linear(2, 2)


class FreezesItsWeights(Sound):
    def __init__(self, spec: DocumentSpec) -> None:
        super().__init__(spec)
        self.embedding.requires_grad_(False)


class SkipsWhatIsShort(HasIdleWeights):
    def score(self, document: Tensor, batch: DocumentBatch) -> Tensor:
        scores = self.classifier(document)
        return scores + self.idle(document[:, :2]).sum() if batch.words.shape[1] > 1 else scores


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


class Writes(nn.Module):
    """Reads the mean of the tokens so far, and the source by attention from that."""

    family: ClassVar[Family] = family_of("translation")
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


class HidesColumns(Writes):
    def say(self, history: Tensor, memory: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        logits, weights = super().say(history, memory)
        return logits.index_fill(-1, torch.tensor([0, 1]), -torch.inf), weights


class MixesTypesInSteps(Writes):
    def step(self, tokens: Tensor, state: State) -> Step:
        if tokens.is_floating_point():
            assert (tokens @ self.target.weight).isfinite().all()
        step = super().step(tokens, state)
        return step._replace(log_probs=step.log_probs.float())


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


class Reads(StreamNetwork):
    """Half of the sum so far, and the token that is read."""

    tasks = ("language_modeling",)
    family: ClassVar[Family] = family_of("language_modeling")

    def __init__(self, spec: LanguageSpec) -> None:
        super().__init__()
        self.embedding = TokenEmbedding(spec.vocabulary_size, 32)
        self.vocabulary = nn.Linear(32, spec.vocabulary_size)

    def remembered(self, sums: Tensor) -> Tensor:
        return sums

    def read(self, tokens: Tensor, packing: Packing, carried: Any, *, need_weights: bool) -> Read:
        x, real = packing.unpack(self.embedding(tokens)), packing.numbers() > 0
        total = x.new_zeros(packing.shape[0], 32) if carried is None else self.remembered(carried["sum"])
        states = [x.new_zeros(0, 32)]
        for t in range(packing.shape[1]):
            total = torch.where(real[:, t, None], total / 2 + x[:, t], total)
            states.append(total[real[:, t]])
        grid = torch.zeros_like(x).transpose(0, 1).masked_scatter(real.T[..., None], torch.cat(states))
        return Read(packing.pack(grid.transpose(0, 1)), {"sum": total})


class Pixels(DensityNetwork):
    """One masked convolution: a value is predicted from the row above, the pixel to the left and earlier colours."""

    family: ClassVar[Family] = family_of("density")
    read: ClassVar[tuple[tuple[int, ...], ...]] = ()  # Entries of the mask (rows, columns) that a fault adds
    forgets = False

    def __init__(self, spec: PictureSpec) -> None:
        super().__init__()
        self.colours, self.levels = spec.channels, spec.levels
        c, values = spec.channels, spec.channels * spec.levels
        self.convolution = MaskedConvolution(c, values, 3, first=True, colours=c)
        for row, column in self.read:
            self.convolution.mask[:, :, row, column] = 1

    def forward(self, batch: PictureBatch) -> Output:
        x = scaled(batch.image, self.levels, self.convolution.weight)
        return Output(by_level(self.convolution(x), self.colours))

    def start(self, batch: PictureBatch) -> Inputs:
        return Inputs(self.convolution.weight.new_empty(len(batch), self.colours), 4, 5, self.convolution)

    def step(self, values: Tensor, row: int, column: int, state: Inputs) -> Tensor:
        x = scaled(values, self.levels, self.convolution.weight)
        own = x[..., row, column, None, None]
        window = state.pixel(own, row, column) if self.forgets else state.picture(x, row, column)
        return by_level(self.convolution.at(window), self.colours)[..., 0, 0]


def fault(name: str, sound: type[nn.Module], **methods: Any) -> type[nn.Module]:
    """A network that is sound except for some methods or declarations."""
    return type(name, (sound,), methods)


ATTENDS_TO_PADDING = fault(
    "AttendsToPadding", Sound, weigh=lambda self, mask: torch.full_like(mask, 1 / mask.shape[-1], dtype=torch.float64)
)
DIVIDES_BY_ZERO = fault("DividesByZero", Sound, weigh=lambda self, mask: mask / mask.sum(-1, keepdim=True))
FORGETS = fault("ForgetsTheWindowBefore", Reads, remembered=lambda self, sums: torch.zeros_like(sums))
MIXES_COLUMNS = fault("MixesColumns", Reads, remembered=lambda self, sums: sums + 0.1 * sums.mean(0))
READS_AHEAD = fault("ReadsAhead", Writes, history=lambda self, embedded: Writes.history(self, embedded.roll(-1, 1)))

FAULTS: dict[Callable[[contract.Case], None], tuple[type[nn.Module], ...]] = {
    contract.returns_an_output: (
        fault(
            "NamesNoMask",
            Sound,
            forward=lambda self, batch: Output(
                (output := Sound.forward(self, batch)).logits, {"hop": output.attention["word"]}
            ),
        ),
        fault("NamesAStrangersMask", Sound, attends={"word": "word_mask", "sentence": "memory_mask"}),
        DIVIDES_BY_ZERO,
    ),
    contract.attention_is_a_distribution: (
        fault("SumsToOneAfterAll", Sound, unnormalised=("word",)),
        fault("SumsToTwo", Sound, weigh=lambda self, mask: 2 * Sound.weigh(self, mask)),
        ATTENDS_TO_PADDING,
        DIVIDES_BY_ZERO,
    ),
    contract.padding_changes_nothing: (
        fault(
            "ReadsPadding",
            Sound,
            score=lambda self, document, batch: self.classifier(document + self.embedding(batch.words).mean((1, 2))),
        ),
        fault(
            "ReadsWhatIsUnderPadding",
            Sound,
            score=lambda self, document, batch: (
                self.classifier(document) + (batch.words * ~batch.word_mask).sum((1, 2))[:, None]
            ),
        ),
        ATTENDS_TO_PADDING,
    ),
    contract.examples_do_not_meet: (
        fault("ComparesExamples", Sound, score=lambda self, document, _: self.classifier(document - document.mean(0))),
        fault(
            "CountsPlaces",
            Sound,
            score=lambda self, document, batch: self.classifier(document) + torch.arange(len(batch))[:, None],
        ),
    ),
    contract.targets_are_not_read: (
        fault(
            "ReadsTargets",
            Sound,
            score=lambda self, document, batch: self.classifier(document) + (0 if batch.label is None else 1),
        ),
    ),
    contract.every_parameter_learns: (HasIdleWeights, FreezesItsWeights, DIVIDES_BY_ZERO, NeverMoves),
    contract.gradients_share_no_memory: (SharesAGradient,),
    contract.an_example_alone_reaches_every_parameter: (SkipsWhatIsShort,),
    contract.one_batch_can_be_learned: (NeverMoves,),
    contract.a_saved_network_is_the_same: (Forgets,),
    contract.bf16_autocast_runs: (MixesTypes, AddsInHalf),
    contract.nothing_is_parked: (ParksAttention, ParksAttentionInTraining, WritesIntoTheBatch),
    contract.nothing_later_is_read: (
        fault("ReadsNothing", Writes, history=lambda self, embedded: Writes.history(self, torch.zeros_like(embedded))),
        fault("PixelsReadThemselves", Pixels, read=((1, 1),)),
        fault("PixelsReadTheRight", Pixels, read=((1, 2),)),
        READS_AHEAD,
    ),
    contract.pixel_by_pixel_is_the_whole: (fault("ForgetsTheLastColour", Pixels, forgets=True),),
    contract.windows_are_one_long_pass: (FORGETS, MIXES_COLUMNS),
    contract.a_reset_changes_the_scores: (FORGETS,),
    contract.columns_do_not_meet: (FORGETS, MIXES_COLUMNS),
    contract_generation.steps_equal_the_parallel_pass: (READS_AHEAD, CountsFromZero, HasNoGradient),
    contract_generation.hypotheses_do_not_meet: (ComparesHypotheses, CopiesItsMemory),
    contract_generation.a_step_leaves_its_state_alone: (ChangesItsState,),
    contract_generation.a_certain_distribution_is_a_token: (
        fault(
            "WantsNumbers",
            Writes,
            step=lambda self, tokens, state: Writes.step(
                self, tokens.argmin(-1) if tokens.is_floating_point() else tokens, state
            ),
        ),
    ),
    contract_generation.objectives_are_finite: (HidesColumns, MixesTypesInSteps),
    contract_generation.a_step_does_no_work_twice: (ReadsItsMemoryAnew, ReadsThePrefixAnew),
    contract_generation.decoding_agrees_with_the_parallel_pass: (CountsFromZero,),
}
"""For each clause the networks that break it."""
