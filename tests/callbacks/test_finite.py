"""A loss that is not finite stops the run and names step, examples and the last good checkpoint."""

from types import SimpleNamespace

import pytest
import torch

from zoo.callbacks import NonFiniteLoss, StopOnNonFiniteLoss


def trainer(folder, step=7):
    return SimpleNamespace(
        global_step=step, current_epoch=1, world_size=1, log_every_n_steps=10, default_root_dir=folder
    )


def batch(*index):
    return SimpleNamespace(index=torch.tensor(index))


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_names_the_step_the_examples_and_the_checkpoint(tmp_path, loss):
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "last.ckpt").write_text("")
    callback = StopOnNonFiniteLoss()
    callback.on_train_batch_end(trainer(tmp_path), None, {"loss": torch.tensor(1.0)}, batch(1, 2), 0)
    with pytest.raises(NonFiniteLoss, match=r"step 7 \(epoch 1, training examples \[3, 4\]\).*last\.ckpt") as caught:
        callback.on_train_batch_end(trainer(tmp_path), None, {"loss": torch.tensor(loss)}, batch(3, 4), 1)
    assert str(loss) in str(caught.value)


@pytest.mark.parametrize("hook", [("on_save_checkpoint", {}), ("on_validation_start",)])
def test_unseen_bad_losses_are_looked_at_before_a_checkpoint_and_before_validation(tmp_path, hook):
    """On a GPU, where a look at each loss would hold up the next step."""
    callback = StopOnNonFiniteLoss()
    callback._unseen = [
        (3, 0, torch.tensor([5]), torch.tensor(1.0)),
        (4, 0, torch.tensor([6]), torch.tensor(float("nan"))),
    ]
    with pytest.raises(NonFiniteLoss, match=r"step 4 .*\[6\].*none yet"):
        getattr(callback, hook[0])(trainer(tmp_path), None, *hook[1:])
