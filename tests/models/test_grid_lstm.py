"""Grid LSTM: parameter counts, the wavefront against loops over cells written from the equations, and causality."""

from dataclasses import replace

import pytest
import torch

from tests.families import family_of
from tests.models.equations import DOUBLE, EXACT, sigmoid
from zoo.data.language.batch import LanguageSpec, StreamBatch
from zoo.data.pictures.batch import PictureSpec
from zoo.layers.grid_lstm import GridBlock, GridSequences, GridStack, Plane, States
from zoo.layers.loops.grid_lstm import RiseLoop, ScanLoop, Wave, rise_by_cells, scan_by_lines
from zoo.layers.packing import Packing
from zoo.models.grid_lstm import GridLSTM
from zoo.models.grid_lstm_lm import GridLSTMLanguageModel
from zoo.models.grid_lstm_sequence import GridLSTMSequence

PAIRS = family_of("translation")
SMALL = PictureSpec(channels=1, height=5, width=6, levels=3)


def numbers(module):
    return sum(parameter.numel() for parameter in module.parameters())


def lstm(weight, bias, inputs, m):
    """One LSTM of a block, from the paper's equations: the gates of H, m' = f m + i g, h' = tanh(o m')."""
    o, i, f, g = (weight @ torch.cat(inputs) + bias).chunk(4)
    m = sigmoid(f) * m + sigmoid(i) * g.tanh()
    return (sigmoid(o) * m).tanh(), m


def block_of(module, h, m):
    """All (h', m') of a block of N dimensions, the last in priority, from h and m, a list of N vectors each."""
    d, sides = module.width, module.sides
    weight, bias = module.others.weight.view(4, sides, d, -1), module.others.bias.view(4, sides, d)
    found = [lstm(weight[:, k].reshape(4 * d, -1), bias[:, k].flatten(), h, m[k]) for k in range(sides)]
    own = lstm(module.priority.weight, module.priority.bias, [*(new for new, _ in found), h[-1]], m[-1])
    return [*found, own]


@pytest.mark.parametrize(("dimensions", "width", "count"), [(2, 1000, 16_008_000), (3, 450, 7_295_400)])
def test_a_block_has_the_papers_number_of_weights(dimensions, width, count):
    with torch.device("meta"):
        assert numbers(GridBlock(width, dimensions)) == count == 4 * dimensions**2 * width**2 + 4 * dimensions * width


def exact(build):
    torch.manual_seed(0)
    return build().to(DOUBLE).eval()


def equal_gradients(found, expected, inputs):
    weights = [torch.randn_like(part) for part in found]
    gradients = [
        torch.autograd.grad(sum((part * w).sum() for part, w in zip(parts, weights, strict=True)), inputs)
        for parts in (found, expected)
    ]
    for own, true in zip(*gradients, strict=True):
        torch.testing.assert_close(own, true, **EXACT)


WAVES = {
    "plane": lambda: Plane(torch.tensor([4, 1, 2]), torch.tensor([3, 5, 1]), (4, 5), sides=False, beside=False).wave,
    "plane with sides": lambda: Plane(torch.tensor([3, 2]), torch.tensor([1, 4]), (3, 4), sides=True, beside=True).wave,
    "a column": lambda: Plane(torch.tensor([3, 3]), None, (3, 1), sides=False, beside=True).wave,
    "sequences": lambda: Wave.sequences([4, 3, 3, 1], torch.device("cpu")),
}


@pytest.mark.parametrize("name", WAVES)
def test_the_loop_is_its_readable_form(name):
    torch.manual_seed(0)
    wave = WAVES[name]()
    count, width = sum(wave.sizes), 3 * wave.dimensions
    shapes = [(count, 5), (4 * width, width + 5), (4 * width,), (wave.begins, 3), (wave.begins, 3)]
    inputs = [torch.randn(shape, dtype=DOUBLE, requires_grad=bool(shape[0])) for shape in shapes]
    found, expected = ScanLoop(wave)(*inputs), scan_by_lines(wave, *inputs)
    for own, true in zip(found, expected, strict=True):
        torch.testing.assert_close(own, true, **EXACT)
    equal_gradients(found, expected, [one for one in inputs if one.requires_grad])


def test_the_loop_along_depth_is_its_readable_form():
    torch.manual_seed(0)
    shapes = [(7, 6), (7, 3), (7, 3), (12, 9), (12,)]
    inputs = [torch.randn(shape, dtype=DOUBLE, requires_grad=True) for shape in shapes]
    found, expected = RiseLoop()(*inputs), rise_by_cells(*inputs)
    for own, true in zip(found, expected, strict=True):
        torch.testing.assert_close(own, true, **EXACT)
    equal_gradients(found, expected, inputs)


def literal_sequences(stack, x):
    """The h of the top layer (T, d) of one sequence, block by block, from x (T, 2 d)."""
    nothing = x.new_zeros(x.shape[1] // 2)
    time, found = [(nothing, nothing)] * stack.layers, []
    for entering in x:
        h, m = entering.chunk(2)
        for layer, module in enumerate(stack):
            time[layer], (h, m) = block_of(module, [time[layer][0], h], [time[layer][1], m])
        found.append(h)
    return torch.stack(found)


@pytest.mark.parametrize("tied", [True, False])
def test_sequences_are_their_equations(tied):
    stack = exact(lambda: GridSequences(4, 3, tied=tied))
    mask = torch.tensor([[1, 1, 1], [1, 0, 0], [0, 0, 0], [1, 1, 1]]).bool()
    packing = Packing.of(mask)
    x = torch.randn(4, 3, 8, dtype=DOUBLE)
    found = packing.unpack(stack(packing, States.of(packing.pack(x)), None)[0])
    for row in (0, 1, 3):
        length = int(mask[row].sum())
        torch.testing.assert_close(found[row, :length], literal_sequences(stack, x[row, :length]), **EXACT)


def literal_scores(network, source, target):
    """Scores (T, V) of one pair (ids, without padding), cell by cell."""
    a = network.source_entry(network.source_embedding(source)).chunk(2, 1)
    b = network.target_entry(network.target_embedding(target)).chunk(2, 1)
    nothing, last, height, width = torch.zeros_like(a[0][0]), {}, len(source), len(target)
    below = {
        (i, j): (nothing, nothing) if network.sides else (a[0][i] + b[0][j], a[1][i] + b[1][j])
        for i in range(height)
        for j in range(width)
    }
    for layer, module in enumerate(network.grid):
        states, after = {}, {}
        words = range(height) if layer % 2 == 0 else range(height - 1, -1, -1)
        for j in range(width):
            before = (b[0][j], b[1][j]) if network.sides else (nothing, nothing)
            for i in words:
                beside = (a[0][i], a[1][i]) if network.sides and not j else states.get((i, j - 1), (nothing, nothing))
                h, m = zip(before, beside, below[i, j], strict=True)
                before, states[i, j], after[i, j] = block_of(module, h, m)
                last[j] = after[i, j][0]
        below = after
    return network.vocabulary(torch.stack([last[j] for j in range(width)]))


@pytest.mark.parametrize("arguments", [{}, {"inputs": "sides"}, {"num_layers": 3, "tied": True}])
def test_the_wavefront_is_a_loop_over_cells(arguments):
    """In scores and in gradients, with unequal lengths in a batch and layers that scan in both directions."""
    network = exact(lambda: GridLSTM(PAIRS.spec, **{"embedding_dim": 3, "hidden_dim": 4, "num_layers": 2} | arguments))
    batch = PAIRS.batch(1, empty=False)
    scores = PAIRS.scores(network(batch), batch)
    found, expected = [], []
    for row in range(len(batch)):
        source, target = (int(mask[row].sum()) for mask in (batch.source_mask, batch.target_mask))
        found.append(scores[row, :target])
        expected.append(literal_scores(network, batch.source[row, :source], batch.target_input[row, :target]))
        torch.testing.assert_close(found[-1], expected[-1], **EXACT)
    equal_gradients(found, expected, list(network.parameters()))


def test_the_plane_of_a_device_without_lengths_gives_the_same(monkeypatch):
    """Padding has cells there, which no real cell reads."""
    network = exact(lambda: GridLSTM(PAIRS.spec, embedding_dim=3, hidden_dim=4, num_layers=3, inputs="sides"))
    batch = PAIRS.batch(1)
    expected = network(batch).logits
    monkeypatch.setattr("zoo.layers.grid_lstm.waits_for_lengths", lambda device: True)
    torch.testing.assert_close(network(batch).logits, expected, **EXACT)


@pytest.mark.parametrize("cls", [GridLSTM, GridLSTMSequence])
def test_a_target_word_leaves_the_scores_before_it_alone(cls):
    network = exact(lambda: cls(PAIRS.spec, embedding_dim=3, hidden_dim=4, num_layers=2, tied=True))
    batch = PAIRS.batch(1, empty=False)
    before = PAIRS.scores(network(batch), batch)
    for place in range(1, batch.target_input.shape[1]):
        read = batch.target_input.clone()
        read[:, place] = 4 + (read[:, place] + 1) % 20
        after = PAIRS.scores(network(replace(batch, target_input=read)), batch)
        assert torch.equal(after[:, :place], before[:, :place])
        rows = batch.target_mask[:, place]
        assert (after[rows, place] != before[rows, place]).any(1).all()


@pytest.mark.parametrize("cls", [GridLSTM, GridLSTMSequence])
def test_tied_weights_fit_any_number_of_layers(cls):
    """Two layers and six have the same weights, and four more layers of the same block change the scores."""
    sizes = {"embedding_dim": 3, "hidden_dim": 4}
    networks = [exact(lambda n=n: cls(PAIRS.spec, **sizes, num_layers=n, tied=True)) for n in (2, 6)]
    assert numbers(networks[0]) == numbers(networks[1])
    networks[1].load_state_dict(networks[0].state_dict())
    for one, other in zip(networks[0].parameters(), networks[1].parameters(), strict=True):
        assert torch.equal(one, other)
    batch = PAIRS.batch(1)
    two, six = (network(batch).logits for network in networks)
    assert not torch.allclose(two, six)
    untied = [cls(PAIRS.spec, **sizes, num_layers=n, tied=False) for n in (2, 6)]
    dimensions = untied[0].grid.blocks[0].sides + 1
    assert numbers(untied[1]) - numbers(untied[0]) == 4 * (4 * dimensions**2 * 16 + 4 * dimensions * 4)


def test_memory_has_a_linear_path_along_depth():
    """With gates that forget nothing and let nothing in, the m that enters below leaves a stack unchanged, and h is
    its tanh: both h and m go up."""
    stack = exact(lambda: GridStack(3, 3, 4, tied=True))
    wave = WAVES["plane"]()
    for parameter in stack.parameters():
        torch.nn.init.zeros_(parameter)
    for linear, width in ((stack.blocks[0].others, 6), (stack.blocks[0].priority, 3)):
        linear.bias.data.copy_(torch.tensor([1.0, -1.0, 1.0, 0.0]).repeat_interleave(width) * 1000)  # o, i, f, g
    below = States.of(torch.randn(sum(wave.sizes), 6, dtype=DOUBLE))
    found = below
    for block in stack:
        found, _ = block(wave, found)
    torch.testing.assert_close(found.m, below.m, **EXACT)
    torch.testing.assert_close(found.h, below.m.tanh(), **EXACT)


def test_a_language_model_is_its_equations():
    network = exact(
        lambda: GridLSTMLanguageModel(LanguageSpec(vocabulary_size=7), embedding_dim=3, hidden_dim=4, num_layers=2)
    )
    batch = StreamBatch.of_texts([[1, 4, 2, 6, 3]])
    x = network.entry(network.embedding(batch.target_input[0]))
    expected = network.vocabulary(literal_sequences(network.grid, x))
    torch.testing.assert_close(network(batch).logits, expected, **EXACT)
