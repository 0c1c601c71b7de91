"""Every kind of picture with known pixels, the part that a network sees, and every error with its place."""

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.transforms import v2

from tests.data.images.pictures_made import gradient, huge_png, noise, picture, png_of_16_bits
from zoo.data.captions.decoding import UnusablePicture, central, changed, decode, fit, problem, seen
from zoo.data.captions.options import PictureOptions
from zoo.data.captions.pictures import PictureFiles
from zoo.errors import ConfigError

ROTATION = 0x0112
"""The EXIF tag."""


def saved(path, image, **options):
    image.save(path, **options)
    return path


def rotated(number):
    exif = Image.Exif()
    exif[ROTATION] = number
    return exif


def first_row(path):
    """The pixels of the first row, as [red, green, blue]."""
    return decode(path)[:, 0].T.tolist()


# Kinds of pictures


def test_a_plain_picture_is_its_pixels_with_channels_first(tmp_path):
    found = decode(saved(tmp_path / "a.png", Image.fromarray(gradient(5, 9))))
    assert found.dtype == torch.uint8 and found.shape == (3, 5, 9)
    assert found[:, 4, 8].tolist() == [4, 8, 7]


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK", "I;16"])
@pytest.mark.parametrize("number", range(1, 9))
def test_exif_turns_a_picture_of_any_kind(tmp_path, mode, number):
    grey = np.kron([[0, 50, 100], [150, 200, 250]], np.ones((8, 8))).astype(np.uint8)
    image = Image.fromarray(grey.astype(np.uint16) * 257) if mode == "I;16" else Image.fromarray(grey).convert(mode)
    upright = [grey, grey[:, ::-1], grey[::-1, ::-1], grey[::-1]]  # by the standard: the place of row 0 and column 0
    expected = [*upright, grey.T, grey[::-1].T, grey[::-1, ::-1].T, grey[:, ::-1].T][number - 1]
    for name in ("a.tif", "a.png") if mode == "RGB" else ("a.tif",):
        found = decode(saved(tmp_path / name, image, exif=rotated(number)))
        assert found.shape == (3, *expected.shape)
        assert np.abs(found[0].numpy().astype(int) - expected).max() <= 1


def test_a_large_picture_of_16_bits_is_reduced(tmp_path):
    grey = np.full((4500, 4500), 257 * 90, np.uint16)
    grey[:, 2250:] = 65535
    found = decode(saved(tmp_path / "a.png", Image.fromarray(grey)), side=100)
    assert found.shape[1] < 500 and found[0, 0, 0] == 90 and found[2, -1, -1] == 255


def test_broken_exif_is_ignored(tmp_path):
    path = tmp_path / "a.jpg"
    Image.fromarray(gradient(16, 24)).save(path, exif=b"Exif\0\0MM\0*\0\0\0\x08\0\x05\x01")
    assert decode(path).shape == (3, 16, 24)


def of(mode, *pixels):
    """A picture of one row."""
    image = Image.new(mode, (len(pixels), 1))
    image.putdata(pixels)
    if mode == "P":
        image.putpalette([10, 20, 30, 40, 50, 60])
    return image


@pytest.mark.parametrize(
    ("image", "options", "expected"),
    [
        (of("L", 77, 255), {}, [[77] * 3, [255] * 3]),
        (of("1", 0, 255), {}, [[0] * 3, [255] * 3]),
        (of("P", 0, 1), {}, [[10, 20, 30], [40, 50, 60]]),
        (of("P", 0, 1), {"transparency": 1}, [[10, 20, 30], [255] * 3]),
        # transparent parts are over white; an alpha of 51 is a fifth
        (of("RGBA", *((200, 0, 0, alpha) for alpha in (255, 0, 51))), {}, [[200, 0, 0], [255] * 3, [244, 204, 204]]),
        (of("LA", (0, 255), (0, 0)), {}, [[0] * 3, [255] * 3]),
    ],
)
def test_grey_palettes_and_transparent_parts(tmp_path, image, options, expected):
    assert first_row(saved(tmp_path / "a.png", image, **options)) == expected


@pytest.mark.parametrize(("inks", "expected"), [((255, 0, 0, 0), [0, 255, 255]), ((0, 0, 0, 255), [0, 0, 0])])
@pytest.mark.parametrize(("name", "options"), [("a.tif", {}), ("a.jpg", {"quality": 100})])
def test_cmyk_is_the_colour_that_its_inks_leave(tmp_path, inks, expected, name, options):
    path = saved(tmp_path / name, Image.new("CMYK", (8, 8), inks), **options)
    assert first_row(path)[0] == pytest.approx(expected, abs=2)


def test_sixteen_bits_are_scaled_by_their_range(tmp_path):
    path = png_of_16_bits(tmp_path / "a.png", [[[0], [257 * 100], [65535]]], 0)
    assert first_row(path) == [[0] * 3, [100] * 3, [255] * 3]
    assert first_row(png_of_16_bits(tmp_path / "b.png", [[[65535, 257 * 9, 0]]], 2)) == [[255, 9, 0]]
    assert first_row(png_of_16_bits(tmp_path / "c.png", [[[65535, 0, 0, 0]]], 6)) == [[255, 255, 255]]  # transparent


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([0, 257 * 100, 65535], np.uint16, [0, 100, 255]),
        ([0, 2**31 - 1], np.int32, [0, 255]),
        ([0, 0.2, 1], np.float32, [0, 51, 255]),
        ([0, 77.4, 255], np.float32, [0, 77, 255]),
        ([0, 1e6], np.float32, "found 0 to 1e.06, expected 0 to 1 or 0 to 255"),
        ([-1.0, 1], np.float32, "found -1 to 1, expected 0 to 1 or 0 to 255"),
        ([float("nan"), 1], np.float32, "found nan to nan, expected 0 to 1 or 0 to 255"),
        ([-5, 1], np.int32, "found -5, expected no number below 0"),
    ],
)
def test_grey_of_more_than_eight_bits(tmp_path, values, kind, expected):
    path = saved(tmp_path / "a.tif", Image.fromarray(np.array([values], kind)))
    if isinstance(expected, list):
        assert decode(path)[0].tolist() == [expected]
    else:
        with pytest.raises(UnusablePicture, match=f"a.tif: unknown range of grey: {expected}"):
            decode(path)


@pytest.mark.parametrize("name", ["a.gif", "a.webp", "a.png"])
def test_an_animation_is_its_first_frame(tmp_path, name):
    frames = [Image.new("RGB", (1, 8), colour) for colour in ((255, 0, 0), (0, 255, 0), (0, 0, 255))]
    frames[0].save(tmp_path / name, save_all=True, append_images=frames[1:], duration=10, lossless=True)
    assert first_row(tmp_path / name) == [[255, 0, 0]]


def test_pictures_and_arrays_that_a_user_gives():
    array = gradient(4, 6)
    expected = torch.from_numpy(array).permute(2, 0, 1)
    given = [array, Image.fromarray(array), expected, array.transpose(2, 0, 1), torch.from_numpy(array)]
    assert all(torch.equal(decode(one), expected) for one in given)
    for one in (array[..., 0], array.astype(np.float32), np.zeros((4, 6, 4), np.uint8), None):
        with pytest.raises(UnusablePicture, match=r"picture that was given: not a picture: found .* expected a path"):
            decode(one)


# Errors


def test_each_error_names_the_file_and_the_problem(tmp_path):
    kinds = [noise(tmp_path / f"cut.{kind}", 0, 64, 64) for kind in ("png", "jpg", "gif", "bmp", "tif", "webp")]
    for path in kinds:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    (tmp_path / "empty.jpg").write_bytes(b"")
    (tmp_path / "text.jpg").write_text("no picture")
    messages = {
        "none.jpg": "cannot be read: No such file or directory",
        "": "cannot be read: Is a directory",
        "empty.jpg": "not a picture: the file is empty; expected a .jpg",
        "text.jpg": "not a picture: its 10 bytes are not in a known image format",
        **{path.name: "broken picture: " for path in kinds},
    }
    for name, message in messages.items():
        with pytest.raises(UnusablePicture) as error:
            decode(tmp_path / name)
        assert str(error.value).startswith(f"{tmp_path / name}: {message}")
        assert error.value.place == str(tmp_path / name) and message.startswith(error.value.problem)


@pytest.mark.parametrize(("width", "height"), [(12_000, 10_001), (60_000, 60_000)])
def test_a_huge_picture_is_refused_before_it_fills_the_memory(tmp_path, width, height):
    message = r"huge.png: too large a picture: found .*, expected 120,000,000 or fewer"
    with pytest.raises(UnusablePicture, match=message):
        decode(huge_png(tmp_path / "huge.png", width, height))


@pytest.mark.parametrize("limit", [100, 700])
def test_the_key_alone_limits_the_pixels(tmp_path, monkeypatch, recwarn, limit):
    """Pillow refuses pictures of more than twice its limit, and warns of others above the limit."""
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
    path = picture(tmp_path / "a.png")
    assert decode(path, 1200).shape == (3, 30, 40)
    assert not recwarn and limit == Image.MAX_IMAGE_PIXELS
    message = r"found 40 x 30 pixels, expected 1,199 or fewer \(data.picture.max_pixels"
    with pytest.raises(UnusablePicture, match=message):
        decode(path, 1199)


def test_a_picture_that_is_too_long_to_be_scaled(tmp_path):
    path = picture(tmp_path / "line.png", (9000, 1))
    message = f"{path}: too long a picture: found 9000 x 1 pixels, which data.picture.size would scale to 2016000 x 224"
    with pytest.raises(UnusablePicture, match=message):
        seen(path, PictureOptions(size=224))
    assert str(problem(path, PictureOptions(size=224))).startswith(message)
    assert seen(path, PictureOptions(size=8)).shape == (3, 8, 8) and problem(path, PictureOptions(size=8)) is None


# The part that a network sees


def middle(pixels, **options):
    options = PictureOptions(**options)
    return fit(pixels, options, central(tuple(pixels.shape[1:]), options))


@pytest.mark.parametrize(("height", "width"), [(30, 40), (41, 23), (9, 9), (333, 500)])
def test_the_middle_is_the_one_that_torchvision_crops(height, width):
    pixels = torch.randint(0, 256, (3, height, width), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    expected = v2.Compose([v2.Resize(26, antialias=True), v2.CenterCrop(20)])(pixels)
    found = middle(pixels, size=20, resize=26)
    assert found.shape == (3, 20, 20)
    assert torch.equal(found, expected)
    squashed = middle(pixels, size=20, squash=True)
    assert torch.equal(squashed, v2.functional.resize(pixels, [20, 20], antialias=True))


def test_a_size_that_is_not_square():
    pixels = torch.from_numpy(gradient(100, 200)).permute(2, 0, 1)
    assert torch.equal(middle(pixels, size=[100, 200]), pixels)  # nothing is lost
    assert torch.equal(middle(pixels, size=[100, 100]), pixels[:, :, 50:150])
    found = middle(pixels, size=[20, 100], resize=24)  # covers 24 by 120: 60 by 120
    assert found.shape == (3, 20, 100)
    means = found.float().mean((1, 2))
    assert means[0] == pytest.approx(49.5, abs=0.7) and means[1] == pytest.approx(99.5, abs=0.7)


def test_training_sees_every_position_and_both_sides():
    options = PictureOptions(size=4, resize=6, random_crop=True, flip=True)
    frames = [changed(central((6, 6), options), options, np.random.default_rng(seed)) for seed in range(300)]
    assert {(frame.top, frame.left) for frame in frames} == {(top, left) for top in range(3) for left in range(3)}
    assert 100 < sum(frame.mirrored for frame in frames) < 200
    pixels = torch.from_numpy(gradient(6, 6)).permute(2, 0, 1)
    for frame in frames[:20]:
        found = fit(pixels, options, frame)
        expected = pixels[:, frame.top : frame.top + 4, frame.left : frame.left + 4]
        assert torch.equal(found, expected.flip(2) if frame.mirrored else expected)


def test_changes_in_training_follow_from_seed_epoch_and_number(tmp_path):
    files = [str(saved(tmp_path / f"{n}.png", Image.fromarray(gradient(6, 6) + n))) for n in range(8)]
    options = PictureOptions(size=4, resize=6, random_crop=True)
    pictures = PictureFiles(files, options, seed=3)
    first = pictures.changed([0, 1, 2, 3], epoch=1)
    assert torch.equal(first[2:], PictureFiles(files, options, seed=3).changed([2, 3], epoch=1))
    whole = [pictures.changed(range(8), epoch) for epoch in range(3)]
    assert not torch.equal(whole[0], whole[1]) and not torch.equal(whole[1], whole[2])
    assert not torch.equal(whole[1], PictureFiles(files, options, seed=4).changed(range(8), epoch=1))
    assert torch.equal(pictures[[5]][0], seen(files[5], options))  # evaluation sees the middle
    still = PictureFiles(files, PictureOptions(size=4, resize=6))
    assert torch.equal(still.changed([1, 0], 7), still[[1, 0]]) and still.shape == (3, 4, 4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 224, "resize": 200}, "data.picture.resize=200: expected 224 or more"),
        ({"squash": True, "resize": 256}, "data.picture.resize=256: expected nothing beside data.picture.squash=true"),
        ({"squash": True, "random_crop": True}, "data.picture.random_crop=true: expected nothing beside"),
        ({"random_crop": True}, "data.picture.random_crop=true: expected a data.picture.resize above 224"),
        ({"size": 0}, "data.picture.size=0"),
    ],
)
def test_keys_that_exclude_each_other(options, message):
    with pytest.raises(ConfigError, match=message.replace(".", r"\.")):
        PictureOptions.of(options)


# Large pictures


@pytest.mark.parametrize("mode", ["RGB", "L", "1", "P"])
def test_a_large_picture_is_reduced_while_it_is_decoded(tmp_path, monkeypatch, mode):
    """All colours of three stripes stay; the tensor is a hundredth of the whole picture."""
    stripes = np.zeros((600, 900, 3), np.uint8)
    stripes[:200], stripes[400:] = 255, 255
    path = saved(tmp_path / "a.png", Image.fromarray(stripes).convert(mode))
    assert decode(path, side=30).shape == (3, 600, 900)  # not large
    monkeypatch.setattr("zoo.data.captions.decoding.LARGE", 100_000)
    small = decode(path, side=30)
    assert small.shape == (3, 60, 90)
    assert small[:, 30, 45].tolist() == [0, 0, 0] and small[:, 5, 45].tolist() == [255, 255, 255]
    assert decode(path).shape == (3, 600, 900)  # without `side` all of it is decoded


@pytest.mark.parametrize(
    ("name", "side", "shape"), [("a.jpg", 50, (200, 100)), ("a.png", 20, (80, 40)), ("a.tif", 20, (80, 40))]
)
def test_a_large_picture_is_turned_after_it_is_reduced(tmp_path, monkeypatch, name, side, shape):
    """A JPEG is decoded at a fraction of its size, here an eighth, which is twice the needed size."""
    monkeypatch.setattr("zoo.data.captions.decoding.LARGE", 100_000)
    if name == "a.jpg":
        monkeypatch.setattr("zoo.data.captions.decoding.MEMORY", 1600 * 800 * 4 - 1)
    path = saved(tmp_path / name, Image.new("RGB", (1600, 800), (9, 200, 9)), exif=rotated(6))
    assert decode(path, side=side).shape == (3, *shape)
    assert seen(path, PictureOptions(size=side)).shape == (3, side, side)


def test_a_picture_that_would_fill_the_memory_is_refused_before_it_is_decoded(tmp_path, monkeypatch):
    path = saved(tmp_path / "a.png", Image.new("RGB", (100, 50)))
    monkeypatch.setattr("zoo.data.captions.decoding.MEMORY", 19_999)
    with pytest.raises(UnusablePicture, match=r"too large a picture: found 100 x 50 pixels of mode RGB"):
        decode(path)
    monkeypatch.setattr("zoo.data.captions.decoding.MEMORY", 20_000)
    assert decode(path).shape == (3, 50, 100)
