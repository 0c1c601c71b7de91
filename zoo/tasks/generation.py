"""What every task shares that writes a sequence, whatever it is written from: training by an objective, the likelihood
of the truth, greedy decoding in validation, the configured search in the test, and free running."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Protocol

import torch
from hydra.utils import instantiate
from torch import Tensor, nn
from torchmetrics import Metric

from zoo.attention.source import source_attention
from zoo.data.spec import Spec
from zoo.decoding import BeamSearch, Decoding, Greedy, Hypothesis
from zoo.dotted import class_at
from zoo.errors import CheckpointError, ConfigError
from zoo.metrics import AlignmentErrorRate, AttentionRecall, Perplexity, TokenLoss, uniform_rows
from zoo.models.output import Output
from zoo.objectives import Supervised
from zoo.objectives.feeding import likeliest, walk
from zoo.objectives.policy_gradient import PolicyGradient
from zoo.objectives.vocabulary import vocabulary_cross_entropy
from zoo.tasks.task import Task

RULES = ("min_length", "max_length", "no_repeat_ngram")
"""Options of every way of decoding."""


class Evaluated(Supervised, Protocol):
    """B examples with what is to be written for them, and, where the data knows it, what that comes from."""

    @property
    def alignment(self) -> Tensor | None:
        """(B, T, S) True where a target token comes from a position of the memory; None where that is not known."""


class Generation(Task):
    """Any network that writes a sequence: it has `forward`, `start` and `step` (see `zoo.layers.state`). What it writes
    from, tokens, regions, points or sentences, is between its batches, each an `Evaluated`, and the network, whose
    class says by `attends` which mask of the batch its attention `source` sees (see `zoo.models.output`).

    A subclass gives

    - `name` and `headline`, and its own metrics in `metrics()` and `monitors`, both beside those that stand here;
    - `score_written()`: what it counts of the hypotheses that the network wrote by itself;
    - `predictions()` and `examine()`, and names its `view`, as every task;

    and where it needs them `score_forced()` and `score_attention()`, to count more of what the network says, and of
    where it looks, when it is told the truth, `on_bar`, and `reads_attention`. Whatever it counts goes through
    `record()`.
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
    """Keys, by group, that are of use to a network with attention alone."""
    on_bar: ClassVar[tuple[str, ...]] = ("perplexity",)
    length_penalty: ClassVar[float] = 0.6
    """Of a beam search that is asked for where the run was told to decode in another way."""
    spec: Any
    """A `Spec` that is a `zoo.objectives.TargetSpec`."""

    def __init__(
        self,
        *,
        model: dict[str, Any],
        objective: dict[str, Any],
        decoding: dict[str, Any],
        regularizer: dict[str, Any] | None = None,
        optimizer: dict[str, Any] | None = None,
        scheduler: dict[str, Any] | None = None,
        monitor: str,
        mode: str,
        compile: bool = False,
    ) -> None:
        """`objective`, `decoding` and each entry of `regularizer` are plain dicts with a `_target_`, as `model` is."""
        super().__init__(
            model=model, optimizer=optimizer, scheduler=scheduler, monitor=monitor, mode=mode, compile=compile
        )

    @classmethod
    def check(cls, cfg: Any, model: Any) -> None:
        """Raises ConfigError where something reads the attention of a network that has none, and for a `decoding` that
        is no `Decoding`."""
        try:
            class_at(cfg.decoding["_target_"], Decoding)
        except CheckpointError as error:
            raise ConfigError(f"decoding._target_: {error}; inherit from zoo.decoding.Decoding") from error
        asked = [f"regularizer={name}" for name, node in (cfg.get("regularizer") or {}).items() if node is not None]
        asked += [f"{group}.{key}" for group, key in cls.reads_attention if cfg[group].get(key)]
        if asked and "source" not in model.attends:
            raise ConfigError(
                f"{asked[0]}: {model.__name__} has no attention on what it writes from (no `source` in its `attends`); "
                "take a model that has, or leave it out"
            )

    def build(self, spec: Spec, encoder: Any) -> None:
        super().build(spec, encoder)
        self.decode = self._decoding()(**self._decoding_options())
        self.greedy = Greedy(**self._rules())
        self.val_metrics, self.test_metrics = nn.ModuleDict(self.metrics()), nn.ModuleDict(self.metrics())

    def metrics(self) -> dict[str, Metric]:
        """New metrics by the names that they are logged under."""
        return {
            "loss": TokenLoss(),
            "perplexity": Perplexity(),
            "free_running_perplexity": Perplexity(),
            "attention_recall": AttentionRecall(),
            "attention_chance": AttentionRecall(),
            "alignment_error_rate": AlignmentErrorRate(),
        }

    def forward(self, batch: Any, *, need_weights: bool = True) -> Output:
        assert self.network is not None
        return self.network(batch, need_weights=need_weights)

    @property
    def writing(self) -> Any:
        """The network as it writes by itself: a task that constrains that puts its constraint around it (see
        `zoo.decoding.constraint`). What is said of targets, and trained by them, is the network's alone."""
        return self.network

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
        return torch.stack(terms_mean).sum() + own

    def _log_train(self, name: str, value: Any, count: Any) -> None:
        """The mean over the epoch and all ranks of what is a mean over `count` here."""
        bar = name == "loss"
        self.log(f"train/{name}", value, prog_bar=bar, on_step=False, on_epoch=True, sync_dist=True, batch_size=count)

    # evaluation

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self._evaluate(batch, "val", self.val_metrics, self.greedy)

    def test_step(self, batch: Any, batch_idx: int) -> None:
        self._evaluate(batch, "test", self.test_metrics, self.decode)

    def _evaluate(self, batch: Evaluated, stage: str, metrics: nn.ModuleDict, decode: Any) -> None:
        self._forced(batch, stage, metrics)
        self._written(batch, stage, metrics, decode)
        if "free_running_perplexity" in metrics:
            self._free_running(batch, stage, metrics)

    def _forced(self, batch: Evaluated, stage: str, metrics: nn.ModuleDict) -> None:
        """What the network says of the truth, the true tokens being read."""
        self.score_forced(stage, metrics, batch, self(batch, need_weights=batch.alignment is not None))

    def score_forced(self, stage: str, metrics: nn.ModuleDict, batch: Any, output: Output) -> None:
        """Counts how likely the true tokens are, and where `output` has attention and the data knows what is true, how
        well it finds that."""
        size, target = len(batch), batch.true_tokens
        nll, _ = vocabulary_cross_entropy(output.logits, target)
        self.record(stage, metrics, "loss", size, nll, len(target))
        self.record(stage, metrics, "perplexity", size, nll, len(target))
        weights = source_attention(output.attention)
        if batch.alignment is not None and weights is not None:
            network: Any = self.network
            seen: Tensor = getattr(batch, network.attends["source"])
            possible = batch.alignment & seen[:, None]  # (B, T, S): where a network may not look it misses nothing
            self.score_attention(stage, metrics, batch, weights, possible)
            real = batch.forced.mask
            chance = uniform_rows(seen, weights.shape[1])[real]
            self.record(stage, metrics, "attention_chance", size, chance, possible[real])

    def score_attention(
        self, stage: str, metrics: nn.ModuleDict, batch: Any, weights: Tensor, possible: Tensor
    ) -> None:
        """Counts how well the attention on the source, `weights` (B, T, S), finds what each true token comes from,
        `possible` (B, T, S)."""
        size, real = len(batch), batch.forced.mask
        self.record(stage, metrics, "attention_recall", size, weights[real], possible[real])  # each token by itself
        if "alignment_error_rate" in metrics:
            self.record(stage, metrics, "alignment_error_rate", size, weights, possible)

    def _written(self, batch: Evaluated, stage: str, metrics: nn.ModuleDict, decode: Any) -> None:
        """What the network writes by itself."""
        self.score_written(stage, metrics, batch, [best for best, *_ in decode(self.writing, batch, self.spec)])

    @abstractmethod
    def score_written(self, stage: str, metrics: nn.ModuleDict, batch: Any, hypotheses: list[Hypothesis]) -> None:
        """Counts what was written, the best of `hypotheses` for each example of `batch`, against what is true."""

    def _free_running(self, batch: Evaluated, stage: str, metrics: nn.ModuleDict) -> None:
        """The perplexity of the true tokens where the network reads its own likeliest ones."""
        spec, target = self.spec, batch.true_tokens
        network: Any = self.network
        own = walk(network, batch, lambda log_probs, true: likeliest(log_probs, spec), need_weights=False)
        nll = nn.functional.nll_loss(own.logits.float(), target, reduction="sum")
        self.record(stage, metrics, "free_running_perplexity", len(batch), nll, len(target))

    # predicting

    def search(self, beam_size: int | None, nbest: int | None) -> None:
        """Decode by beam search with these, what is None as the run was told. Raises ConfigError where they make no
        sense."""
        told = self._decoding_options()
        if not issubclass(self._decoding(), BeamSearch):
            told = {"length_penalty": self.length_penalty} | self._rules()
        count = told.get("nbest", 1) if nbest is None else nbest
        size = max(told.get("beam_size", 5), count) if beam_size is None else beam_size
        if nbest is None:
            count = min(count, max(size, 1))
        self.decode = BeamSearch(**told | {"beam_size": size, "nbest": count})

    def _decoding(self) -> type[Decoding]:
        return class_at(self.hparams["decoding"]["_target_"], Decoding)

    def _decoding_options(self) -> dict[str, Any]:
        return {key: value for key, value in self.hparams["decoding"].items() if key != "_target_"}

    def _rules(self) -> dict[str, Any]:
        """Of what may be written, whatever searches for it."""
        told = self._decoding_options()
        return {rule: told[rule] for rule in RULES if rule in told}

    def predict_step(self, batch: Any, batch_idx: int = 0) -> list[list[Hypothesis]]:
        return self.decode(self.writing, batch, self.spec)
