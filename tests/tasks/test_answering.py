"""The answering task: its metrics by hand, its losses, its steps, and the restart that it keeps."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from lightning import Callback, LightningModule, Trainer

from tests.families.answering import FAMILY
from tests.tasks.running import loader, trainer
from zoo.callbacks import StepMetrics
from zoo.data.stories.batch import StoryBatch
from zoo.data.stories.story import Shown
from zoo.models.output import Output
from zoo.tasks.answering import Answering

MODEL = {"_target_": "zoo.models.memn2n.MemN2N", "embedding_dim": 6, "time_noise": 0.0}
SGD = {"_target_": "torch.optim.SGD", "lr": 0.01}


class Words:
    """As much of an encoder as the task asks for."""

    class vocabulary:
        words = tuple(f"w{number}" for number in range(FAMILY.spec.vocabulary_size))

    @staticmethod
    def knows(word: str) -> bool:
        return word in Words.vocabulary.words

    @staticmethod
    def state() -> dict[str, Any]:
        return {}


def task(cls: type[Answering] = Answering, **arguments: Any) -> Answering:
    torch.manual_seed(0)
    made = cls(**{"model": MODEL, "optimizer": SGD, "monitor": "val/error", "mode": "min", **arguments})
    made.build(FAMILY.spec, Words())
    made.prepare_training()
    return made


def fitted(made: Answering, batches: list[StoryBatch], folder: Path, **arguments: Any) -> Trainer:
    found = trainer(folder, **arguments)
    found.fit(made, loader(*batches), loader(*batches))
    return found


def test_metrics_by_hand(tmp_path: Path) -> None:
    """Five answers of two tasks, three of them wrong."""
    made, batch = task(), FAMILY.batch(1, empty=False)
    logits = F.one_hot(batch.answer, FAMILY.spec.vocabulary_size).float() * 20
    wrong = torch.tensor([True, False, True, False, True])
    logits[wrong] = logits[wrong].roll(1, 1)
    batch = StoryBatch(
        batch.words,
        batch.word_mask,
        batch.question,
        batch.question_mask,
        batch.answer,
        task=torch.tensor([0, 0, 0, 1, 1]),
        supporting=torch.zeros_like(batch.sentence_mask).index_fill(1, torch.tensor([0]), True),
    )
    weights = [torch.full(batch.sentence_mask.shape, share) * batch.sentence_mask for share in (0.1, 0.3)]
    made.forward = lambda _: Output(logits, {"hop.0": weights[0], "hop.1": weights[1]})  # type: ignore[method-assign]
    (found,) = trainer(tmp_path).test(made, loader(batch), verbose=False)
    assert found["test/error_where"] == pytest.approx(2 / 3) and found["test/error_who"] == pytest.approx(1 / 2)
    assert found["test/error"] == pytest.approx((2 / 3 + 1 / 2) / 2) and found["test/failed_tasks"] == 2
    assert found["test/attention_recall_hop_0"] == pytest.approx(0.1)
    assert found["test/attention_recall_hop_1"] == pytest.approx(0.3)
    assert found["test/attention_recall"] == pytest.approx(0.2)
    shares = 1 / batch.sentence_mask.sum(1)
    assert found["test/attention_chance"] == pytest.approx(float(shares.mean()))


def test_the_steps_of_each_task_and_side(tmp_path: Path) -> None:
    """Five questions of two tasks; a sentence takes 1, 2, ... steps by its number, and a question 4."""
    model = {"_target_": "zoo.models.universal_transformer.UniversalTransformerEncoder", "hidden_dim": 8, "heads": 2}
    made, batch = task(model=model), replace(FAMILY.batch(1, empty=False), task=torch.tensor([0, 0, 0, 1, 1]))
    sentence = (torch.arange(batch.sentence_mask.shape[1]) + 1) * batch.sentence_mask
    steps = {"question": torch.full((5, 1), 4), "sentence": sentence}
    logits = torch.zeros(5, FAMILY.spec.vocabulary_size)
    made.forward = lambda _: Output(logits, steps=steps)  # type: ignore[method-assign]
    (found,) = trainer(tmp_path).test(made, loader(batch), verbose=False)
    lengths = batch.sentence_mask.sum(1).tolist()  # 3, 2, 4, 1 and 3 sentences
    sums = [sum(range(1, length + 1)) for length in lengths]
    assert found["test/steps_question"] == 4
    assert found["test/steps_sentence"] == pytest.approx(sum(sums) / sum(lengths))
    for name, rows in (("where", range(3)), ("who", range(3, 5))):
        expected = sum(sums[row] + 4 for row in rows) / sum(lengths[row] + 1 for row in rows)
        assert found[f"test/steps_{name}"] == pytest.approx(expected)


@pytest.mark.parametrize("restarts", [1, 3])
def test_the_loss_is_a_mean_or_a_sum(tmp_path: Path, restarts: int) -> None:
    """A step of the sum at a rate is one of the mean at as many times the rate as there are examples; restarts do not
    meet in it."""
    batch, weights = FAMILY.batch(1), []
    for loss, rate in (("sum", 0.01), ("mean", 0.01 * len(batch))):
        made = task(loss=loss, optimizer={**SGD, "lr": rate}, restarts=restarts)
        fitted(made, [batch], tmp_path, max_epochs=1, limit_val_batches=0)
        weights.append([p.detach().clone() for p in made.parameters()])
    for one, other in zip(*weights, strict=True):
        torch.testing.assert_close(one, other)


class ReadsTheLoss(Callback):
    """Reads the metrics at the end of an epoch, as progress does: they are computed then, and not again."""

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        assert "train/loss" in trainer.progress_bar_metrics


@pytest.mark.parametrize(("steps", "counted"), [(-1, 13), (4, 4)])
@pytest.mark.parametrize("callbacks", [[], [ReadsTheLoss()]])
def test_the_training_loss_is_that_of_all_steps(
    tmp_path: Path, callbacks: list[Callback], steps: int, counted: int
) -> None:
    """Thirteen batches of a network that does not learn, or the first four: the mean over their examples."""
    made = task(optimizer={**SGD, "lr": 0.0}, restarts=2)
    batches = [FAMILY.batch(seed, empty=seed % 3 == 0) for seed in range(13)]
    assert made.restarts is not None
    losses = [
        F.cross_entropy(made.restarts(batch).logits.flatten(0, 1), batch.answer.repeat(2), reduction="none")
        for batch in batches
    ]
    options = {"max_epochs": 2, "max_steps": steps, "limit_val_batches": 0, "callbacks": callbacks}
    fit = fitted(made, batches, tmp_path, **options)
    torch.testing.assert_close(fit.callback_metrics["train/loss"], torch.cat(losses[:counted]).mean().detach())


def test_padding_stays_zero_though_its_gradient_is_clipped(tmp_path: Path) -> None:
    seen: list[torch.Tensor] = []

    class Watched(Answering):
        def optimizer_step(self, *arguments: Any, **more: Any) -> None:
            super().optimizer_step(*arguments, **more)
            seen.append(self.network.tables.grad.clone())  # type: ignore[union-attr]
            assert (self.network.tables[:, 0] == 0).all()  # type: ignore[union-attr]

    made = task(Watched, loss="sum", clip="matrix", optimizer={**SGD, "momentum": 0.9})
    fitted(made, [FAMILY.batch(seed) for seed in range(4)], tmp_path, max_epochs=1, gradient_clip_val=0.5)
    gradients = torch.cat(seen)
    assert len(seen) == 4 and (gradients[:, 0] != 0).any()
    norms = torch.linalg.matrix_norm(gradients, 2)
    assert (norms <= 0.5 * 1.001).all() and (norms > 0.49).any()


@pytest.mark.parametrize("options", [{}, {"loss": "sum"}, {"restarts": 2}, {"restarts": 2, "loss": "sum"}])
def test_the_loss_of_a_step_is_that_of_an_example(tmp_path: Path, options: dict[str, Any]) -> None:
    """With one step per epoch it is the loss of the epoch, whatever is summed for the gradient."""
    made = task(**options)
    run = fitted(made, [FAMILY.batch(1)], tmp_path, max_epochs=1, callbacks=[StepMetrics()], log_every_n_steps=1)
    found = run.callback_metrics
    assert found["train/loss_step"].item() == pytest.approx(found["train/loss"].item(), rel=1e-5)


def test_linear_start_ends_after_its_epochs(tmp_path: Path) -> None:
    seen = []

    class Watched(Answering):
        def training_step(self, batch: StoryBatch, batch_idx: int) -> torch.Tensor:
            seen.append(self.network.linear)  # type: ignore[union-attr]
            return super().training_step(batch, batch_idx)

    made = task(Watched, linear_start=2, loss="sum", clip="matrix")
    fitted(made, [FAMILY.batch(1)], tmp_path, max_epochs=4, gradient_clip_val=1.0)
    assert seen == [True, True, False, False]


def test_the_restart_with_the_lowest_training_error_is_kept(tmp_path: Path) -> None:
    wrong: list[list[torch.Tensor]] = []

    class Watched(Answering):
        def training_step(self, batch: StoryBatch, batch_idx: int) -> torch.Tensor:
            if batch_idx == 0:
                wrong.append([])
            assert self.restarts is not None
            with torch.no_grad():
                wrong[-1].append(self.restarts(batch).logits.argmax(-1) != batch.answer)
            return super().training_step(batch, batch_idx)

    made = task(Watched, restarts=3, loss="sum", optimizer={**SGD, "lr": 0.05})
    assert made.restarts is not None and made.network is not None
    batches = [FAMILY.batch(seed, empty=False) for seed in range(3)]
    fit = fitted(made, batches, tmp_path, max_epochs=8, limit_val_batches=0)
    errors = made.restarts.errors
    torch.testing.assert_close(errors, torch.cat(wrong[-1], 1).float().mean(1))  # of the last epoch alone
    assert len(set(errors.tolist())) > 1  # else there is nothing to choose
    kept = made.restarts.stacked["tables"][int(errors.argmin())]
    assert torch.equal(made.network.tables, kept)
    assert not any(parameter.requires_grad for parameter in made.network.parameters())
    (found,) = fit.test(made, loader(*batches), verbose=False)
    alone = [found[f"test/restart_{number}/error"] for number in range(3)]
    assert found["test/error"] == alone[int(errors.argmin())]
    assert found["test/restarts_median_error"] == pytest.approx(sorted(alone)[1])
    for number in range(3):
        assert found[f"test/restart_{number}/train_error"] == pytest.approx(float(errors[number]))


def test_restarts_are_not_called_frozen(caplog: pytest.LogCaptureFixture) -> None:
    made = Answering(model=MODEL, optimizer=SGD, monitor="val/error", mode="min", restarts=3)
    data = SimpleNamespace(spec=FAMILY.spec, encoder=Words(), vectors=lambda: None)
    made._trainer = SimpleNamespace(datamodule=data)  # type: ignore[assignment]
    with caplog.at_level("INFO"):
        made.configure_model()
    assert "parameters" in caplog.text and "frozen" not in caplog.text
    assert "task.restarts=3: 3 such networks are trained side by side, and the best is kept" in caplog.text


def test_a_checkpoint_predicts_with_the_kept_one_alone(tmp_path: Path) -> None:
    made = task(restarts=2)
    state = made.state_dict()
    alone = task(restarts=1)
    alone.keep_to_the_network(state)
    alone.load_state_dict(state)
    batch = FAMILY.batch(1)
    assert torch.equal(alone(batch).logits, made.eval()(batch).logits)


def test_predictions() -> None:
    made, batch = task(), FAMILY.batch(1)
    stories = [zip(*story, strict=True) for story in zip(batch.words, batch.word_mask, strict=True)]
    sentences = [[[f"w{n}" for n in words[mask].tolist()] for words, mask in one if mask.any()] for one in stories]
    shown = [Shown(story, ["w3", "Xyz"]) for story in sentences]
    made.eval()
    with torch.no_grad():
        found, output = made.predictions(batch, shown), made(batch)
    for row, prediction in enumerate(found[:-1]):  # of the empty one all answers are equally likely
        probabilities = output.logits[row, 2:].softmax(0)  # padding and unknown words cannot be answers
        assert prediction.answer == f"w{int(probabilities.argmax()) + 2}" == next(iter(prediction.alternatives))
        assert prediction.probability == pytest.approx(float(probabilities.max()))
        assert len(prediction.alternatives) == 5 and len(prediction.hops) == 3
        assert all(len(hop) == len(prediction.sentences) for hop in prediction.hops)
        assert prediction.unknown == ("Xyz",) and prediction.question == "w3 Xyz"
    assert found[-1].sentences == () and found[-1].hops == ((), (), ())
