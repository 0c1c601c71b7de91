"""The task algorithmic: its loss and metrics by hand, when it counts as converged, what it says of a sequence."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.data.bits.goals import KINDS, stream
from tests.families.algorithmic import FAMILY
from tests.tasks.running import loader, trainer
from zoo.data.bits.dynamic_ngrams import Ngrams
from zoo.data.bits.repeat_copy import RepeatCopies
from zoo.data.bits.stream import BitStream
from zoo.models.output import Output
from zoo.tasks.algorithmic import Algorithmic, cross_entropy

RECURRENT = {"_target_": "zoo.models.StackedLSTM", "hidden_dim": 8, "num_layers": 1}
UNDECIDED = {"_target_": "tests.tasks.bits.Undecided"}
SGD = {"_target_": "torch.optim.SGD", "lr": 0.1}
CHOOSE = {"monitor": "val/bits_per_sequence", "mode": "min"}


def task(data: BitStream, model: dict[str, Any] = UNDECIDED, **arguments: Any) -> Algorithmic:
    torch.manual_seed(0)
    made = Algorithmic(**{"model": model, "optimizer": SGD, **CHOOSE, **arguments})
    made.build(data.spec, data.encoder)
    return made


def scores(made: Algorithmic, data: BitStream, folder: Path) -> dict[str, float]:
    (found,) = trainer(folder).test(made, data.test_dataloader(), verbose=False)
    return dict(found)


@pytest.mark.parametrize("kind", KINDS)
def test_chance_costs_a_bit_for_each_scored_bit(kind: type[BitStream], tmp_path: Path) -> None:
    """A network that never decides needs as many bits as there are, of each part of the test."""
    data = stream(kind)
    found = scores(task(data), data, tmp_path)
    expected = []
    for group, name in enumerate(data.spec.groups):
        (one,) = {
            int(batch.scored[row].sum()) * data.spec.out_width
            for batch in data.test_dataloader()
            for row in range(len(batch))
            if batch.group[row] == group
        }
        expected.append(one)
        if len(data.spec.groups) > 1:
            assert found[f"test/bits_per_sequence_{name}"] == pytest.approx(one)
    assert found["test/bits_per_sequence"] == pytest.approx(np.mean(expected))
    assert found["test/loss"] == pytest.approx(np.mean(expected) * math.log(2))
    assert ("test/bits_above_optimum" in found) == (kind is Ngrams)
    assert "test/sequences_to_converge" not in found


def test_metrics_by_hand(tmp_path: Path) -> None:
    """Two parts: in one of two sequences of the first a bit is wrong, in the second part two. A bit costs 2 bits where
    its chance is 1/4."""
    data = stream(test_lengths=[1, 2], bits=2, sample={"test": 2}, batch_size=4)
    (batch,) = data.test_dataloader()
    assert batch.targets is not None
    sure = torch.where(batch.targets > 0, 1.0, -1.0) * math.log(3)  # 3/4 for the truth
    wrong = torch.zeros_like(sure, dtype=torch.bool)
    one, other, *_ = torch.cat([torch.where(batch.group == 0)[0], torch.where(batch.group == 1)[0][:1]])[
        [0, 2]
    ].tolist()
    wrong[one, 2, 0] = wrong[other, 3:5, 1] = True
    made = task(data)
    said = torch.where(wrong, -sure, sure) + 100 * ~batch.scored[..., None]
    made.forward = lambda _: Output(said)  # type: ignore[method-assign]
    (found,) = trainer(tmp_path).test(made, loader(batch), verbose=False)
    right = math.log2(4 / 3)
    bits = (2 * right + right + 2) / 2, (4 * right + 2 * right + 4) / 2
    for name, values in {"bits_per_sequence": bits, "error_bits": (0.5, 1), "exact": (0.5, 0.5)}.items():
        assert found[f"test/{name}_length1"] == pytest.approx(values[0])
        assert found[f"test/{name}_length2"] == pytest.approx(values[1])
        assert found[f"test/{name}"] == pytest.approx(sum(values) / 2)


def test_the_optimum_counts_in_what_can_be_foretold(tmp_path: Path) -> None:
    data = stream(Ngrams, sample={"test": 50})
    found = scores(task(data), data, tmp_path)
    optimal = np.mean([bits for batch in data.test_dataloader() for bits in batch.optimal_bits.tolist()])
    assert found["test/optimal_bits"] == pytest.approx(optimal)
    assert found["test/bits_above_optimum"] == pytest.approx(200 - optimal)


def test_the_loss_is_the_sum_over_the_bits_of_a_sequence() -> None:
    """Only the scored bits count, whatever the other logits are, and in float32 for a network in half precision."""
    batch = FAMILY.batch(1)
    assert batch.targets is not None
    logits = torch.randn(batch.targets.shape, generator=torch.Generator().manual_seed(1))
    found = cross_entropy(logits, batch)
    for row in range(len(batch)):
        expected = 0.0
        for step in torch.where(batch.scored[row])[0].tolist():
            for score, bit in zip(logits[row, step].tolist(), batch.targets[row, step].tolist(), strict=True):
                expected -= math.log(1 / (1 + math.exp(-score if bit else score)))
        assert found[row].item() == pytest.approx(expected, rel=1e-5)
    elsewhere = torch.where(batch.scored[..., None], logits, 1e4)
    assert torch.equal(cross_entropy(elsewhere, batch), found)
    assert cross_entropy(logits.bfloat16(), batch).dtype == torch.float32


def test_a_network_learns_to_copy_short_sequences(tmp_path: Path) -> None:
    """And its test says how many sequences that took: as many as were trained when a validation was first below."""
    data = stream(length=1, bits=2, test_lengths=[1], sample={"train": 320, "val": 20}, batch_size=32)
    adam = {"_target_": "torch.optim.Adam", "lr": 0.05}
    made = task(data, RECURRENT, optimizer=adam, converged=0.5)
    seen: list[tuple[float, float]] = []

    class Watch(Algorithmic):
        def on_validation_epoch_end(self) -> None:
            super().on_validation_epoch_end()
            if not self.trainer.sanity_checking:
                metrics = self.trainer.callback_metrics
                seen.append((float(metrics["val/sequences"]), float(metrics["val/bits_per_sequence"])))

    made.__class__ = Watch
    trainer(tmp_path, max_epochs=20, val_check_interval=5).fit(made, datamodule=data)
    assert [sequences for sequences, _ in seen] == [160.0 * number for number in range(1, len(seen) + 1)]
    first = next(sequences for sequences, bits in seen if bits < 0.5)
    assert made.converged_at == first and first > 160
    found = scores(made, data, tmp_path)
    assert found["test/sequences_to_converge"] == first and found["test/error_bits"] == 0


def test_what_a_run_has_seen_is_not_lost_with_an_older_checkpoint(tmp_path: Path) -> None:
    data = stream()
    made = task(data)
    fitted = trainer(tmp_path, max_epochs=1)
    fitted.fit(made, datamodule=data)
    for seen in (None, 24):
        made.converged_at = seen
        fitted.save_checkpoint(tmp_path / f"{seen}.ckpt")
    for name, expected in (("None", 24), ("24", 24)):  # with 24 seen by now
        fitted.test(made, datamodule=data, ckpt_path=tmp_path / f"{name}.ckpt", verbose=False, weights_only=True)
        assert fitted.callback_metrics["test/sequences_to_converge"] == expected
    again = task(data)
    fitted.test(again, datamodule=data, ckpt_path=tmp_path / "24.ckpt", verbose=False, weights_only=True)
    assert again.converged_at == 24


def test_where_the_optimum_is_known_convergence_is_near_it(tmp_path: Path) -> None:
    """For 40 bits the network needs up to 39 bits more than the optimum, but not as few."""
    data = stream(Ngrams, length=40)
    for within, expected in ((39.0, 24), (1e-6, None)):
        made = task(data, optimizer={**SGD, "lr": 0.0}, converged=within)
        trainer(tmp_path, max_epochs=1).fit(made, datamodule=data)
        assert made.converged_at == expected


def test_what_is_said_of_typed_sequences() -> None:
    """Everything is written as 1: of `10 01` two bits are wrong."""
    data = stream(bits=2)
    made = task(data, {**UNDECIDED, "bias": math.log(3), "trace": True}).eval()
    lines = ["10 01", "11"]
    with torch.inference_mode():
        two, one = made.predictions(data.encoder(lines), [data.encoder.display(line) for line in lines])
    assert (two.given, two.written, two.truth) == ("10 01", ("11", "11"), ("10", "01"))
    assert two.error_bits == 2 and one.error_bits == 0
    np.testing.assert_array_equal(two.wrong, [[False, True], [True, False]])
    np.testing.assert_allclose(two.probabilities, np.full((2, 2), 0.75), rtol=1e-6)
    assert {name: part.shape for name, part in one.memory.items()} == {
        "read": (1, 3, 5), "write": (1, 3, 5), "erase": (1, 3, 2), "add": (1, 3, 2), "memory": (5, 2)
    }  # fmt: skip
    told = one.to_dict()
    assert (told["given"], told["written"], told["truth"], told["error_bits"]) == ("11", "11", "11", 0)
    assert told["read"][0][1] == [0, 1, 0, 0, 0] and "memory" not in told


def test_a_network_without_a_memory_and_one_that_does_not_tell() -> None:
    data = stream(bits=2)
    for model, kinds in ((RECURRENT, set()), (UNDECIDED, {"read", "write"})):
        made = task(data, model).eval()
        (found,) = made.predictions(data.encoder(["10"]), [data.encoder.display("10")])
        assert set(found.memory) == kinds


@pytest.mark.parametrize("kind", KINDS)
def test_examples_of_a_split(kind: type[BitStream]) -> None:
    """An example gives the same prediction as its typed line. An example without targets has no truth."""
    data = stream(kind)
    made = task(data).eval()
    batch = next(iter(data.val_dataloader()))
    examined = made.examine(batch)
    assert [one.index for one in examined] == batch.index.tolist()
    for one in examined:
        again = data.encoder.display(one.prediction.given)
        np.testing.assert_allclose(one.prediction.inputs, again.inputs, atol=1e-4)
        assert one.truth == data.goal.written(again.targets[again.scored])
    blind = made.examine(replace(batch, targets=None))
    assert {one.truth for one in blind} == {None} and blind[0].prediction.error_bits is None


def test_the_groups_are_of_the_test_alone(tmp_path: Path) -> None:
    """The validation, of one mixture of sizes, has no parts, though it has a number of groups."""
    data = stream(RepeatCopies)
    (found,) = trainer(tmp_path).validate(task(data), data.val_dataloader(), verbose=False)
    assert set(found) == {f"val/{name}" for name in ("bits_per_sequence", "error_bits", "exact", "loss")}
