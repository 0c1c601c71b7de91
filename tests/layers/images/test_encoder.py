"""The base of image encoders, and the small one."""

import pytest
import torch
from torch import Tensor, nn

from tests.layers.images.test_cells import images, looks_at, plain, regular, spec_of
from zoo.data.images.batch import ImageSpec
from zoo.errors import CheckpointError, ConfigError
from zoo.layers.images.encoder import DEVIATION, MEAN, ImageEncoder, image_encoder
from zoo.layers.images.small import SmallEncoder

SMALL = "zoo.layers.images.small.SmallEncoder"


class Itself(ImageEncoder):
    """The features are the normalised pixels."""

    def __init__(self, spec: ImageSpec) -> None:
        super().__init__(spec, 3)

    def features(self, pixels: Tensor) -> Tensor:
        return pixels


def test_pixels_are_normalised_as_torchvision_does() -> None:
    from torchvision.transforms import v2

    shown = images(side=4)
    expected = v2.Normalize(MEAN, DEVIATION)(v2.ToDtype(torch.float32, scale=True)(shown))
    torch.testing.assert_close(Itself(spec_of((4, 4), 4))(shown).transpose(1, 2).unflatten(2, (4, 4)), expected)


def test_features_are_pooled_to_the_grid() -> None:
    """Cells are the means of the features that lie in them, one row of cells after the other."""
    encoder, shown = Itself(spec_of((2, 4), 8)), images(side=8)
    cells = encoder(shown)
    assert cells.shape == (2, 8, 3)
    whole = Itself(spec_of((8, 8), 8))(shown).transpose(1, 2).unflatten(2, (8, 8))
    torch.testing.assert_close(cells[0, 6], whole[0, :, 4:8, 4:6].mean((1, 2)))  # row 1, column 2


@pytest.mark.parametrize("encoder", [Itself, SmallEncoder])
def test_of_stored_features_nothing_is_computed(encoder: type) -> None:
    spec = spec_of((4, 4), 4, channels=7, encoded=True)
    made = encoder(spec)
    assert made.dim == 7 and not list(made.parameters())
    stored = torch.randn(2, 7, 4, 4).half()
    torch.testing.assert_close(made(stored), stored.float().flatten(2).transpose(1, 2), rtol=0, atol=0)
    assert torch.equal(made(stored.double())[0, 5], stored[0, :, 1, 1].double())


def test_an_encoder_from_its_description() -> None:
    made = image_encoder({"_target_": SMALL, "dim": 12, "width": 5, "halvings": 2}, spec_of((4, 4), 16))
    assert isinstance(made, SmallEncoder) and made.dim == 12
    with pytest.raises(CheckpointError, match=r"torch\.nn\.Linear is not a subclass of ImageEncoder"):
        image_encoder({"_target_": "torch.nn.Linear"}, spec_of((4, 4), 16))


@pytest.mark.parametrize("halvings", [2, 3, 4])
def test_the_cells_of_the_small_encoder_are_regular(halvings: int) -> None:
    """A kernel of 3 with stride 2 would have them half a cell away. The side is wide enough that a cell in the middle
    does not see the border."""
    side, cells = 24 * 2**halvings, 24
    encoder = plain(SmallEncoder(spec_of((cells, cells), side), dim=4, width=2, halvings=halvings))
    for cell in ((12, 12), (10, 13)):
        for found, number in zip(looks_at(encoder, cell, (side, side)), cell, strict=True):
            assert found == pytest.approx(regular(number, cells, side), abs=1e-4)


def test_images_that_are_halved_to_nothing_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"^halvings=3: found images of 7 by 7 pixels, expected at least 8 .* set fewer halvings"
    ):
        SmallEncoder(spec_of((2, 2), 7))
    for side, halvings in ((7, 2), (8, 3)):
        made = SmallEncoder(spec_of((2, 2), side), dim=4, width=2, halvings=halvings)
        assert made(torch.zeros(1, 3, side, side, dtype=torch.uint8)).shape == (1, 4, 4)


def test_a_cell_of_the_small_encoder_sees_38_pixels() -> None:
    encoder = plain(SmallEncoder(spec_of((12, 12), 96), dim=4, width=2, halvings=3))
    pixels = torch.ones(1, 3, 96, 96, requires_grad=True)
    (gradient,) = torch.autograd.grad(encoder.features(pixels)[0, :, 6, 6].sum(), pixels)
    assert len(gradient[0].sum((0, 2)).nonzero()) == 38


def test_the_small_encoder_knows_where_a_cell_is() -> None:
    """Pictures of one colour have cells that differ by where they are."""
    encoder = SmallEncoder(spec_of((4, 4), 16), dim=8, width=4, halvings=2).eval()
    nn.init.zeros_(encoder.place.weight[5].data)
    cells = encoder(torch.zeros(1, 3, 16, 16, dtype=torch.uint8))[0]
    features = encoder.features((torch.zeros(1, 3, 16, 16) - encoder.mean) / encoder.deviation)
    torch.testing.assert_close(cells[5], features[0, :, 1, 1])
    torch.testing.assert_close(cells[6] - encoder.place.weight[6], features[0, :, 1, 2])
