"""Listen, attend and spell against loops over one utterance at a time, and what its sizes follow from."""

import pytest
import torch
from omegaconf import OmegaConf
from torch import nn
from torch.nn import functional as F

from tests.families import family_of
from zoo.data.audio.batch import AudioSpec
from zoo.errors import ConfigError
from zoo.layers.state import MemoryPositions
from zoo.models.las import LAS
from zoo.models.listen_spell import ListenSpell
from zoo.run.arguments import check_arguments

FAMILY = family_of("transcription")
SIZES = {"hidden_dim": 5, "embedding_dim": 4, "decoder_dim": 6, "attention_dim": 7}
WAYS = [
    {"pyramids": 2},
    {"pyramids": 0, "decoder_layers": 1, "smoothing": True},
    {"pyramids": 1, "location": [3, 5]},
    {"pyramids": 2, "location": [2, 3], "smoothing": True, "decoder_layers": 1},
]


def torch_lstm(lstm):
    """torch's own LSTM with the same weights, for one sequence (T, D)."""
    made = nn.LSTM(lstm.input_size, lstm.hidden_size, lstm.num_layers, bidirectional=lstm.bidirectional).double()
    made.load_state_dict(lstm.state_dict())
    return made


def alone(network, frames, letters):
    """Log-probabilities and weights of one utterance: `frames` (S, F), `letters` the tokens read, begin first."""
    h = torch_lstm(network.listener.layers[0])(frames)[0]
    for layer in list(network.listener.layers)[1:]:
        pairs = [torch.cat([h[t], h[t + 1] if t + 1 < len(h) else torch.zeros_like(h[t])]) for t in range(0, len(h), 2)]
        h = torch_lstm(layer)(torch.stack(pairs))[0]
    speller, state = torch_lstm(network.speller), None
    context, before = torch.zeros_like(h[0]), torch.zeros(len(h), dtype=torch.float64)
    found, seen = [], []
    for letter in letters:
        y = network.embedding.weight[letter]
        s, state = speller(torch.cat([y, context])[None], state)
        s = s[0]
        energies = []
        for u, heard in enumerate(h):
            if network.location is None:
                phi, psi = network.query(s).tanh(), (network.key.weight @ heard + network.key.bias).tanh()
                energies.append(phi @ psi)
            else:
                kernel = network.location.weight[:, 0]  # (filters, width)
                reach = kernel.shape[1]
                first = u - (reach - 1) // 2
                near = sum(
                    kernel[:, k] * before[first + k] for k in range(reach) if 0 <= first + k < len(h)
                ) + torch.zeros(len(kernel), dtype=torch.float64)
                inner = network.query(s) + network.key.weight @ heard + network.of_location.weight @ near
                energies.append(network.v @ inner.tanh())
        energies = torch.stack(energies)
        weights = energies.sigmoid() / energies.sigmoid().sum() if network.smoothing else energies.softmax(0)
        context, before = weights @ h, weights
        read = network.readout(torch.cat([s, context])).tanh()
        found.append(network.vocabulary(read).log_softmax(0))
        seen.append(weights)
    return torch.stack(found), torch.stack(seen)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_batch_equals_loops_over_each_utterance(way):
    torch.manual_seed(3)
    network = LAS(FAMILY.spec, **SIZES, **way).double().eval()
    batch = FAMILY.batch(1, empty=False).cast(torch.float64)
    read, mask, packing = batch.forced
    with torch.no_grad():
        output = network(batch)
        log_probs = packing.unpack(output.logits.log_softmax(-1))
        for row in range(len(batch)):
            expected, weights = alone(network, batch.frames[row][batch.frame_mask[row]], read[row][mask[row]])
            torch.testing.assert_close(log_probs[row][mask[row]], expected, rtol=1e-12, atol=1e-13)
            found = output.attention["source"][row][mask[row]]
            torch.testing.assert_close(found[:, : weights.shape[1]], weights, rtol=1e-12, atol=1e-13)
            assert not found[:, weights.shape[1] :].any()


def test_each_pyramid_halves_the_length_and_rounds_up():
    network = LAS(FAMILY.spec, **SIZES, pyramids=3)
    batch = FAMILY.batch(1)
    positions = network.start(batch).memories["source"]
    lengths = batch.frame_mask.sum(1)
    for _ in range(3):
        lengths = (lengths + 1) // 2
    assert torch.equal(positions.mask.sum(1), lengths) and positions.joins == 8
    assert torch.equal(positions.length, lengths)


def test_the_listener_has_the_parameters_of_the_paper():
    network = LAS(AudioSpec(features=40, target_size=30, longest_target=10, hop=0.01))
    assert sum(part.numel() for part in network.listener.parameters()) == 8_486_912


def test_ctc_is_the_sum_over_all_paths():
    """One letter in two positions: letter letter, letter blank, blank letter."""
    torch.manual_seed(1)
    network = LAS(FAMILY.spec, **SIZES, pyramids=1, ctc=0.5).double().train()
    batch = FAMILY.of_sizes([(4, 2)], 1).cast(torch.float64)
    h, _ = network._listen(batch)
    p, letter, blank = network.ctc.letters(h).softmax(-1), batch.target[0, 0], FAMILY.spec.padding
    paths = p[0, letter] * p[1, letter] + p[0, letter] * p[1, blank] + p[0, blank] * p[1, letter]
    torch.testing.assert_close(network(batch).losses["ctc"], -0.5 * paths.log())
    assert not network.eval()(batch).losses
    empty = FAMILY.of_sizes([(4, 1), (1, 9)], 1).cast(torch.float64)  # no letter, and more letters than positions
    assert network.train()(empty).losses["ctc"].isfinite()


def test_an_alignment_is_grouped_as_the_memory():
    mask = torch.tensor([[True, True], [True, False]])
    alignment = torch.zeros(2, 1, 7, dtype=torch.bool)
    alignment[0, 0, 4], alignment[1, 0, 3] = True, True
    grouped = MemoryPositions.of(mask, joins=4).grouped(alignment)
    assert grouped.tolist() == [[[False, True]], [[True, False]]]
    assert MemoryPositions.of(mask).grouped(alignment) is None
    assert torch.equal(MemoryPositions.of(F.pad(mask, (0, 5)), joins=1).grouped(alignment), alignment)


def test_the_speller_without_attention_reads_the_last_states_before_each_letter():
    """Against torch's LSTMs, one utterance at a time."""
    torch.manual_seed(3)
    sizes = {name: size for name, size in SIZES.items() if name != "attention_dim"}
    network = ListenSpell(FAMILY.spec, **sizes, pyramids=1).double().eval()
    batch = FAMILY.batch(1, empty=False).cast(torch.float64)
    read, mask, packing = batch.forced
    with torch.no_grad():
        log_probs = packing.unpack(network(batch).logits.log_softmax(-1))
        for row in range(len(batch)):
            frames = batch.frames[row][batch.frame_mask[row]]
            h = torch_lstm(network.listener.layers[0])(frames)[0]
            pairs = F.pad(h, (0, 0, 0, len(h) % 2)).reshape(-1, 2 * h.shape[1])
            _, (last, _) = torch_lstm(network.listener.layers[1])(pairs)
            v = last.flatten()
            first = network.first(v).tanh().view(2, network.speller.num_layers, -1)
            y = network.embedding.weight[read[row][mask[row]]]
            s, _ = torch_lstm(network.speller)(torch.cat([y, v.expand(len(y), -1)], 1), (first[0], first[1]))
            torch.testing.assert_close(log_probs[row][mask[row]], network.vocabulary(s).log_softmax(1))


@pytest.mark.parametrize("location", [[3, 4], [3], [0, 5], 5])
def test_a_window_over_the_weights_before_has_a_middle(location):
    node = OmegaConf.create({"_target_": "zoo.models.las.LAS", "location": location})
    with pytest.raises(
        ConfigError, match=r"model\.location=.*expected a list \[filters,width\] .* with an odd width or null"
    ):
        check_arguments(node, "model", given=("spec",))
    node.location = [3, 5]
    check_arguments(node, "model", given=("spec",))
