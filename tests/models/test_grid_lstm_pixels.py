"""Grid LSTM over pictures: its equations pixel by pixel, and the field of each pixel."""

import pytest
import torch

from tests.models.equations import DOUBLE, EXACT
from tests.models.test_grid_lstm import lstm
from tests.models.test_pixelcnn import COLOURED, built, earlier, field, gradient
from zoo.data.pictures.batch import PictureBatch, PictureSpec, by_level, scaled
from zoo.models.grid_lstm_pixels import GridLSTMPixels

WIDE = PictureSpec(channels=1, height=4, width=9, levels=3)
SIZES = {"hidden_dim": 4, "head_dim": 6, "first_kernel": 3}


def literal(network, image):
    """Scores of one picture of one colour (1, 1, H, W), pixel by pixel."""
    values, d = scaled(image, network.levels, network.first.weight), network.width
    below = dict(enumerate(network.first(values)[0].flatten(1).t()))
    below = {divmod(place, image.shape[3]): tuple(x.chunk(2)) for place, x in below.items()}
    zeros = image.new_zeros(d, dtype=DOUBLE)
    nothing = zeros, zeros
    for layer, block in enumerate(network.grid):
        sides, after = {}, {}
        for row, column in sorted(below, key=lambda place: (place[0], place[1] * (-1) ** layer)):
            near = sides.get((row - 1, column)), sides.get((row, column - (-1) ** layer))
            start = [pair[k] if pair else nothing for k, pair in enumerate(near)]
            h = [start[0][0], start[1][0], below[row, column][0]]
            own = network.own.weight @ values[0, :, row, column] if layer == 1 else image.new_zeros(8 * d)
            weight = block.others.weight.view(4, 2, d, -1)
            bias = (block.others.bias + own).view(4, 2, d)
            sides[row, column] = [
                lstm(weight[:, k].reshape(4 * d, -1), bias[:, k].flatten(), h, start[k][1]) for k in range(2)
            ]
        for row, column in below:
            read = sides.get((row - layer % 2, column), (nothing, nothing))
            h, m = below[row, column]
            after[row, column] = lstm(block.priority.weight, block.priority.bias, [read[0][0], read[1][0], h], m)
        below = after
    h = torch.stack([below[place][0] for place in sorted(below)], 1).view(1, d, *image.shape[2:])
    return by_level(network.head(h), 1)


@pytest.mark.parametrize("layers", [1, 4])
def test_scores_are_the_equations_pixel_by_pixel(layers):
    network = built(GridLSTMPixels, WIDE, num_layers=layers, **SIZES)
    image = torch.randint(0, 3, (1, 1, 4, 9))
    found, expected = network(PictureBatch(image)).logits, literal(network, image)
    torch.testing.assert_close(found, expected, **EXACT)


@pytest.mark.parametrize("row", [0, 2, 3])
@pytest.mark.parametrize("column", [0, 4, 8])
def test_fields_are_exact(row, column):
    """Two layers see every pixel before. One sees, of the rows above, as far as k // 2 columns to the right."""
    every = earlier(WIDE, row, column)
    assert field(built(GridLSTMPixels, WIDE, num_layers=2, **SIZES), WIDE, row, column) == every
    one = field(built(GridLSTMPixels, WIDE, num_layers=1, **SIZES), WIDE, row, column)
    assert one == {(down, right) for down, right in every if right <= (1 if down else -1)}


@pytest.mark.parametrize("tied", [True, False])
def test_colours_see_those_before_them(tied):
    network = built(GridLSTMPixels, COLOURED, hidden_dim=6, head_dim=24, num_layers=3, tied=tied)
    for colour in range(3):
        seen = gradient(network, COLOURED, 2, 2, colour)
        assert [bool(part) for part in seen[:, 2, 2]] == [other < colour for other in range(3)]
        later = [(y, x) for y in range(4) for x in range(4) if (y, x) > (2, 2)]
        assert not any(seen[:, y, x].any() for y, x in later)
        assert all(seen[:, y, x].all() for y in range(4) for x in range(4) if (y, x) < (2, 2))
