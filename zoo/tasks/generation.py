"""The base of tasks that write a sequence for each example: training by an objective, the likelihood of the truth,
greedy decoding in validation, the configured search in the test, and free running."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Protocol, Required, Unpack

import torch
from hydra.utils import instantiate
from torch import Tensor, nn
from torchmetrics import Metric

from zoo.data.batch import Spec
from zoo.decoding import Decoding, Greedy, Hypothesis
from zoo.dotted import class_at
from zoo.errors import CheckpointError, ConfigError
from zoo.layers.state import positions_of, source_attention
from zoo.metrics import AlignmentErrorRate, AttentionRecall, Perplexity, TokenLoss, uniform_rows
from zoo.models.output import Output
from zoo.objectives import Supervised
from zoo.objectives.cross_entropy import likelihood, output_cross_entropy
from zoo.objectives.feeding import likeliest, walk
from zoo.objectives.policy_gradient import PolicyGradient
from zoo.predicting.writing import WritingPredictions
from zoo.tasks.task import Task, TaskArguments


class Evaluated(Supervised, Protocol):
    """B examples with the sequences to write for them, and the true alignment where the data has it."""

    @property
    def alignment(self) -> Tensor | None:
        """(B, T, S) True where a target token comes from a position of the batch's memory; None where that is not
        known."""


class GenerationArguments(TaskArguments, total=False):
    """The arguments of every task that writes sequences."""

    objective: Required[dict[str, Any]]
    decoding: Required[dict[str, Any]]
    regularizer: dict[str, Any] | None


class Generation(WritingPredictions, Task):
    """A task for any network with `forward`, `start` and `step` (see `zoo.layers.state`). Its batches are `Evaluated`.
    The network alone knows whether it writes from tokens, regions, points or sentences.

    A subclass defines `score_written()` and what every task does; it adds its own metrics to those of this class. It
    may extend `score_forced()` and `score_attention()`, which count scores and attention under teacher forcing. A
    language model that carries a state from batch to batch derives from `Task` instead.
    """

    headline: tuple[str, ...] = ("perplexity", "free_running_perplexity")
    monitors: ClassVar[Mapping[str, str]] = {
        "loss": "min",
        "perplexity": "min",
        "free_running_perplexity": "min",
        "attention_recall": "max",
        "alignment_error_rate": "min",
    }
    groups = ("objective", "decoding", "regularizer")
    reads_attention: ClassVar[tuple[tuple[str, str], ...]] = (("decoding", "coverage_penalty"),)
    """Keys, by group, that need a network with attention."""
    on_bar: tuple[str, ...] = ("perplexity",)

    def __init__(
        self,
        *,
        objective: dict[str, Any],
        decoding: dict[str, Any],
        regularizer: dict[str, Any] | None = None,
        **rest: Unpack[TaskArguments],
    ) -> None:
        """`objective`, `decoding` and each entry of `regularizer` are plain dicts with a `_target_`, as `model` is."""
        super().__init__(**rest)

    @classmethod
    def check(cls, cfg: Any, model: Any) -> None:
        """Raises ConfigError where a key needs attention and the network has none, and for a `decoding` that is not a
        `Decoding`."""
        try:
            class_at(cfg.decoding["_target_"], Decoding)
        except CheckpointError as error:
            raise ConfigError(f"decoding._target_: {error}; inherit from zoo.decoding.Decoding") from error
        if reward := (cfg.objective or {}).get("reward"):
            cls._check_reward(class_at(reward["_target_"], object))
        asked = [f"regularizer={name}" for name, node in (cfg.get("regularizer") or {}).items() if node is not None]
        asked += [f"{group}.{key}" for group, key in cls.reads_attention if cfg[group].get(key)]
        if asked and "source" not in model.attends:
            raise ConfigError(
                f"{asked[0]}: {model.__name__} has no attention on its source (no `source` in its `attends`); "
                "choose a model with attention, or remove the key"
            )

    @classmethod
    def _check_reward(cls, reward: type[Any]) -> None:
        served = getattr(reward, "tasks", (cls.name,))
        if cls.name not in served:
            raise ConfigError(
                f"objective.reward: {reward.__name__} is for {', '.join(served)}, and these data are for {cls.name}; "
                f"choose another objective, or data for {served[0]}"
            )

    def build(self, spec: Spec, encoder: Any) -> None:
        super().build(spec, encoder)
        self.greedy = Greedy(**self._rules())

    def metrics(self) -> dict[str, Metric]:
        return {
            "loss": TokenLoss(),
            "perplexity": Perplexity(),
            "free_running_perplexity": Perplexity(),
            "attention_recall": AttentionRecall(),
            "attention_chance": AttentionRecall(),
            "alignment_error_rate": AlignmentErrorRate(),
        }

    # training

    def prepare_training(self) -> None:
        """The objective, and the penalties on the attention by name."""
        self.objective = instantiate(self.hparams["objective"])
        if isinstance(self.objective, PolicyGradient):
            self.objective.build(self.spec, self._training_references)
        parts = (self.hparams["regularizer"] or {}).items()
        self.regularizers = {name: instantiate(part) for name, part in parts if part is not None}

    def _training_references(self) -> Any:
        return self.trainer.datamodule.training_references()  # type: ignore[attr-defined]

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        network = self.writing if isinstance(self.objective, PolicyGradient) else self.network
        loss = self.objective(
            network, batch, spec=self.spec, step=self.global_step, need_weights=bool(self.regularizers)
        )
        penalties = [replace(penalty(loss.output, batch), name=name) for name, penalty in self.regularizers.items()]
        terms = [*loss.terms, *penalties]
        weighed = [term for term in terms if term.weight]
        own = self.own_losses(loss.output, len(batch))
        whole = sum(term.weight * (term.total.detach() / term.count) for term in weighed)
        self._log_train("loss", whole + own.detach(), weighed[0].count)
        for term in terms:
            if not term.weight or len(weighed) > 1:  # else it is the loss
                self._log_train(term.name, term.total.detach() / term.count, term.count)
        for name, value in loss.logs.items():
            self._log_train(name, value, len(batch))
        terms_mean = [term.weight * self.global_mean(term.total, term.count) for term in weighed]
        return torch.stack(terms_mean).sum() + self.shared(own, len(batch))

    def _log_train(self, name: str, value: Any, count: Any) -> None:
        """Log `value`, a mean over `count` on this rank, as a mean over the epoch and all ranks."""
        bar = name == "loss"
        self.log(f"train/{name}", value, prog_bar=bar, on_step=False, on_epoch=True, sync_dist=True, batch_size=count)

    # evaluation

    def evaluate(self, batch: Evaluated, stage: str) -> None:
        known = batch.alignment is not None
        output = likelihood(self.network, batch, need_weights=known, need_scores=self.needs_scores(batch))
        self.score_forced(stage, batch, output)
        self._written(batch, stage)
        if "free_running_perplexity" in self.metrics_of(stage):
            self._free_running(batch, stage)

    def needs_scores(self, batch: Any) -> bool:
        """Whether `score_forced` reads all scores, and not only how likely the true tokens are."""
        return False

    def score_forced(self, stage: str, batch: Any, output: Output) -> None:
        """Count how likely the true tokens are. If the data has the true alignment, and the network attends to the
        positions of the batch's memory, count how well the attention finds it."""
        nll, _ = output_cross_entropy(output, batch)
        for name in ("loss", "perplexity"):
            self.record(stage, name, nll, len(batch.true_tokens))
        self.record_steps(stage, output)
        weights = source_attention(output.attention)
        if batch.alignment is not None and weights is not None:
            positions = positions_of("source", output.memories, batch, weights)
            if (alignment := positions.grouped(batch.alignment)) is None:
                return  # it is one to the positions of the batch's memory
            seen: Tensor = positions.mask if positions.own else getattr(batch, self.network.attends["source"])
            possible = alignment & seen[:, None]  # (B, T, S): masked positions do not count as missed
            self.score_attention(stage, batch, weights, possible)
            real = batch.forced.mask
            chance = uniform_rows(seen, weights.shape[1])[real]
            self.record(stage, "attention_chance", chance, possible[real])

    def score_attention(self, stage: str, batch: Any, weights: Tensor, possible: Tensor) -> None:
        """Count how well `weights` (B, T, S), the attention on the source, finds `possible` (B, T, S), the positions
        that each true token comes from."""
        real = batch.forced.mask
        self.record(stage, "attention_recall", weights[real], possible[real])  # each token by itself
        if "alignment_error_rate" in self.metrics_of(stage):
            self.record(stage, "alignment_error_rate", weights, possible)

    def _written(self, batch: Evaluated, stage: str) -> None:
        """Count what the network writes by itself: greedily in the validation, by the configured search in the test."""
        decode = self.greedy if stage == "val" else self.decode
        self.score_written(stage, batch, [best for best, *_ in decode(self.writing, batch, self.spec)])

    @abstractmethod
    def score_written(self, stage: str, batch: Any, hypotheses: list[Hypothesis]) -> None:
        """Count `hypotheses`, the best one of each example of `batch`, against the truth."""

    def _free_running(self, batch: Evaluated, stage: str) -> None:
        """Count the perplexity of the true tokens while the network reads its own likeliest ones."""
        spec = self.spec
        own = walk(self.network, batch, lambda log_probs, true: likeliest(log_probs, spec), need_weights=False)
        target = own.true_tokens(batch)
        nll = nn.functional.nll_loss(own.logits.float(), target, reduction="sum")
        self.record(stage, "free_running_perplexity", nll, len(target))
