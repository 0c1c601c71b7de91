"""trainer.precision=bf16-true and 64-true: the weights themselves are of that kind, the metrics count as ever."""

import pytest
import torch

import zoo
from tests.run.programs import SHORT, TINY_PAIRS, launch, result
from zoo.layers.init import orthogonal_
from zoo.layers.recurrent import LSTM

RUNS = {
    ("bf16-true", torch.bfloat16): ([*SHORT, "model.dropout=0.1"], "The food was not good.", "accuracy"),
    ("64-true", torch.float64): (
        [*TINY_PAIRS, "callbacks=none", "trainer.max_epochs=2", "model.init_range=null"],
        "ein mann .",
        "exact_match",
    ),
}


@pytest.mark.parametrize(("precision", "dtype"), RUNS)
def test_trains_tests_and_loads(precision, dtype, tmp_path):
    words, text, counted = RUNS[precision, dtype]
    assert launch([*words, f"trainer.precision={precision}", "hydra.run.dir=run"], tmp_path) == 0
    facts = result(tmp_path / "run")
    right = facts["metrics"][f"test/{counted}"] * facts["sizes"]["test"]
    assert right == pytest.approx(round(right), abs=1e-4)  # a mean in bfloat16 would be none of 37
    assert 0 < facts["metrics"]["test/loss"] < 10
    checkpoint = torch.load(facts["checkpoint"], weights_only=True)
    weights = {name: value for name, value in checkpoint["state_dict"].items() if name.startswith("network.")}
    assert {value.dtype for value in weights.values()} == {dtype}
    (prediction,) = zoo.load(facts["checkpoint"])([text])
    shares = list(prediction.probabilities.values()) if counted == "accuracy" else prediction.best.attention[0]
    assert sum(shares) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(("precision", "dtype"), [("bf16-true", torch.float32), ("64-true", torch.float64)])
def test_an_average_is_never_less_exact_than_the_weights(precision, dtype, tmp_path):
    words = [*SHORT, "callbacks=[none,averaging]", f"trainer.precision={precision}", "hydra.run.dir=run"]
    assert launch(words, tmp_path) == 0
    saved = torch.load(tmp_path / "run/checkpoints/last.ckpt", weights_only=True)["state_dict"]
    assert {value.dtype for name, value in saved.items() if name.startswith("network.")} == {dtype}


def test_the_weights_of_all_restarts_are_of_that_kind(tmp_path):
    """They are what is trained; the network itself only receives those of the best restart."""
    sizes = [f"data.sample.{split}=60" for split in ("train", "val", "test")]
    words = [
        "model=memn2n",
        "data=babi",
        *sizes,
        "task.restarts=2",
        "trainer.max_epochs=1",
        "trainer.precision=bf16-true",
    ]
    assert launch([*words, "hydra.run.dir=run"], tmp_path) == 0
    saved = torch.load(tmp_path / "run/checkpoints/last.ckpt", weights_only=True)["state_dict"]
    trained = {name: value.dtype for name, value in saved.items() if "stacked" in name}
    assert trained and set(trained.values()) == {torch.bfloat16}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_an_orthogonal_start_in_half_precision(dtype):
    rnn = LSTM(3, 8).to(dtype)
    orthogonal_(rnn)
    for matrix in rnn.weight_hh_l0.detach().float().split(8):
        torch.testing.assert_close(matrix @ matrix.T, torch.eye(8), rtol=0, atol=0.02)
