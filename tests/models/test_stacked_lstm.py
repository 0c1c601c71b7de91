"""The LSTM baseline against torch's LSTM, and the parameters that the paper gives."""

import pytest
import torch
from torch import nn

from tests.families.algorithmic import FAMILY
from zoo.data.bits.spec import BitSpec
from zoo.models.stacked_lstm import StackedLSTM


def test_it_is_torchs_lstm_sequence_by_sequence() -> None:
    torch.manual_seed(0)
    model, batch = StackedLSTM(FAMILY.spec, hidden_dim=7, num_layers=3).double().eval(), FAMILY.batch(1)
    theirs = nn.LSTM(FAMILY.spec.in_width, 7, 3, batch_first=True).double()
    theirs.load_state_dict(model.lstm.state_dict())
    logits = model(batch).logits
    for row in range(len(batch)):
        inputs = batch.inputs[row, batch.step_mask[row]].double()
        expected = model.output(theirs(inputs[None])[0][0]) if len(inputs) else logits[row, :0]
        torch.testing.assert_close(logits[row, : len(inputs)], expected, rtol=1e-12, atol=1e-12)
        assert not logits[row, len(inputs) :].any()


@pytest.mark.parametrize(
    ("in_width", "out_width", "hidden_dim", "paper", "apart"),
    [
        (9, 8, 256, 1_352_969, 0.03),
        (10, 9, 512, 5_312_007, 0.03),
        (8, 6, 256, 1_344_518, 0.03),
        (1, 1, 128, 331_905, 0.03),
        (10, 8, 128, 384_424, 0.13),
    ],
)
def test_the_size_is_near_the_papers(in_width: int, out_width: int, hidden_dim: int, paper: int, apart: float) -> None:
    """Its table 3 counts what no layout that is known explains; ours, with two biases a gate, is within three percent
    of it, but for sorting, where the paper's has an eighth more."""
    spec = BitSpec(in_width=in_width, out_width=out_width, groups=("all",))
    model = StackedLSTM(spec, hidden_dim=hidden_dim, num_layers=3)
    ours = sum(parameter.numel() for parameter in model.parameters())
    gates = 4 * hidden_dim * (in_width + hidden_dim + 2 * 2 * hidden_dim + 3 * 2)
    assert ours == gates + (hidden_dim + 1) * out_width
    assert ours == pytest.approx(paper, rel=apart)


def test_forget_gates_begin_open() -> None:
    model = StackedLSTM(FAMILY.spec, hidden_dim=4, num_layers=2)
    for layer in range(2):
        total = getattr(model.lstm, f"bias_ih_l{layer}") + getattr(model.lstm, f"bias_hh_l{layer}")
        assert total[4:8].eq(1).all()
