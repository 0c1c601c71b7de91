"""State of a run besides weights and optimisers: what a network carries from batch to batch, and a task's own."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch.distributed as dist
from lightning import LightningModule
from lightning.pytorch.trainer.states import TrainerFn
from torch import Tensor
from torch.utils._pytree import tree_map_only

from zoo.errors import CheckpointError
from zoo.models.output import Output

TRAINING, EVALUATION, EXAMPLES = "training", "evaluation", "examples"


def from_all_ranks(value: Any) -> list[Any]:
    """The `value` of every process, in the order of their ranks. Every process has to call it."""
    if not (dist.is_available() and dist.is_initialized()):
        return [value]
    values: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(values, value)
    return values


class Remembering(LightningModule):
    """Keeps the state of each process between batches, and stores it in checkpoints, once per process.

    A network of a stream, one with `carries = True`, takes the state that the batch before left as its second argument
    and returns a new one as `Output.carried`. `read` does both. Training starts each epoch without a state. So does a
    validation or a test, which leaves the state of training alone.
    """

    network: Any

    def __init__(self) -> None:
        super().__init__()
        self._carried: dict[str, Any] = {}
        self._continued = False
        self._restored: list[dict[str, Any]] | None = None
        self.began_with: Any = None  # The state that the last `read` started from, to compute the same examples again

    # between batches

    def read(self, batch: Any, **options: Any) -> Output:
        """Run the network on the next batch of a stream, from the state that the batch before left. The batch may have
        fewer rows than the one before: its rows continue the first ones. Without a trainer nothing is carried. The
        network gets the `options`."""
        if not getattr(self.network, "carries", False):
            return self.network(batch, **options)
        place = self._place()
        before = None if place is None else self._carried.get(place)
        self.began_with = tree_map_only(Tensor, lambda part: part[: len(batch)], before)
        output: Output = self.network(batch, self.began_with, **options)
        if place is not None:
            self._carried[place] = tree_map_only(Tensor, Tensor.detach, output.carried)
        return output

    def _place(self) -> str | None:
        if self._continued:
            return EXAMPLES
        if self._trainer is None:
            return None
        return TRAINING if self.trainer.training else EVALUATION

    @contextmanager
    def continuing(self, carried: Any) -> Iterator[None]:
        """Within this context `read` starts from `carried`, and leaves the states of training and evaluation alone."""
        began_with = self.began_with
        self._carried[EXAMPLES], self._continued = carried, True
        try:
            yield
        finally:
            self.began_with, self._continued = began_with, False
            del self._carried[EXAMPLES]

    def on_train_epoch_start(self) -> None:
        """A new epoch starts without a carried state. A run that is resumed within an epoch does not come here."""
        super().on_train_epoch_start()
        self._carried.pop(TRAINING, None)

    def on_train_epoch_end(self) -> None:
        super().on_train_epoch_end()
        if self.trainer.is_last_batch:  # else max_steps ended the run within an epoch, and a longer run goes on there
            self._carried.pop(TRAINING, None)

    def on_validation_start(self) -> None:
        super().on_validation_start()
        self._carried.pop(EVALUATION, None)

    def on_test_start(self) -> None:
        super().on_test_start()
        self._carried.pop(EVALUATION, None)

    def on_predict_start(self) -> None:
        super().on_predict_start()
        self._carried.pop(EVALUATION, None)

    # in checkpoints

    def remembered(self) -> dict[str, Any]:
        """State of this process that a resumed run has to continue from, as tensors and plain data by name.

        A checkpoint holds it once per process. A task with more to remember adds to `super().remembered()`, and leaves
        out what the end of an epoch makes superfluous: a run with another number of processes can then resume there.
        """
        carried = self._carried.get(TRAINING)
        return {} if carried is None else {"carried": carried}

    def remember(self, state: Mapping[str, Any]) -> None:
        """Continue from what `remembered` returned on this process; tensors are on the device of the task. It is called
        before the first step of a resumed run."""
        if "carried" in state:
            self._carried[TRAINING] = state["carried"]

    def ranks_state(self) -> list[dict[str, Any]]:
        """The remembered state of each process, by rank, on the CPU. Every process has to call it."""
        return from_all_ranks(tree_map_only(Tensor, lambda part: part.detach().cpu().clone(), self.remembered()))

    def restore_ranks(self, checkpoint: Mapping[str, Any]) -> None:
        """Note what the processes of an interrupted run remembered, until the training starts."""
        if self._trainer is not None and self._trainer.state.fn == TrainerFn.FITTING:
            self._restored = checkpoint["zoo"].get("remembered")

    def on_train_start(self) -> None:
        super().on_train_start()
        ranks, self._restored = self._restored, None
        if not ranks or not any(ranks):
            return
        if len(ranks) != self.trainer.world_size:
            names = ", ".join(dict.fromkeys(name for state in ranks for name in state))
            raise CheckpointError(
                f"ckpt_path: the checkpoint was written within an epoch and holds the state of {len(ranks)} processes "
                f"({names}), and this run has {self.trainer.world_size}: use trainer.devices={len(ranks)}, or resume "
                "from a checkpoint at the end of an epoch"
            )
        self.remember(tree_map_only(Tensor, lambda part: part.to(self.device), ranks[self.trainer.global_rank]))
