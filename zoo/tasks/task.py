"""What all tasks share: a network built late, the optimiser, a mean exact on any number of ranks, the checkpoint."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.distributed as dist
from hydra.utils import instantiate
from lightning import LightningModule
from lightning.pytorch.trainer.states import TrainerFn
from torch import Tensor, nn
from torchmetrics import Metric

from zoo.data.spec import Spec, spec_from_state, spec_state
from zoo.errors import CheckpointError, ConfigError
from zoo.layers.pretrained import Pretrained, not_pretrained, pretrained_parts
from zoo.models.output import Output
from zoo.tasks.freezing import check_groups, parameter_groups, reach_epoch
from zoo.tasks.schedules import Noam

TOTAL_STEPS = "total_steps"
"""In a scheduler's arguments it stands for the number of optimiser steps of the whole run, known when the data is."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Examined:
    """An example of a split, what the network says of it, and what is true."""

    index: int
    prediction: Any
    truth: str | None


class Task(LightningModule, ABC):
    """One task around any network that serves it.

    `model`, `optimizer` and `scheduler` are plain dicts with a `_target_`, so that a checkpoint holds plain data
    only and loads with `weights_only=True`. The network is built in `configure_model`, when the data knows its spec.
    """

    name: str
    headline: tuple[str, ...]
    """The test metrics by which models are compared first, as the table of a sweep shows them."""
    view: ClassVar[str]
    """The dotted name of the class that shows what the task does, a `zoo.visualize.view.View`."""
    monitors: ClassVar[Mapping[str, str]]
    """The metrics of the validation that may choose the best weights, and whether the `max` or the `min` is best."""
    on_bar: ClassVar[tuple[str, ...]] = ()
    """Metrics of the validation that the progress bar shows."""
    groups: ClassVar[tuple[str, ...]] = ()
    """The groups of the configuration that it takes besides the optimizer and the scheduler."""
    network: nn.Module | None

    def __init__(
        self,
        *,
        model: dict[str, Any],
        optimizer: dict[str, Any] | None = None,
        scheduler: dict[str, Any] | None = None,
        monitor: str,
        mode: str,
        compile: bool = False,
    ) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.monitor, self.mode = monitor, mode
        self.network = None
        self.spec: Spec | None = None
        self.encoder: Any = None
        """The `Encoder` of the data."""
        self.start: dict[str, Any] | None = None
        """The content of a checkpoint whose weights the training begins with."""
        self.restored = False
        """Whether the trainer puts the weights of a checkpoint into the network when that is built."""
        self.pretrained: dict[str, Pretrained] = {}
        """The parts of the network that bring their weights along, by their names."""

    @classmethod
    def check(cls, cfg: Any, model: Any) -> None:
        """Raises ConfigError for what this task, with a network of the class `model`, can refuse of a run's
        configuration before anything is built."""

    def remarks(self, metrics: Mapping[str, float]) -> dict[str, str]:
        """What the final table says behind some of its figures, by their names; `metrics` are all of them."""
        return {}

    # building

    def configure_model(self) -> None:
        """Builds the network from the data's spec, once; copies pretrained vectors into its embedding."""
        if self.network is not None:
            return
        data = self.trainer.datamodule  # type: ignore[attr-defined]
        with not_pretrained() if self.restored or self.start is not None else nullcontext():
            self.build(data.spec, data.encoder)
        self.prepare_training()
        assert self.network is not None
        count = sum(parameter.numel() for parameter in self.network.parameters())
        frozen = sum(parameter.numel() for parameter in self.network.parameters() if not parameter.requires_grad)
        apart = f", {frozen:,} of them frozen" if frozen else ""
        log.info("%s: %s parameters%s", type(self.network).__name__, f"{count:,}", apart)
        vectors = data.vectors()
        if vectors is not None:
            self._copy_vectors(vectors.rows, vectors.found)
        if self.start is not None:
            self._take_weights(self.start)
        if self.hparams["compile"]:
            self.network.compile()  # in place, so that the weights keep their names

    def build(self, spec: Spec, encoder: Any) -> None:
        """Builds the network from `spec`, and all that predicting needs. `encoder` turns raw inputs into batches and
        travels in checkpoints."""
        self.spec, self.encoder = spec, encoder
        self.network = instantiate(self.hparams["model"], spec, _recursive_=False)
        assert self.network is not None
        self.pretrained = pretrained_parts(self.network)

    def prepare_training(self) -> None:
        """Builds what training alone needs, when the network is there: by default nothing. A checkpoint that only
        predicts does not come here, so that someone else's has nothing called that its hyperparameters name."""

    def _take_weights(self, checkpoint: dict[str, Any]) -> None:
        assert self.network is not None
        self._check_data(checkpoint)
        prefix, weights = "network.", checkpoint["state_dict"]
        try:
            self.network.load_state_dict(
                {k.removeprefix(prefix): v for k, v in weights.items() if k.startswith(prefix)}
            )
        except RuntimeError as error:
            there = checkpoint["hyper_parameters"]["model"]
            raise CheckpointError(
                f"start_from: the checkpoint's weights are of another network, {there}; "
                f"choose the same model= and sizes: {str(error).splitlines()[0]}"
            ) from error

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

    def configure_optimizers(self) -> Any:
        options = dict(self.hparams["optimizer"])
        if self.trainer.precision == "16-mixed" and self.trainer.gradient_clip_val:
            options.pop("fused", None)  # a fused step unscales the gradients itself, too late for clipping them
        make = instantiate(options, _partial_=True, _convert_="all")
        by_name = getattr(make.func, "by_name", False)  # it makes groups of its own
        optimizer = make(
            list(self.named_parameters()) if by_name else parameter_groups(self.parameters(), self.pretrained)
        )
        plan = self.hparams["scheduler"]
        if not plan:
            return optimizer
        timing = {key: value for key, value in plan.items() if key != "scheduler"}
        steps = self.trainer.estimated_stepping_batches
        shape = {key: steps if value == TOTAL_STEPS else value for key, value in plan["scheduler"].items()}
        scheduler = instantiate(shape, optimizer=optimizer, _convert_="all")
        if isinstance(scheduler, Noam) and scheduler.warmup > steps:
            log.warning(scheduler.advice(int(steps)))
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, **timing}}

    def configure_gradient_clipping(
        self, optimizer: Any, gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None
    ) -> None:
        """Lightning's, and also for fused optimizers in bf16: Lightning refuses though nothing is scaled."""
        scaled = getattr(self.trainer.precision_plugin, "scaler", None) is not None
        if scaled or gradient_clip_algorithm == "value" or not gradient_clip_val:
            super().configure_gradient_clipping(optimizer, gradient_clip_val, gradient_clip_algorithm)
        else:
            nn.utils.clip_grad_norm_(self.parameters(), gradient_clip_val)

    # predicting

    @abstractmethod
    def predictions(self, batch: Any, words: list[Any]) -> list[Any]:
        """One prediction per example of `batch`; `words` are its inputs as they should be shown."""

    @abstractmethod
    def examine(self, batch: Any) -> list[Any]:
        """For each example of a batch of a split what the network says, and what is true, as `Examined` or
        a class of it: for pictures and tables."""

    def signatures(self) -> dict[str, str]:
        """What the test metrics that have several definitions were computed by, for result.json."""
        return {}

    # evaluation

    def record(self, stage: str, metrics: nn.ModuleDict, name: str, size: int, *values: Any) -> None:
        """Counts `values` of a batch of `size` in the metric `name`, and logs that as `<stage>/<name>`."""
        metric = metrics[name]
        assert isinstance(metric, Metric)
        metric.update(*values)
        bar = stage == "val" and name in self.on_bar
        self.log(f"{stage}/{name}", metric, prog_bar=bar, on_step=False, on_epoch=True, batch_size=size)

    # training

    def own_losses(self, output: Output | None, size: int) -> Tensor:
        """The sum of the losses that a network brings along with its scores, each a mean over its batch of `size`, to
        be added to the task's; logs each under its name."""
        losses = {} if output is None else output.losses
        for name, loss in losses.items():
            self.log(f"train/{name}", loss.detach(), on_step=False, on_epoch=True, sync_dist=True, batch_size=size)
        return torch.stack(list(losses.values())).sum() if losses else torch.zeros((), device=self.device)

    def global_mean(self, total: Tensor, count: int | Tensor) -> Tensor:
        """The loss whose gradient, averaged over ranks by DDP, is that of the mean over the whole global batch.

        The mean of each rank's own mean is another number whenever ranks hold different counts. Batches that
        trainer.accumulate_grad_batches puts together are such a mean of means: their counts are not known in advance.
        """
        if not (dist.is_available() and dist.is_initialized()):
            return total / count
        counts = torch.as_tensor(count, dtype=total.dtype, device=total.device).detach().clone()
        dist.all_reduce(counts)
        return total * dist.get_world_size() / counts

    # checkpoints

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        assert self.spec is not None
        checkpoint["zoo"] = {
            "format": 1,
            "task": f"{type(self).__module__}.{type(self).__qualname__}",
            "spec": spec_state(self.spec),
            "encoder_class": f"{type(self.encoder).__module__}.{type(self.encoder).__qualname__}",
            "encoder": self.encoder.state(),
        }

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        if "zoo" not in checkpoint:
            raise CheckpointError("this checkpoint was not written by attention-zoo: it has no spec and no vocabulary")
        if self.spec is not None:
            self._check_data(checkpoint)
            self._check_shapes(checkpoint)
            self.keep_to_the_network(checkpoint["state_dict"])
            optimizers = checkpoint.get("optimizer_states", [])
            if optimizers and self.trainer.state.fn == TrainerFn.FITTING:
                check_groups(optimizers, self.pretrained)

    def _check_data(self, checkpoint: dict[str, Any]) -> None:
        """Raises CheckpointError unless spec, but for its limits, and encoder are those of the checkpoint."""
        assert self.spec is not None
        there, here = spec_state(spec_from_state(checkpoint["zoo"]["spec"])), spec_state(self.spec)
        differing = [
            f"{name} is {there.get(name)} there, {here.get(name)} here"
            for name in {**there, **here}
            if there.get(name) != here.get(name) and name not in self.spec.limits
        ]
        there, here = checkpoint["zoo"]["encoder"], self.encoder.state()
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
                    "of the run that wrote it, and its data: tables of positions are as long as the longest text"
                )

    def keep_to_the_network(self, state: dict[str, Any]) -> None:
        """Takes out of a checkpoint's weights what this task has no place for, and puts in what it has and they lack.
        What an objective remembers is no part of the network: under another objective, or none, it begins anew."""
        own = self.state_dict()
        for name in own.keys() ^ state.keys():
            if not name.startswith("network."):
                state.pop(name, None)
                if name in own:
                    state[name] = own[name]

    def on_train_epoch_start(self) -> None:
        """An optimizer that goes by epochs learns that one begins; a run that is resumed within one does not begin
        it."""
        for optimizer in self.trainer.optimizers:
            getattr(optimizer, "start_epoch", lambda: None)()

    def on_train_batch_start(self, batch: Any, batch_idx: int) -> None:
        """Parts of the network that are frozen for some epochs learn which one it is. Before each batch, since a run
        that is resumed within an epoch, or at the end of one, does not begin it."""
        reach_epoch(self, self.pretrained)

    def on_train_start(self) -> None:
        """A schedule that a checkpoint brought along ends where its own run would have."""
        for config in self.trainer.lr_scheduler_configs:
            planned, steps = getattr(config.scheduler, "total_steps", None), self.trainer.estimated_stepping_batches
            if planned is not None and planned < steps:
                raise ConfigError(
                    f"ckpt_path: the learning rate of that run was planned for {planned} steps, this one takes "
                    f"{steps}: leave trainer.max_epochs and data.loader.batch_size as they were, or begin another run "
                    "from its weights, start_from=PATH"
                )
