"""The base of all tasks: builds the network when the data are known, and writes and checks checkpoints."""

import logging
from abc import ABC
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, ClassVar, Required, TypedDict

import torch
import torch.distributed as dist
from lightning.pytorch.trainer.states import TrainerFn
from torch import Tensor, nn
from torchmetrics import MeanMetric, Metric

from zoo.arguments import Positive
from zoo.data.batch import Encoder, Spec, spec_from_state, spec_state
from zoo.dotted import class_at, name_of
from zoo.errors import CheckpointError, ConfigError
from zoo.layers.pretrained import Pretrained, not_pretrained, pretrained_parts
from zoo.metrics import uniform_weights
from zoo.models.output import Output
from zoo.predicting import Examined, Predicting, Prediction
from zoo.tasks.optimizing import TOTAL_STEPS, Optimizing
from zoo.tasks.parts import freeze
from zoo.tasks.remembering import Remembering
from zoo.tasks.size import check_size
from zoo.tasks.transfer import Data, report, transfer

__all__ = ["TOTAL_STEPS", "Examined", "Prediction", "Task", "TaskArguments"]

log = logging.getLogger(__name__)


class TaskArguments(TypedDict, total=False):
    """The arguments of every task, for constructors that pass them on."""

    model: Required[dict[str, Any]]
    optimizer: dict[str, Any] | None
    scheduler: dict[str, Any] | None
    monitor: Required[str]
    mode: Required[str]
    compile: bool
    freeze: list[str] | None
    learning_rates: dict[str, Positive] | None


class Task(Predicting, Optimizing, Remembering, ABC):
    """One task around any network that serves it: what `Predicting` has, and the training.

    `model`, `optimizer` and `scheduler` are plain dicts with a `_target_`, so that a checkpoint holds plain data
    only and loads with `weights_only=True`. The network is built in `configure_model`, when the data knows its spec.
    """

    headline: tuple[str, ...]  # The test metrics by which models are compared first, in the order of a sweep's table
    monitors: ClassVar[Mapping[str, str]]
    """The validation metrics that can select the best weights, each with its direction, `max` or `min`."""
    counts: ClassVar[tuple[str, ...]] = ()  # The metrics that are whole numbers and are shown without decimals
    on_bar: tuple[str, ...] = ()  # Validation metrics that the progress bar shows
    groups: ClassVar[tuple[str, ...]] = ()
    """The groups of the configuration that the task uses, besides the optimiser and the scheduler."""

    def __init__(
        self,
        *,
        model: dict[str, Any],
        optimizer: dict[str, Any] | None = None,
        scheduler: dict[str, Any] | None = None,
        monitor: str,
        mode: str,
        compile: bool = False,
        freeze: list[str] | None = None,
        learning_rates: dict[str, Positive] | None = None,
    ) -> None:
        """`freeze` names parts of the network that are not trained, and `learning_rates` gives others a rate of their
        own."""
        super().__init__()
        self.save_hyperparameters()
        self.options = self.hparams
        self.monitor, self.mode = monitor, mode
        self.start: dict[str, Any] | None = None  # The content of the checkpoint whose weights the training starts from
        self.restored = False  # Whether the trainer loads the weights of a checkpoint after the network is built
        self.pretrained: dict[str, Pretrained] = {}  # The pretrained parts of the network, by name
        self.gradient_norms: dict[int, Tensor] = {}
        self._filled: dict[Any, str] = {}  # The argument of each schedule that was filled with the length of the run

    @classmethod
    def check(cls, cfg: Any, model: Any) -> None:
        """Raise ConfigError for a configuration that does not fit this task with a network of the class `model`, before
        anything is built."""

    def remarks(self, metrics: Mapping[str, float]) -> dict[str, str]:
        """Remarks for the final table, by the names of the metrics that they follow; `metrics` are all of them."""
        return {}

    @classmethod
    def predicting(cls) -> type[Predicting]:
        """The class that predicts by a checkpoint of this task: the first base, if it is one of `zoo.predicting`, to
        which the task adds the training alone; otherwise the task itself."""
        base = cls.__bases__[0]
        return base if issubclass(base, Predicting) and not issubclass(base, Task) else cls

    # building

    def weights(self) -> list[nn.Module]:
        """The modules whose weights `trainer.precision=bf16-true` or 64-true converts."""
        return [self.network]

    def configure_model(self) -> None:
        """Build the network from the data's spec, once, and copy pretrained vectors into its embedding."""
        if self.spec is not None:
            return
        data = self.trainer.datamodule  # type: ignore[attr-defined]
        check_size(self.hparams["model"], data.spec)
        with not_pretrained() if self.restored or self.start is not None else nullcontext():
            self.build(data.spec, data.encoder)
        count = sum(parameter.numel() for parameter in self.network.parameters())
        frozen = sum(parameter.numel() for parameter in self.network.parameters() if not parameter.requires_grad)
        apart = f", {frozen:,} of them frozen" if frozen else ""
        log.info("%s: %s parameters%s", type(self.network).__name__, f"{count:,}", apart)
        self.prepare_training()
        vectors = data.vectors()
        if vectors is not None:
            self._copy_vectors(vectors.rows, vectors.found)
        if self.start is not None:
            self._copy_weights(self.start)
        freeze(self.network, self.hparams["freeze"] or ())
        if self.hparams["compile"]:
            self.network.compile()  # in place, so that the weights keep their names

    def build(self, spec: Spec, encoder: Any) -> None:
        super().build(spec, encoder)
        self.pretrained = pretrained_parts(self.network)
        steps = [f"steps_{name}" for name in getattr(self.network, "ponders", ())]
        self.val_metrics, self.test_metrics = (
            nn.ModuleDict({**self.metrics(), **{name: MeanMetric() for name in steps}}) for _ in range(2)
        )

    def metrics(self) -> dict[str, Metric]:
        """New metrics, by the names under which `record` logs them."""
        return {}

    def prepare_training(self) -> None:
        """Build what only training needs, after the network; by default nothing. `zoo predict` does not call it, so
        that the hyperparameters of a foreign checkpoint cannot name code to run."""

    def _copy_weights(self, checkpoint: dict[str, Any]) -> None:
        prefix, about = "network.", checkpoint["zoo"]
        weights = {k.removeprefix(prefix): v for k, v in checkpoint["state_dict"].items() if k.startswith(prefix)}
        old = Data(
            spec_from_state(about["spec"]), class_at(about["encoder_class"], Encoder).from_state(about["encoder"])
        )
        report(transfer(self.network, weights, self.options["model"], old, Data(self.spec, self.encoder)), self.network)

    def _copy_vectors(self, vectors: Tensor, found: Tensor) -> None:
        embedding = getattr(self.network, "embedding", None)
        if not isinstance(embedding, nn.Embedding):
            raise ConfigError(f"data.vectors is set, but {type(self.network).__name__} has no word embedding to fill")
        if embedding.embedding_dim != vectors.shape[1]:
            key = "hidden_dim" if "embedding_dim" not in self.hparams["model"] else "embedding_dim"
            raise ConfigError(
                f"data.vectors holds vectors of {vectors.shape[1]} numbers, model.{key} is "
                f"{embedding.embedding_dim}: set model.{key}={vectors.shape[1]}"
            )
        with torch.no_grad():
            embedding.weight[found] = vectors[found]

    # evaluation

    def facts(self) -> dict[str, Any]:
        """Further facts about the test for result.json, by their keys, besides single numbers."""
        return {}

    def baselines(self, data: Any) -> dict[str, dict[str, float]]:
        """The test metrics of simpler methods on `data`, by the name of the method, for result.json and the final
        table. The first process computes them when the network is tested and its result is stored."""
        return {}

    def signatures(self) -> dict[str, str]:
        """The definitions by which test metrics were computed, for metrics with several; stored in result.json."""
        return {}

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self.evaluate(batch, "val")

    def test_step(self, batch: Any, batch_idx: int) -> None:
        self.evaluate(batch, "test")

    def evaluate(self, batch: Any, stage: str) -> Any:
        """Score a batch of the validation (`val`) or the test (`test`)."""
        raise TypeError(f"{type(self).__name__} has no `evaluate`; define it, or `validation_step` and `test_step`")

    def metrics_of(self, stage: str) -> Any:
        """The metrics of the validation (`val`) or the test (`test`), by name."""
        return self.val_metrics if stage == "val" else self.test_metrics

    def record(self, stage: str, name: str, *values: Any) -> None:
        """Update the metric `name` of the stage with `values` of a batch, and log it as `<stage>/<name>`."""
        metric = self.metrics_of(stage)[name]
        metric.update(*values)
        bar = stage == "val" and name in self.on_bar
        self.log(f"{stage}/{name}", metric, prog_bar=bar, on_step=False, on_epoch=True)

    def record_recall(self, stage: str, part: str, weights: Tensor, truth: Tensor, mask: Tensor) -> None:
        """Record the share of the attention `weights` on the positions of `truth` as `<part>_recall`, and that of equal
        weights on all positions of `mask` as `<part>_chance`."""
        self.record(stage, f"{part}_recall", weights, truth)
        self.record(stage, f"{part}_chance", uniform_weights(mask), truth)

    def record_steps(self, stage: str, output: Output) -> None:
        """Record the mean number of steps at a position as `steps_<name>`, if the network decides that for each one."""
        for name in getattr(self.network, "ponders", ()):
            self.record(stage, f"steps_{name}", output.steps[name][output.steps[name] > 0].float())

    def log_defined(self, values: Mapping[str, Tensor]) -> None:
        """Log figures of a whole split, without those that the data do not define (NaN)."""
        for name, value in values.items():
            if not value.isnan():
                self.log(name, value.float())

    def group_means(self, stage: str, names: Iterable[str]) -> dict[str, Tensor]:
        """(G,) the mean of each named metric in each group, over all ranks. The metrics are reset."""
        # torchmetrics turns a single group into a number
        return {name: computed(self.metrics_of(stage)[name]).reshape(-1) for name in names}

    def log_means(self, stage: str, means: Mapping[str, Tensor]) -> None:
        """Log the means of figures over all groups, in which each group has the same weight."""
        for name, values in means.items():
            mean = values.nanmean().float()
            if stage == "val" or not mean.isnan():
                self.log(f"{stage}/{name}", mean, prog_bar=stage == "val" and name in self.on_bar)

    def log_groups(self, means: Mapping[str, Tensor], groups: Sequence[str]) -> None:
        """Log test figures of each part of the test, such as `test/accuracy_n5`.

        Args:
            means: the means of each group (G,), by name.
            groups: the names of the groups. A single group is the whole test and is not logged by itself.
        """
        for name, values in means.items() if len(groups) > 1 else ():
            named = zip(groups, values, strict=True)
            self.log_defined({f"test/{name}_{group}": value for group, value in named})

    # training

    def own_losses(self, output: Output | None, size: int) -> Tensor:
        """The sum of the losses in a network's output, each a mean over its batch of `size`, to be added to the task's
        loss. Each is logged under its name; that of several networks is their sum."""
        losses = {} if output is None else {name: loss.sum() for name, loss in output.losses.items()}
        for name, loss in losses.items():
            self.log(f"train/{name}", loss.detach(), on_step=False, on_epoch=True, sync_dist=True, batch_size=size)
        return torch.stack(list(losses.values())).sum() if losses else torch.zeros((), device=self.device)

    def shared(self, own: Tensor, size: int) -> Tensor:
        """The losses of `own_losses`, a mean over `size` examples, so that DDP's mean over the ranks is the mean over
        the global batch."""
        return self.global_mean(own * size, size) if own.requires_grad else own

    def step_loss(self, loss: Tensor, batch: Any) -> Tensor:
        """Return the loss of a training step in the unit of `train/loss`; `loss` is what `training_step` returned."""
        return loss

    def global_mean(self, total: Tensor, count: int | Tensor) -> Tensor:
        """The loss whose gradient, averaged over ranks by DDP, is that of the mean over the global batch.

        The mean of the ranks' means is another number whenever ranks hold different counts. Batches that
        trainer.accumulate_grad_batches combines are such a mean of means, since their counts are not known in advance.
        """
        if not (dist.is_available() and dist.is_initialized()):
            return total / count
        counts = torch.as_tensor(count, dtype=total.dtype, device=total.device).detach().clone()
        dist.all_reduce(counts)
        return total * dist.get_world_size() / counts

    # checkpoints

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        super().on_save_checkpoint(checkpoint)
        checkpoint["zoo"] = {
            "format": 1,
            "task": name_of(type(self)),
            "predicting": name_of(self.predicting()),
            "spec": spec_state(self.spec),
            "encoder_class": name_of(type(self.encoder)),
            "encoder": self.encoder.state(),
            **({"rule": rule} if (rule := self.rule()) else {}),
        }
        fitting = self._trainer is not None and self._trainer.state.fn == TrainerFn.FITTING
        if fitting and any(ranks := self.ranks_state()):
            checkpoint["zoo"]["remembered"] = ranks

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        if "zoo" not in checkpoint:
            raise CheckpointError("this checkpoint was not written by attention-zoo: it has no spec and no vocabulary")
        if self.spec is not None:
            self._check_data(checkpoint)
            self._check_shapes(checkpoint)
            self.keep_to_the_network(checkpoint["state_dict"])
            self.follow(checkpoint["zoo"].get("rule", {}))
            self.restore_ranks(checkpoint)
            optimizers = checkpoint.get("optimizer_states", [])
            if optimizers and self.trainer.state.fn == TrainerFn.FITTING:
                self.check_groups(optimizers)

    def _check_data(self, checkpoint: dict[str, Any]) -> None:
        """Raise CheckpointError unless spec (apart from its limits) and encoder equal those of the checkpoint."""
        there, here = spec_state(spec_from_state(checkpoint["zoo"]["spec"])), spec_state(self.spec)
        differing = [
            f"{name} is {there.get(name)} there, {here.get(name)} here"
            for name in {**there, **here}
            if there.get(name) != here.get(name) and name not in self.spec.limits
        ]
        there, here = checkpoint["zoo"]["encoder"], self.encoder.state()
        if there != here:  # in today's form, whatever version wrote it
            there = type(self.encoder).from_state(there).state()
        if parts := [name for name in {**there, **here} if there.get(name) != here.get(name)]:
            differing.append(f"the encoder differs in {', '.join(parts)}")
        if differing:
            raise CheckpointError(
                f"the checkpoint was trained on other data: {'; '.join(differing)}. Use the data options (data=, "
                "data.source=, sizes, data.text) of the run that wrote it"
            )

    def _check_shapes(self, checkpoint: dict[str, Any]) -> None:
        own = self.state_dict()
        for name, weight in checkpoint["state_dict"].items():
            if name in own and own[name].shape != weight.shape:
                raise CheckpointError(
                    f"{name} is {tuple(weight.shape)} in the checkpoint, {tuple(own[name].shape)} here: use the sizes "
                    "of the run that wrote it, and its data, whose longest text is the length of tables of positions"
                )


def computed(metric: Any) -> Any:
    """The value of a metric over all batches and ranks; the metric is reset."""
    value = metric.compute()
    metric.reset()
    return value
