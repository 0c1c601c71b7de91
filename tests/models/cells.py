"""Stored features of three images and five captions of them, for networks that write captions: what a network reads of
an image is known number by number."""

import torch
from torch import nn

from zoo.data.images.batch import ImageBatch, ImageSpec
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.images.encoder import ImageEncoder

DOUBLE = torch.float64
SPEC = ImageSpec(channels=6, height=2, width=3, target_size=11, longest_target=9, grid=(2, 3), encoded=True)
ENCODER = {"_target_": "zoo.layers.images.small.SmallEncoder"}
"""An encoder that only passes stored features on."""
PIXELS = ImageSpec(channels=3, height=16, width=24, target_size=11, longest_target=9, grid=(2, 3))
SMALL = ENCODER | {"dim": 6, "width": 4, "halvings": 3}
"""An encoder of pixels, which has weights."""
PICTURE = [1, 0, 2, 0, 1]


class Trained(ImageEncoder):
    """An image encoder with each kind of weights that networks start; all are 1, as if training had left them so."""

    def __init__(self, spec, dim=3):
        super().__init__(spec, dim)
        parts = nn.Linear(3, dim), TokenEmbedding(9, 3, padding_idx=0), nn.GRU(3, 3), nn.LSTM(3, 3)
        self.parts = nn.ModuleList(parts)
        for parameter in self.parameters():
            nn.init.ones_(parameter)

    def features(self, pixels):
        return self.parts[0](pixels.movedim(1, -1)).movedim(-1, 1)


TRAINED = {"_target_": f"{__name__}.Trained"}


def captions(lengths=(4, 1, 6, 3, 5), seed=1):
    """Ids (B, T) that end in the end token, and their mask."""
    generator = torch.Generator().manual_seed(seed)
    length = torch.tensor(lengths)[:, None]
    mask = torch.arange(max(lengths)) < length
    ids = torch.randint(4, SPEC.target_size, mask.shape, generator=generator).masked_fill(~mask, SPEC.padding)
    return ids.masked_fill(torch.arange(max(lengths)) == length - 1, SPEC.end), mask


def batch_of(image=None, targets=True, seed=0):
    """Five captions of three images; features unless pixels are given."""
    generator = torch.Generator().manual_seed(seed)
    if image is None:
        image = torch.randn(3, SPEC.channels, *SPEC.grid, generator=generator, dtype=DOUBLE)
    ids, mask = captions() if targets else (None, None)
    return ImageBatch(image, SPEC.grid, target=ids, target_mask=mask, picture=torch.tensor(PICTURE))


def pixels(seed=0):
    """Three images (3, 3, H, W)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(256, (3, 3, PIXELS.height, PIXELS.width), generator=generator, dtype=torch.uint8)


def cells_of(image):
    """The features (D, rows, columns) of an image as a list of its cells, row after row."""
    return [image[:, row, column] for row in range(image.shape[1]) for column in range(image.shape[2])]


def read_of(batch, row):
    """Inputs for the caption `row`: begin, then its words without the end."""
    return [SPEC.begin, *batch.target[row][batch.target_mask[row]].tolist()[:-1]]


def captions_of(batch):
    """The cells of the image, a list, and the decoder input of each caption."""
    for row, picture in enumerate(batch.picture.tolist()):
        yield cells_of(batch.image[picture]), read_of(batch, row)
