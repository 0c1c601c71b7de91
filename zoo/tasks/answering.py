"""Questions about stories to answers, and whether each hop of attention found the supporting facts."""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Unpack

import torch
import torch.nn.functional as F
from lightning.pytorch.trainer.states import TrainerFn
from torch import Tensor, nn
from torchmetrics import Metric

from zoo.arguments import Count, Natural
from zoo.data.stories.batch import StoryBatch
from zoo.dotted import built
from zoo.errors import ConfigError
from zoo.metrics import AttentionRecall
from zoo.metrics.ratios import GroupMeans, TaskErrors, failed_tasks, mean_error
from zoo.models.output import Output
from zoo.precision import precise
from zoo.predicting.answering import AnsweringPredictions
from zoo.tasks.clipping import clip_matrices
from zoo.tasks.restarts import Restarts
from zoo.tasks.scoring import Scoring
from zoo.tasks.task import TaskArguments, computed

log = logging.getLogger(__name__)

LOSS_EVERY = 10
HOP, STEPS = "attention_recall_hop_", "steps"


class Answering(AnsweringPredictions, Scoring):
    """Any network that serves `answering`: `logits` (B, V) of the vocabulary, and attention `hop.0`, `hop.1`, ... to
    the sentences (B, S) where it has any.

    `restarts` networks are trained side by side. The one with the lowest training error is validated, tested and
    stored; the test also gives the figures of the others. `loss` is the mean or the sum over a batch. The bound
    trainer.gradient_clip_val holds for the norm of `all` gradients, or for each `matrix`, as `clip` chooses. For the
    first `linear_start` epochs the memory has no softmax, if the network allows it.
    """

    headline: tuple[str, ...] = ("error", "failed_tasks", "attention_recall")
    counts = ("failed_tasks",)
    monitors: ClassVar = {"loss": "min", "error": "min", "failed_tasks": "min", "attention_recall": "max"}

    def __init__(
        self,
        *,
        restarts: Count = 1,
        loss: Literal["mean", "sum"] = "mean",
        clip: Literal["all", "matrix"] = "all",
        linear_start: Natural = 0,
        **rest: Unpack[TaskArguments],
    ) -> None:
        super().__init__(**rest)
        self.save_hyperparameters()
        self.reduction, self.clip, self.linear_start = loss, clip, linear_start
        self.restarts: Restarts | None = None
        self._loss: Tensor | float = 0.0
        self._examples = 0

    @classmethod
    def check(cls, cfg: Any, model: Any) -> None:
        if cfg.task.linear_start and not hasattr(model, "linear"):
            raise ConfigError(
                f"task.linear_start={cfg.task.linear_start}: {model.__name__} does not support linear start: "
                "use task.linear_start=0 or model=memn2n"
            )
        if cfg.task.restarts > 1 and getattr(model, "adapts", False):
            raise ConfigError(
                f"task.restarts={cfg.task.restarts}: {model.__name__} decides by its weights how many steps it takes, "
                "and several cannot be trained side by side: use task.restarts=1 and several seeds"
            )
        if cfg.task.restarts > 1 and cfg.start_from:
            raise ConfigError(
                f"task.restarts={cfg.task.restarts}: all restarts would begin with the weights of start_from="
                f"{cfg.start_from}: remove one of the two keys"
            )
        if cfg.task.restarts > 1 and "averaging" in (cfg.callbacks or {}):
            raise ConfigError(
                f"task.restarts={cfg.task.restarts} with callbacks=averaging: an average over steps would mix "
                "the weights of different restarts: remove one of the two"
            )

    # building

    def metrics(self) -> dict[str, Metric]:
        return {
            **super().metrics(),
            "errors": TaskErrors(len(self.spec.tasks)),
            "attention_recall": AttentionRecall(),
            "attention_chance": AttentionRecall(),
        }

    def prepare_training(self) -> None:
        count = self.hparams["restarts"]
        if count == 1:
            return
        model, spec = self.hparams["model"], self.spec
        self.restarts = Restarts(self.network, lambda: built(model, nn.Module, spec), count)
        self.restart_errors = TaskErrors(len(spec.tasks), (count,))
        log.info("task.restarts=%d: %d such networks are trained side by side, and the best is kept", count, count)
        self.network.requires_grad_(False)  # it receives the weights of the best restart

    def weights(self) -> list[nn.Module]:
        return [*super().weights(), *([] if self.restarts is None else [self.restarts.stacked])]

    # training

    def on_train_epoch_start(self) -> None:
        super().on_train_epoch_start()
        if self.linear_start:
            self.network.linear = self.current_epoch < self.linear_start

    def training_step(self, batch: StoryBatch, batch_idx: int) -> Tensor:
        assert batch.answer is not None
        size, networks = len(batch), 1 if self.restarts is None else len(self.restarts)
        output: Output = (self.network if self.restarts is None else self.restarts)(batch)
        total, own = self.total_loss(output, batch), self.own_losses(output, size)
        if self.restarts is not None:
            self.restarts.count((output.logits.detach().argmax(-1) != batch.answer).sum(1), size)
        self._record_loss(total.detach() + size * own.detach(), size * networks, batch_idx)
        own = self.shared(own, size)
        if self.reduction == "sum":
            return total * self.trainer.world_size + own  # DDP gives the mean over the ranks
        return self.global_mean(total, size) + own

    def step_loss(self, loss: Tensor, batch: Any) -> Tensor:
        """The loss of an example of one network: `training_step` returns a sum over restarts, and perhaps examples."""
        examples = len(batch) * self.trainer.world_size if self.reduction == "sum" else 1
        return loss / (examples * (1 if self.restarts is None else len(self.restarts)))

    def total_loss(self, output: Output, batch: StoryBatch) -> Tensor:
        """The sum over examples, and over restarts where `logits` are (R, B, V)."""
        assert batch.answer is not None
        logits = precise(output.logits)
        answer = batch.answer.expand(logits.shape[:-1])
        return F.cross_entropy(logits.flatten(0, -2), answer.flatten(), reduction="sum")

    def _record_loss(self, total: Tensor, count: int, batch_idx: int) -> None:
        """Log the mean loss of an example every few steps: each step would cost noticeably more."""
        self._loss, self._examples = self._loss + total, self._examples + count
        if batch_idx % LOSS_EVERY == 0:
            self._count_loss()
            self.log("train/loss", self.train_loss, on_step=False, on_epoch=True, prog_bar=True, batch_size=count)

    def on_train_batch_end(self, outputs: Any, batch: StoryBatch, batch_idx: int) -> None:
        """Count the last steps of an epoch before anything reads its loss."""
        super().on_train_batch_end(outputs, batch, batch_idx)
        if self.trainer.is_last_batch or 0 < self.trainer.max_steps <= self.global_step:
            self._count_loss()

    def _count_loss(self) -> None:
        if self._examples:
            self.train_loss.update(self._loss / self._examples, self._examples)
            self._loss, self._examples = 0.0, 0

    def configure_gradient_clipping(
        self, optimizer: Any, gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None
    ) -> None:
        if self.clip == "matrix" and gradient_clip_val:
            self.gradient_norms[1] = clip_matrices(self.parameters(), gradient_clip_val)
        else:
            super().configure_gradient_clipping(optimizer, gradient_clip_val, gradient_clip_algorithm)

    def optimizer_step(self, *args: Any, **kwargs: Any) -> None:
        """Step as Lightning does, and set the rows of padding to zero again."""
        super().optimizer_step(*args, **kwargs)
        for name in getattr(self.network, "zero_rows", ()):
            table = getattr(self.network, name) if self.restarts is None else self.restarts.stacked.get(name)
            if table is not None:
                table.data[..., 0, :] = 0

    def _keep_best(self) -> None:
        """Copy the weights of the restart with the fewest training errors of this epoch into the network."""
        if self.restarts is not None:
            self.restarts.settle()
            if (best := self.restarts.best) is not None:
                self.restarts.put(best)

    def on_validation_start(self) -> None:
        super().on_validation_start()
        if self.trainer.state.fn == TrainerFn.FITTING and not self.trainer.sanity_checking:
            self._keep_best()

    def on_train_epoch_end(self) -> None:
        super().on_train_epoch_end()
        self._count_loss()  # of a run that was stopped between
        self._keep_best()
        if self.restarts is not None:
            self.restarts.begin()

    def remembered(self) -> dict[str, Any]:
        """The answers that this process has counted in the current epoch, to choose the best restart by."""
        if self.restarts is None or not self.restarts.counts.any():
            return super().remembered()
        return super().remembered() | {"counts": self.restarts.counts}

    def remember(self, state: Mapping[str, Any]) -> None:
        super().remember(state)
        if self.restarts is not None and "counts" in state:
            self.restarts.counts = state["counts"]

    # evaluation

    def test_step(self, batch: StoryBatch, batch_idx: int) -> None:
        super().test_step(batch, batch_idx)
        if self.restarts is not None:
            self.restart_errors.update(self.restarts(batch).logits.argmax(-1) != batch.answer, batch.task)

    def score(self, stage: str, batch: StoryBatch, output: Output) -> None:
        metrics = self.metrics_of(stage)
        metrics["errors"].update(output.logits.argmax(-1) != batch.answer, batch.task)
        self.record_steps(stage, output)
        if stage == "test" and len(getattr(self.network, "ponders", ())):
            steps = torch.cat([*output.steps.values()], 1)  # (B, 1 + S)
            if STEPS not in metrics:
                metrics[STEPS] = GroupMeans(len(self.spec.tasks)).to(self.device)
            metrics[STEPS].update(steps[steps > 0], batch.task[:, None].expand_as(steps)[steps > 0])
        hops = list(output.attention.values())
        if batch.supporting is not None and hops:
            mean = torch.stack(hops).mean(0)
            self.record_recall(stage, "attention", mean, batch.supporting, batch.sentence_mask)
            for name, weights in output.attention.items():
                recall = f"{HOP}{name.removeprefix('hop.')}"
                if recall not in metrics:  # the number of hops is known from the first batch
                    metrics[recall] = AttentionRecall().to(self.device)
                metrics[recall].update(weights, batch.supporting)

    def on_validation_epoch_end(self) -> None:
        self._errors("val")

    def on_test_epoch_end(self) -> None:
        errors = self._errors("test")
        self.log_groups({"error": errors}, self.spec.tasks)
        if STEPS in self.test_metrics:
            self.log_groups({STEPS: computed(self.test_metrics[STEPS])}, self.spec.tasks)
        if self.restarts is not None:
            self._errors_of_restarts(self.restarts)

    def _errors(self, stage: str) -> Tensor:
        """(T,) the error of each task; logs their mean, how many failed, and the recall of each hop."""
        errors: Tensor = computed(self.metrics_of(stage)["errors"])
        self.log(f"{stage}/error", mean_error(errors), prog_bar=stage == "val")
        self.log(f"{stage}/failed_tasks", failed_tasks(errors))
        for name, recall in self.metrics_of(stage).items():
            if name.startswith(HOP):
                self.log_defined({f"{stage}/{name}": computed(recall)})
        return errors

    def _errors_of_restarts(self, restarts: Restarts) -> None:
        errors: Tensor = computed(self.restart_errors)  # (R, T)
        mean, failed, train = mean_error(errors), failed_tasks(errors), restarts.errors
        self.log("test/restarts_median_error", mean.quantile(0.5))
        for number in range(len(restarts)):
            figures = {"error": mean[number], "failed_tasks": failed[number], "train_error": train[number]}
            self.log_defined({f"test/restart_{number}/{name}": figure for name, figure in figures.items()})
