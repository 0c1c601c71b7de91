"""PixelCNN and Gated PixelCNN: their receptive fields, their equations as loops, and the order of colours."""

import math

import pytest
import torch
from torch import nn

from tests.models.equations import DOUBLE
from zoo.data.pictures.batch import PictureBatch, PictureSpec
from zoo.errors import ConfigError
from zoo.layers.masked import MaskedConvolution, groups
from zoo.models.gated_pixelcnn import GatedPixelCNN
from zoo.models.pixel_lstm import PixelLSTM
from zoo.models.pixelcnn import PixelCNN
from zoo.predicting.density import surprisal

DIGITS = PictureSpec(channels=1, height=28, width=28, levels=2)
SMALL = PictureSpec(channels=1, height=5, width=6, levels=3, classes=("a", "b"), factors=2)
COLOURED = PictureSpec(channels=3, height=4, width=4, levels=4)


def built(cls, spec, **sizes):
    torch.manual_seed(0)
    return cls(spec, **sizes).to(DOUBLE).eval()


def gradient(network, spec, row, column, colour=0):
    """(C, H, W) the gradient of the scores of one value with respect to the picture, the sum over several pictures,
    since a rectifier may be closed for one of them."""
    torch.manual_seed(1)
    image = (spec.levels - 1) * torch.rand(8, spec.channels, spec.height, spec.width, dtype=DOUBLE)
    image.requires_grad_()
    scores = network(PictureBatch(image)).logits[:, :, colour, row, column]
    (found,) = torch.autograd.grad((scores * torch.arange(1, scores.shape[1] + 1)).sum(), image)
    return found.abs().sum(0)


def field(network, spec, row, column):
    """The pixels, as (down, right) from the pixel itself, on which its scores depend."""
    rows, columns = gradient(network, spec, row, column).abs().sum(0).nonzero(as_tuple=True)
    return {(y - row, x - column) for y, x in zip(rows.tolist(), columns.tolist(), strict=True)}


def earlier(spec, row, column):
    places = ((y, x) for y in range(spec.height) for x in range(spec.width))
    return {(y - row, x - column) for y, x in places if (y, x) < (row, column)}


@pytest.mark.slow
def test_a_stack_of_masked_convolutions_has_a_blind_spot():
    """7 x 7 and 15 times 3 x 3: of the 406 pixels before (14, 14) 351 are seen. A pixel dy rows above is seen up to
    dy + 2 columns to the right, since the first layer reaches 3 there and each other layer 1 per row."""
    network = built(PixelCNN, DIGITS, hidden_dim=4, num_layers=15, head_dim=8)
    found = field(network, DIGITS, 14, 14)
    assert found == {(y, x) for y, x in earlier(DIGITS, 14, 14) if x <= -y + 2}
    assert (len(found), len(earlier(DIGITS, 14, 14))) == (351, 406)


@pytest.mark.slow
def test_two_stacks_see_every_earlier_pixel_and_no_later_one():
    network = built(GatedPixelCNN, DIGITS, hidden_dim=4, num_layers=16, head_dim=8)
    found = field(network, DIGITS, 14, 14)
    assert found == earlier(DIGITS, 14, 14) and len(found) == 406


@pytest.mark.parametrize("row", [0, 3])
@pytest.mark.parametrize("column", [0, 2, 5])
def test_small_fields_are_exact(row, column):
    """One layer of 3 x 3 after a first one of 3 x 3, at the borders too. The rows of the vertical stack reach 1 up in
    each layer, and 1 more where the horizontal stack reads them."""
    gated = built(GatedPixelCNN, SMALL, hidden_dim=8, num_layers=2, first_kernel=3, head_dim=16)
    reached = {(y, x) for y in (-3, -2, -1, 0) for x in range(-2, 3) if (y, x) < (0, 0)}
    assert field(gated, SMALL, row, column) == reached & earlier(SMALL, row, column)
    blind = built(PixelCNN, SMALL, hidden_dim=4, num_layers=1, first_kernel=3, head_dim=4)
    reached = {(y, x) for y, x in reached if y >= -2} - {(-1, 2)}
    assert field(blind, SMALL, row, column) == reached & earlier(SMALL, row, column)


def convolved(layer, x):
    """A convolution as a sum over the pixels of its window, x a dict of (row, column) -> values (I,)."""
    mask = layer.mask if isinstance(layer, MaskedConvolution) else torch.ones_like(layer.weight)
    (rows, columns), left = layer.kernel_size, layer.margin[0]
    found = {}
    for row, column in x:
        total = layer.bias.clone()
        for y in range(rows):
            for k in range(columns):
                place = (row + y - (rows - 1), column + k - left)
                if place in x:
                    total = total + (layer.weight * mask)[:, :, y, k] @ x[place]
        found[row, column] = total
    return found


def gate(v):
    value, opening = v.chunk(2)
    return torch.tanh(value) * (1 / (1 + (-opening).exp()))


def literal(network, image, condition=None):
    """Equations 2 to 4 and figure 2, pixel by pixel: (L, H, W)."""
    size = image.shape[1:]
    places = [(row, column) for row in range(size[0]) for column in range(size[1])]
    x = {place: 2 * image[:, place[0], place[1]].double() / (network.levels - 1) - 1 for place in places}
    above = beside = x
    for number, layer in enumerate(network.layers):
        tall = convolved(layer.vertical, above)
        nothing = torch.zeros_like(tall[0, 0])
        wide = convolved(layer.horizontal, beside)
        after = {}
        for row, column in places:
            linked = layer.link.weight[:, :, 0, 0] @ tall.get((row - 1, column), nothing)
            own = wide[row, column] + linked
            if condition is not None:
                own = own + condition[number][1]
            y = layer.outward.weight[:, :, 0, 0] @ gate(own) + layer.outward.bias
            after[row, column] = y if number == 0 else y + beside[row, column]
        beside = after
        above = {place: gate(v if condition is None else v + condition[number][0]) for place, v in tall.items()}
    _, first, _, second = network.head
    scores = torch.zeros(network.levels, *size, dtype=DOUBLE)
    for place in places:
        h = (first.weight[:, :, 0, 0] @ beside[place].relu() + first.bias).relu()
        scores[:, place[0], place[1]] = second.weight[:, :, 0, 0] @ h + second.bias
    return scores


@pytest.mark.parametrize("condition", ["none", "label", "factors"])
def test_gated_pixelcnn_is_its_equations(condition):
    network = built(GatedPixelCNN, SMALL, hidden_dim=4, num_layers=3, first_kernel=3, head_dim=5, condition=condition)
    image = torch.randint(0, 3, (2, 1, 5, 6), generator=torch.Generator().manual_seed(2)).byte()
    factors = torch.tensor([[0.5, -1.0], [2.0, 0.1]], dtype=DOUBLE)
    batch = PictureBatch(image, torch.tensor([1, 0]), factors)
    found = network(batch).logits[:, :, 0]
    for row in range(2):
        own = None
        if condition != "none":
            table = network.condition.weight
            h = table[batch.label[row]] if condition == "label" else table @ factors[row] + network.condition.bias
            parts = h.chunk(6)
            own = list(zip(parts[::2], parts[1::2], strict=True))
        torch.testing.assert_close(found[row], literal(network, image[row], own), rtol=1e-12, atol=1e-12)


def test_pixelcnn_is_its_figure():
    """A residual block by hand: ReLU, 1 x 1, ReLU, 3 x 3 with mask B, ReLU, 1 x 1."""
    network = built(PixelCNN, SMALL, hidden_dim=3, num_layers=2, first_kernel=5, head_dim=4)
    image = torch.randint(0, 3, (1, 1, 5, 6), generator=torch.Generator().manual_seed(2)).byte()
    places = [(row, column) for row in range(5) for column in range(6)]
    x = convolved(network.first, {place: image[0, :, place[0], place[1]].double() - 1 for place in places})
    for block in network.blocks:
        inner = {place: v.relu() for place, v in convolved(block.inward, {p: v.relu() for p, v in x.items()}).items()}
        middle = {place: v.relu() for place, v in convolved(block.middle, inner).items()}
        x = {place: x[place] + v for place, v in convolved(block.outward, middle).items()}
    _, first, _, second = network.head
    hidden = {place: v.relu() for place, v in convolved(first, {p: v.relu() for p, v in x.items()}).items()}
    expected = convolved(second, hidden)
    found = network(PictureBatch(image)).logits[0, :, 0]
    for row, column in places:
        torch.testing.assert_close(found[:, row, column], expected[row, column], rtol=1e-12, atol=1e-12)


COLOUR_NETWORKS = [(PixelCNN, {"num_layers": 2}), (GatedPixelCNN, {"num_layers": 3})]


@pytest.mark.parametrize(("cls", "sizes"), COLOUR_NETWORKS)
def test_colours_are_read_in_their_order(cls, sizes):
    """The scores of a colour depend on exactly the colours of the pixel before it: the strict lower triangle."""
    network = built(cls, COLOURED, hidden_dim=12, head_dim=12, **sizes)
    own = torch.stack([gradient(network, COLOURED, 2, 1, colour)[:, 2, 1] != 0 for colour in range(3)])
    assert own.tolist() == [[False, False, False], [True, False, False], [True, True, False]]


def test_masks_of_colours_multiply_to_a_strict_lower_triangle():
    """floor(3 c / h) on both sides: a path through a centre of A and then of B goes from a colour to a later one."""
    assert groups(6, 3).tolist() == [0, 0, 1, 1, 2, 2]
    first = MaskedConvolution(3, 6, 3, first=True, colours=3).mask[:, :, -1, 1]
    second = MaskedConvolution(6, 3, 1, colours=3).mask[:, :, 0, 0]
    assert ((second @ first) > 0).tolist() == [[False, False, False], [True, False, False], [True, True, False]]


def test_the_halves_of_a_gate_have_all_colours_each():
    mask = MaskedConvolution(3, 12, 1, colours=3, halves=2).mask[:, :, 0, 0]
    assert torch.equal(mask[:6], mask[6:]) and mask[:6].sum(1).tolist() == [1, 1, 2, 2, 3, 3]


def test_a_mask_holds_whatever_the_weights_become():
    """The mask multiplies at each call, so that a weight that an optimiser or an average has changed has no effect."""
    network = built(PixelCNN, SMALL, hidden_dim=8, num_layers=1, first_kernel=3, head_dim=8)
    before = field(network, SMALL, 3, 3)
    with torch.no_grad():
        for layer in network.modules():
            if isinstance(layer, MaskedConvolution):
                layer.weight.add_(1.0)
    assert len(before) == 11 and field(network, SMALL, 3, 3) == before


def test_equal_scores_are_543_nats_of_a_digit_and_8_bits_of_a_byte():
    image = torch.randint(0, 2, (3, 1, 28, 28)).byte()
    nats = surprisal(torch.zeros(3, 2, 1, 28, 28), image).double().flatten(1).sum(1)
    assert nats.tolist() == pytest.approx([784 * math.log(2)] * 3, rel=1e-6)
    assert 784 * math.log(2) == pytest.approx(543.4, abs=0.05)
    image = torch.randint(0, 256, (1, 3, 4, 4)).byte()
    assert surprisal(torch.zeros(1, 256, 3, 4, 4), image).mean().item() / math.log(2) == pytest.approx(8)


def test_the_lstm_reads_values_one_by_one():
    network = built(PixelLSTM, COLOURED, embedding_dim=4, hidden_dim=5)
    torch_lstm = nn.LSTM(4, 5, batch_first=True).to(DOUBLE)
    torch_lstm.load_state_dict(network.recurrent.state_dict())
    image = torch.randint(0, 4, (2, 3, 4, 4), generator=torch.Generator().manual_seed(1)).byte()
    values = image.permute(0, 2, 3, 1).flatten(1).long()
    rows = torch.cat([torch.zeros(2, 1, dtype=torch.long), 1 + values + 4 * (torch.arange(48) % 3)], 1)[:, :-1]
    expected = network.scores(torch_lstm(network.embedding(rows))[0])  # (B, T, L)
    found = network(PictureBatch(image)).logits.permute(0, 3, 4, 2, 1).flatten(1, 3)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


def test_sizes_that_do_not_fit_are_refused():
    for cls, options, message in [
        (PixelCNN, {"hidden_dim": 8, "head_dim": 7}, "need multiples of 3, such as hidden_dim=9 head_dim=9"),
        (GatedPixelCNN, {"hidden_dim": 6, "head_dim": 6, "kernel_size": 4}, "kernel_size=4: a kernel needs a centre"),
        (GatedPixelCNN, {"hidden_dim": 6, "head_dim": 6, "condition": "label"}, "condition=label: these pictures"),
    ]:
        with pytest.raises((ValueError, ConfigError), match=message):
            cls(COLOURED, **options)
