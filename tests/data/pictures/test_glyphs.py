"""Generated letters and digits: their distribution, its entropy, and the batches."""

from collections import Counter
from math import log

import numpy as np
import pytest
import torch

from tests.data.serving import batches, prepared
from zoo.data.pictures.encoding import Canvas
from zoo.data.pictures.glyphs import Glyphs
from zoo.data.pictures.samples import glyphs
from zoo.errors import ConfigError, UnusableInput

SAMPLE = {"train": 60, "val": 10, "test": 20}


def test_a_picture_depends_on_its_seed_and_number_alone():
    long, short = (list(glyphs.generate(count, seed=3)) for count in (9, 4))
    for one, other in zip(long, short, strict=False):
        assert np.array_equal(one.pixels, other.pixels) and one[1:] == other[1:]
    assert not np.array_equal(long[0].pixels, next(glyphs.generate(1, seed=4)).pixels)


def test_ink_is_full_within_a_stroke_and_fades_within_a_pixel():
    """T, upright and in the middle: the vertical stroke runs through the middle of the picture."""
    table = glyphs.combinations("T", 12)
    upright = (0.0, 8 / 12, 0.0, 0.0, 0.9 / 12)
    ink = table.ink[table.factors.index(upright)]
    # the bar is at y = 2, from x = 3.77 to 8.23; half a stroke is 0.9 pixels
    assert ink[1, 5] == pytest.approx(0.9 + 0.5 - 0.5) and ink[0, 5] == 0 and ink[2, 6] == pytest.approx(0.9)
    assert np.allclose(ink[5], ink[5, ::-1]) and ink[5, 5] == pytest.approx(0.9) and ink[5, 3] == 0
    assert ink[9, 5] == pytest.approx(0.9) and ink[11].max() == 0


def test_the_entropy_is_that_of_all_combinations():
    """Two characters at one bit, counted by hand: the pictures, each with its probability."""
    found: Counter[bytes] = Counter()
    for character in "1T":
        table = glyphs.combinations(character, 8)
        for ink, probability in zip(table.ink, table.probabilities, strict=True):
            found[(np.rint(255 * ink) >= 128).tobytes()] += probability / 2
    assert sum(found.values()) == pytest.approx(1)
    assert len(found) < 2 * len(table.factors)  # some combinations give equal pictures, which count once
    expected = -sum(p * log(p) for p in found.values())
    assert glyphs.entropy(8, "1T", False, 1) == pytest.approx(expected, rel=1e-12)


def test_entropies_given_what_is_known():
    """No picture of 12 x 12 shows two characters: the class takes away the entropy of the class."""
    whole = glyphs.entropy(12, "0A7", False, 1)
    assert glyphs.entropy(12, "0A7", False, 1, "label") == pytest.approx(whole - log(3), rel=1e-12)
    assert glyphs.entropy(12, "0A7", False, 1, "factors") == pytest.approx(log(3), rel=1e-12)
    assert glyphs.entropy(12, "0A7", True, 8) == pytest.approx(
        glyphs.entropy(12, "0A7", False, 8) + log(len(glyphs.INKS) * len(glyphs.PAPERS)), rel=1e-12
    )
    assert glyphs.entropy(12, "0A7", False, 8) >= whole


def test_drawn_pictures_have_the_probabilities():
    """The frequencies of a character's factors, within four standard deviations."""
    drawn = [one.factors for one in glyphs.generate(4000, seed=1, characters="T", side=8)]
    for place, expected in ((0, glyphs.SLANTS), (1, glyphs.HEIGHTS), (4, glyphs.THICKNESS)):
        counts = Counter(one[place] for one in drawn)
        for value, probability in expected.items():
            assert abs(counts[value] / 4000 - probability) < 4 * (probability * (1 - probability) / 4000) ** 0.5


@pytest.mark.parametrize(("channels", "bits"), [(1, 1), (1, 8), (3, 2), (3, 5)])
def test_batches_hold_levels(channels, bits):
    data = prepared(Glyphs(channels=channels, bits=bits, sample=SAMPLE, loader={"batch_size": 16}))
    assert (data.spec.channels, data.spec.levels, data.sizes) == (
        channels,
        2**bits,
        {"train": 60, "val": 10, "test": 20},
    )
    seen = {}
    for batch in batches(data, "train"):
        assert batch.image.dtype == torch.uint8 and batch.image.shape[1:] == (channels, 12, 12)
        assert batch.factors.shape == (len(batch), 5)
        seen |= dict(zip(batch.index.tolist(), zip(batch.image, batch.label.tolist(), strict=True), strict=True))
    assert len(seen) == 60
    for number, one in enumerate(glyphs.generate(60, seed=1, coloured=channels == 3)):
        image, label = seen[number]
        assert torch.equal(image, torch.from_numpy(one.pixels >> 8 - bits).permute(2, 0, 1))
        assert data.spec.classes[label] == one.character


def test_a_run_with_the_same_seed_has_the_same_batches_and_epochs_differ():
    data = prepared(Glyphs(sample=SAMPLE, loader={"batch_size": 16, "seed": 5}))
    order = data.training_order(data.part("train"))
    first = list(order)
    order.set_epoch(1)
    assert sorted(number - 60 for batch in order for number in batch) == sorted(n for batch in first for n in batch)
    assert [number - 60 for batch in order for number in batch] != [n for batch in first for n in batch]


def test_inputs_are_read_as_the_training_pictures():
    data = prepared(Glyphs(sample=SAMPLE, bits=2))
    stored = data.encoder.collate(data.part("val").__getitems__([0, 1]))
    pixels = [one.pixels for one in list(glyphs.generate(62, seed=1))[60:]]
    assert torch.equal(data.encoder(pixels).image, stored.image)
    batch = data.encoder([Canvas(label="A", number=3), Canvas(pixels[0], label="0", number=4)])
    assert batch.known.tolist() == [0, 12] and batch.label.tolist() == [10, 0] and batch.index.tolist() == [3, 4]
    assert batch.image[0].sum() == 0 and torch.equal(batch.image[1], stored.image[0])
    for inputs, message in [
        ([Canvas(label="Q")], "class 'Q': expected one of 0, 1, 2"),
        ([Canvas(label="A"), Canvas()], "1 of 2 pictures have a class"),
        ([Canvas(factors=[1.0])], "found 1 factors, expected 5: slant, height, right, down, thickness"),
        ([np.zeros((9, 12, 1), np.uint8)], "another size: found 9 x 12 pixels in grey, expected 12 x 12"),
    ]:
        with pytest.raises(UnusableInput, match=message):
            data.encoder(inputs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bits": 3}, "data.bits=3: expected 1, 2, 5 or 8"),
        ({"size": 4}, "data.size=4: expected a whole number from 8 on"),
        ({"characters": "AA"}, "data.characters=AA: expected each character once"),
        ({"characters": "A?"}, "data.characters=A.: '.' cannot be drawn; expected some of 0123456789"),
        ({"channels": 2}, "data.channels=2: expected 1 or 3"),
        ({"text": {"lower": True}}, "data.text.lower: unknown key"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises((ConfigError, TypeError), match=message):
        Glyphs(**options)
