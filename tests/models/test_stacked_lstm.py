"""The LSTM baseline against torch's LSTM, and the parameters that the paper gives."""

import torch
from torch import nn

from tests.families.algorithmic import FAMILY
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


def test_forget_gates_begin_open() -> None:
    model = StackedLSTM(FAMILY.spec, hidden_dim=4, num_layers=2)
    for layer in range(2):
        total = getattr(model.lstm, f"bias_ih_l{layer}") + getattr(model.lstm, f"bias_hh_l{layer}")
        assert total[4:8].eq(1).all()
