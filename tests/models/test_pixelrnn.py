"""PixelRNN: its LSTMs as loops over pixels, their receptive fields, the order of colours, and sampling by pixels."""

from functools import partial

import pytest
import torch

from tests.models.equations import DOUBLE, EXACT, sigmoid
from tests.models.test_pixelcnn import DIGITS, built, earlier, field, gradient
from zoo.data.pictures.batch import PictureBatch, PictureSpec
from zoo.errors import ConfigError
from zoo.layers.loops.diagonal import LineLoop, Lines, by_lines
from zoo.models.pixelrnn import DiagonalBiLSTM, PixelRNN, RowLSTM

LSTMS = ("row", "diagonal")
TALL = PictureSpec(channels=1, height=9, width=8, levels=3)
COLOURED = PictureSpec(channels=3, height=4, width=5, levels=4)
SIZES = [(5, 7), (7, 4), (4, 4), (1, 3), (3, 1), (1, 1)]


def recurrence(layer, direction, x, seen, near, own=None):
    """Equation 3, pixel by pixel: the states h at all places from x, a dict of (row, column) -> features.

    `seen` are the columns of K_is, counted from the pixel, and `near` the neighbours of K_ss, counted in the same way.
    c comes from the second one. Places of x are visited in order. `own` is what a pixel itself adds to the sums.
    """
    convolution, u = layer.input_to_state[direction], layer.state_to_state[direction].weight
    kernel = convolution.weight * convolution.mask
    hidden, cells = {}, {}
    for row, column in x:
        sums = convolution.bias + (own[row, column] if own else 0)
        for shift in seen:
            if (row, column + shift) in x:
                sums = sums + kernel[:, :, 0, kernel.shape[3] - 1 + shift] @ x[row, column + shift]
        zeros = torch.zeros(u.shape[0] // 4, dtype=DOUBLE)
        places = [(row + down, column + right) for down, right in near]
        sums = sums + u @ torch.cat([hidden.get(place, zeros) for place in places])
        o, f, i, g = sums.chunk(4)
        c = sigmoid(f) * cells.get(places[1], zeros) + sigmoid(i) * g.tanh()
        hidden[row, column], cells[row, column] = sigmoid(o) * c.tanh(), c
    return hidden


def literal(layer, features, picture):
    """(2h, H, W), a layer with its residual connection, from features of this shape and a picture (C, H, W)."""
    _, height, width = features.shape
    x = {(row, column): features[:, row, column] for row in range(height) for column in range(width)}
    if isinstance(layer, RowLSTM):
        hidden = recurrence(layer, 0, x, (-1, 0), [(-1, -1), (-1, 0), (-1, 1)])
    else:
        hidden = recurrence(layer, 0, x, (0,), [(-1, 0), (0, -1)])
        from_the_right = {place: x[place] for place in sorted(x, key=lambda place: (place[0], -place[1]))}
        own = layer.own and {place: layer.own.weight[:, :, 0, 0] @ picture[:, place[0], place[1]] for place in x}
        mirrored = recurrence(layer, 1, from_the_right, (0,), [(-1, 0), (0, 1)], own)
        hidden = {(row, column): h + mirrored.get((row - 1, column), 0) for (row, column), h in hidden.items()}
    kernel = (layer.outward.weight * layer.outward.mask)[:, :, 0, 0]
    found = {place: x[place] + kernel @ h + layer.outward.bias for place, h in hidden.items()}
    return torch.stack([found[place] for place in x], 1).unflatten(1, (height, width))


@pytest.mark.parametrize("colours", [1, 3])
@pytest.mark.parametrize("size", [(4, 6), (6, 3)])
@pytest.mark.parametrize("layer", [RowLSTM, partial(DiagonalBiLSTM, first=True), partial(DiagonalBiLSTM, first=False)])
def test_a_layer_is_its_equations(layer, size, colours):
    torch.manual_seed(0)
    layer = layer(3, colours).to(DOUBLE)
    x = torch.randn(2, 6, *size, dtype=DOUBLE, requires_grad=True)
    picture = torch.randn(2, colours, *size, dtype=DOUBLE)
    lines = (Lines.rows if isinstance(layer, RowLSTM) else Lines.diagonals)(*size, x.device)
    found = lines.leave(layer(lines.enter(x), lines.enter(picture), lines))
    expected = torch.stack([literal(layer, *pair) for pair in zip(x, picture, strict=True)])
    torch.testing.assert_close(found, expected, **EXACT)
    weights = torch.randn_like(found)
    inputs = [x, *layer.parameters()]
    gradients = [torch.autograd.grad((y * weights).sum(), inputs) for y in (found, expected)]
    for own, true in zip(*gradients, strict=True):
        torch.testing.assert_close(own, true, **EXACT)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("lines", [Lines.rows, Lines.diagonals])
def test_the_loop_is_its_readable_form(lines, size):
    """In value and gradient, also where a line has one pixel and where all lines are one pixel."""
    torch.manual_seed(0)
    order = lines(*size, torch.device("cpu"))
    directions, neighbours = len(order.inward), len(order.near[0])
    shapes = [(5, size[0] * size[1], 3), (directions, 8, 5), (directions, 8), (directions, 8, 2 * neighbours)]
    inputs = [torch.randn(shape, dtype=DOUBLE, requires_grad=True) for shape in shapes]
    found, expected = LineLoop(order)(*inputs), by_lines(order, *inputs)
    torch.testing.assert_close(found, expected, **EXACT)
    weights = torch.randn_like(found)
    gradients = [torch.autograd.grad((y * weights).sum(), inputs) for y in (found, expected)]
    for own, true in zip(*gradients, strict=True):
        torch.testing.assert_close(own, true, **EXACT)


def triangle(network, spec, row, column):
    """The places before one that rows of LSTMs see. A state reaches 1 column to both sides in each row above, the 1 x 3
    of each layer 1 more to the left, and the first layer half its kernel, to the right only in a row above."""
    half, layers = network.first.kernel_size[1] // 2, len(network.layers)
    return {
        (down, right)
        for down, right in earlier(spec, row, column)
        if down - layers - half <= right <= (-down - 1 + half if down else -1)
    }


@pytest.mark.parametrize("row", [0, 4, 8])
@pytest.mark.parametrize("column", [0, 3, 7])
def test_small_fields_are_exact(row, column):
    sizes = {"hidden_dim": 3, "num_layers": 2, "first_kernel": 3, "head_dim": 6}
    network = built(PixelRNN, TALL, lstm="row", **sizes)
    assert field(network, TALL, row, column) == triangle(network, TALL, row, column)
    network = built(PixelRNN, TALL, **sizes | {"num_layers": 1})
    assert field(network, TALL, row, column) == earlier(TALL, row, column)


def test_diagonals_see_every_earlier_pixel_of_a_digit_and_no_later_one():
    network = built(PixelRNN, DIGITS, hidden_dim=4, num_layers=1, head_dim=8)
    found = field(network, DIGITS, 14, 14)
    assert found == earlier(DIGITS, 14, 14) and len(found) == 406


def test_rows_see_a_triangle_of_a_digit():
    """Up to dy + 2 columns to the right, dy rows above, and dy + 3 + 3 to the left: 315 of the 406 pixels before."""
    network = built(PixelRNN, DIGITS, lstm="row", hidden_dim=4, num_layers=3, head_dim=8)
    found = field(network, DIGITS, 14, 14)
    assert found == triangle(network, DIGITS, 14, 14) and len(found) == 315


@pytest.mark.parametrize("lstm", LSTMS)
def test_colours_are_read_in_their_order(lstm):
    """The scores of a colour depend on exactly the colours of the pixel before it, and on no later pixel."""
    network = built(PixelRNN, COLOURED, lstm=lstm, hidden_dim=6, num_layers=2, head_dim=60)
    found = [gradient(network, COLOURED, 2, 1, colour) != 0 for colour in range(3)]
    own = [seen[:, 2, 1].tolist() for seen in found]
    assert own == [[False, False, False], [True, False, False], [True, True, False]]
    assert all(seen[:, :2, 1].all() and not seen[:, 2, 2:].any() and not seen[:, 3:].any() for seen in found)


@pytest.mark.parametrize("lstm", LSTMS)
@pytest.mark.parametrize("spec", [TALL, COLOURED], ids=["grey", "coloured"])
def test_pixel_by_pixel_is_the_whole(lstm, spec):
    network = built(PixelRNN, spec, lstm=lstm, hidden_dim=6, num_layers=3, head_dim=6)
    shape = (2, spec.channels, spec.height, spec.width)
    batch = PictureBatch(torch.randint(0, spec.levels, shape, generator=torch.Generator().manual_seed(1)).byte())
    with torch.no_grad():
        expected, state = network(batch).logits, network.start(batch)
        for place in range(spec.height * spec.width):
            row, column = divmod(place, spec.width)
            for colour in range(spec.channels):
                known = batch.image.clone()
                known.flatten(2)[:, :, place + 1 :] = 0
                known[:, colour:, row, column] = 0
                found = network.step(known, row, column, state)[:, :, colour]
                torch.testing.assert_close(found, expected[:, :, colour, row, column], **EXACT)


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="head_dim=32: pictures of 3 colours need multiples of 3, such as head_dim=33"):
        PixelRNN(COLOURED, hidden_dim=6)
    with pytest.raises(ConfigError, match="first_kernel=4: a kernel needs a centre"):
        PixelRNN(TALL, first_kernel=4)
