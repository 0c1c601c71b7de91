"""Generated scenes: pictures agree with their facts, and captions with their pictures."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from zoo.data.images.samples import drawing, scenes
from zoo.data.images.samples.drawing import EXTENT, GREYS, PAINT, SPREAD, distance
from zoo.data.images.samples.grammar import COLOURS, FORMS, RELATIONS, SHAPES, Kind, Statement, phrased, read
from zoo.data.images.truth import is_true

MADE = scenes.scenes(range(300), seed=3)


# Scenes


def test_a_scene_is_a_function_of_the_seed_and_its_number():
    again = list(scenes.generate(130, seed=3))
    for number in (0, 1, 99, 100, 129):  # some on either side of those that are painted together
        alone = scenes.scenes(range(number, number + 1), seed=3)[0]
        for other in (again[number], MADE[number]):
            assert np.array_equal(alone.pixels, other.pixels)
            assert (alone.things, alone.captions) == (other.things, other.captions)
    assert again[0].things != scenes.scenes(range(1), seed=4)[0].things


def test_a_larger_picture_shows_the_same():
    for small, large in zip(MADE[:20], scenes.generate(20, seed=3, size=128), strict=True):
        assert large.pixels.shape == (128, 128, 3)
        assert (large.things, large.captions) == (small.things, small.captions)
        halved = large.pixels.reshape(64, 2, 64, 2, 3).mean((1, 3))
        for thing in small.things:
            x, y = (int(64 * place) for place in thing.centre)
            assert np.abs(halved[y, x] - small.pixels[y, x]).max() < 2


def test_scenes_are_of_every_kind():
    count = Counter(len(scene.things) for scene in MADE)
    assert count.keys() == {2, 3, 4, 5} and min(count.values()) > 50
    kinds = {thing.kind for scene in MADE for thing in scene.things}
    assert {kind[1:] for kind in kinds} == {(colour, shape) for colour in COLOURS for shape in SHAPES}
    sizes = [thing.kind.size for scene in MADE for thing in scene.things]
    assert 0.3 < sizes.count("large") / len(sizes) < 0.5
    relations = [read(scene.captions[0]).relation for scene in MADE]
    assert all(relations.count(one) > 45 for one in RELATIONS)
    places = np.array([thing.centre for scene in MADE for thing in scene.things[:2]])
    assert np.abs(places.mean(0) - 0.5).max() < 0.04  # no side is preferred


# Pictures


def coloured(pixels):
    """(H, W) True where a pixel is not grey; every ground is grey."""
    pixels = pixels.astype(int)
    return pixels.max(-1) - pixels.min(-1) > 2 * drawing.TINT + 10


def test_the_coloured_pixels_are_those_of_the_boxes():
    for scene in MADE:
        left, shown = np.ones((64, 64), bool), coloured(scene.pixels)
        for thing in scene.things:
            x0, y0, x1, y1 = 64 * np.array(thing.box)
            rows, columns = (slice(int(a), int(np.ceil(b))) for a, b in ((y0, y1), (x0, x1)))
            left[rows, columns] = False
            drawn_rows, drawn_columns = np.nonzero(shown[rows, columns])
            seen = [drawn_rows.min(), drawn_rows.max() + 1], [drawn_columns.min(), drawn_columns.max() + 1]
            # a point of a star or a triangle is thinner than a pixel where it ends
            edges = [y0, y1] - np.array(rows.start), [x0, x1] - np.array(columns.start)
            assert np.abs(np.subtract(edges, seen)).max() < 2.6
        assert not (shown & left).any()


def test_an_object_has_its_colour_and_is_brighter_than_its_ground():
    for scene in MADE:
        strongest = scene.pixels.max(-1)
        ground = np.percentile(strongest[~coloured(scene.pixels)], 95)
        for thing in scene.things:
            x, y = (int(64 * place) for place in thing.centre)
            away = {name: np.abs(scene.pixels[y, x] - np.array(paint)).max() for name, paint in PAINT.items()}
            assert away[thing.kind.colour] == min(away.values()) <= SPREAD + 1
            assert strongest[y, x] > ground


def test_sizes_can_be_distinguished_and_objects_are_apart():
    for scene in MADE:
        assert len({thing.kind[1:] for thing in scene.things}) == len(scene.things)
        for thing in scene.things:
            left, top, right, bottom = (64 * edge for edge in thing.box)
            assert min(left, top, 64 - right, 64 - bottom) >= 1.9
            assert right - left > 14 if thing.kind.size == "large" else right - left < 12
        for one, other in combinations([thing.box for thing in scene.things], 2):
            gaps = other[0] - one[2], one[0] - other[2], other[1] - one[3], one[1] - other[3]
            assert max(gaps) >= 1.9 / 64


def test_grounds_are_textured_greys():
    random = [np.random.default_rng(number) for number in range(50)]
    grounds = drawing.grounds(random, 64)
    assert not coloured(np.clip(grounds, 0, 255)).any()
    means = grounds.mean((1, 2, 3))
    assert np.ptp(means) > 0.7 * np.ptp(GREYS)
    smooth = grounds[..., 0].reshape(50, 8, 8, 8, 8).mean((2, 4))
    assert np.median(smooth.std((1, 2))) > 4  # gradients and waves
    assert np.median(np.abs(np.diff(grounds[..., 0], axis=2))) > 4  # grain


AREAS = {
    "circle": np.pi,
    "square": (2 * 0.88) ** 2,
    "triangle": 1.9 * 1.75 / 2,
    "star": 5 * 0.45 * np.sin(np.pi / 5),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_area_and_the_extent_of_a_shape(shape):
    """The area of radius 1 is known by geometry."""
    step = 0.004
    x, y = np.meshgrid(*[np.arange(-1.2, 1.2, step, dtype=np.float32) + step / 2] * 2)
    inside = distance(shape, x, y) < 0
    assert inside.sum() * step**2 == pytest.approx(AREAS[shape], rel=0.01)
    found = x[inside].min(), y[inside].min(), x[inside].max(), y[inside].max()
    assert found == pytest.approx(EXTENT[shape], abs=0.02)


def test_an_edge_is_smooth_and_in_its_place():
    """The painted shares of the pixels add up to the area, also for a circle between pixels."""
    for centre in ((16, 16), (16.5, 16.25), (15.3, 17.9)):
        pixels = np.zeros((1, 32, 32, 3), np.float32)
        at = np.array([centre], np.float32)
        drawing.paint_on(pixels, np.array([0]), "circle", at, np.array([6.0], np.float32), np.ones((1, 3), np.float32))
        share = pixels[0, ..., 0]
        assert share.sum() == pytest.approx(np.pi * 36, rel=0.005)
        y, x = np.indices(share.shape) + 0.5
        assert ((share * x).sum() / share.sum(), (share * y).sum() / share.sum()) == pytest.approx(centre, abs=0.01)


# Captions


def test_captions_describe_the_most_central_objects_by_a_margin():
    for scene in MADE:
        off = [64 * np.hypot(x - 0.5, y - 0.5) for x, y in (thing.centre for thing in scene.things)]
        assert off == sorted(off)
        assert off[1] - off[0] >= scenes.CENTRALITY - 0.02
        assert len(off) == 2 or off[2] - off[1] >= scenes.CENTRALITY - 0.02
        (x0, y0), (x1, y1) = (thing.centre for thing in scene.things[:2])
        assert 64 * abs(abs(x0 - x1) - abs(y0 - y1)) >= scenes.CLEARLY - 0.02
        statements = [read(caption) for caption in scene.captions]
        farther = (x0 < x1, "left", "right") if abs(x0 - x1) > abs(y0 - y1) else (y0 < y1, "above", "below")
        expected = (scene.things[0].kind[1:], farther[1 if farther[0] else 2], scene.things[1].kind[1:])
        assert {(part.first[1:], part.relation, part.second[1:]) for part in statements} == {expected}


def test_five_different_true_captions():
    for scene in MADE:
        assert len(set(scene.captions)) == 5 and all(is_true(text, scene.facts) for text in scene.captions)
        sizes = Counter(read(text).first.size for text in scene.captions)
        assert sizes == {None: 1, scene.things[0].kind.size: 4}


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("form", FORMS)
def test_a_phrase_is_read_again(form, relation):
    first, second = Kind("large", "orange", "star"), Kind(None, "orange", "circle")
    statement = Statement(first, relation, second)
    found = phrased(form, statement)
    assert read(found) == statement
    assert "a large orange star" in found and "an orange circle" in found
