"""Pictures of your own: the layouts of a folder, sizes and colours, and every error with its path."""

import numpy as np
import pytest
import torch
from PIL import Image

from tests.data.serving import batches, prepared
from zoo.data.pictures.own import OwnPictures
from zoo.errors import ConfigError, DataError


def picture(path, size=(6, 5), mode="L", seed=0):
    """A file of random pixels, (height, width)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    shape = size if mode in ("L", "1") else (*size, 3)
    pixels = np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)
    Image.fromarray(pixels).convert(mode).save(path)
    return pixels


def own(folder, **options):
    return OwnPictures(path=str(folder), loader={"batch_size": 4}, **options)


def filled(folder, classes=("cat", "dog"), count=10, **options):
    return {
        (label, number): picture(folder / label / f"{number}.png", seed=ord(label[0]) + 1000 * number, **options)
        for label in classes
        for number in range(count)
    }


def test_a_folder_for_each_class(tmp_path):
    """Drawn splits have their share of each class, and each picture has the class of its folder."""
    pixels = filled(tmp_path)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "cat" / "notes.txt").write_text("ignored")
    data = prepared(own(tmp_path))
    assert data.sizes == {"train": 16, "val": 2, "test": 2} and data.spec.classes == ("cat", "dog")
    assert (data.spec.channels, data.spec.height, data.spec.width) == (1, 6, 5)
    known = {array.tobytes(): label for (label, _), array in pixels.items()}
    seen = [
        (image[0].numpy().tobytes(), data.spec.classes[label])
        for split in ("train", "val", "test")
        for batch in batches(data, split)
        for image, label in zip(batch.image, batch.label.tolist(), strict=True)
    ]
    assert len(seen) == 20 and all(known[raw] == label for raw, label in seen)


def test_folders_for_the_splits_and_pictures_without_classes(tmp_path):
    for split, count in (("train", 6), ("val", 2), ("test", 3)):
        for number in range(count):
            picture(tmp_path / split / f"{number}.png", seed=number + 7 * len(split))
    data = prepared(own(tmp_path))
    assert data.sizes == {"train": 6, "val": 2, "test": 3} and data.spec.classes == ()
    assert batches(data, "train")[0].label is None


def test_pictures_of_any_size_and_colours_are_brought_to_one(tmp_path):
    picture(tmp_path / "a" / "1.png", (9, 12), "RGB")
    picture(tmp_path / "a" / "2.png", (20, 8), "L")
    picture(tmp_path / "a" / "3.jpg", (8, 8), "RGB")
    for number in range(8):
        picture(tmp_path / "a" / f"more{number}.png", (8, 8), "1", seed=number)
    for channels in (1, 3):
        data = prepared(own(tmp_path, picture={"size": 8, "channels": channels}, bits=2))
        assert batches(data, "train")[0].image.shape[1:] == (channels, 8, 8)
        typed = data.encoder([str(tmp_path / "a" / "1.png")])
        assert typed.image.shape == (1, channels, 8, 8) and typed.image.max() <= 3


def test_grey_is_pillows(tmp_path):
    for number in range(10):
        picture(tmp_path / f"{number}.png", (4, 4), "RGB", seed=number)
    data = prepared(own(tmp_path, picture={"channels": 1}))
    expected = np.asarray(Image.open(tmp_path / "3.png").convert("L"))
    assert torch.equal(data.encoder([str(tmp_path / "3.png")]).image[0, 0], torch.tensor(expected))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda at: picture(at / "cat" / "x.png", (6, 6)),
            "x.png: another size: found 6 x 6 pixels in grey, expected 6 x 5.*; data.picture.size=N scales all to one",
        ),
        (
            lambda at: picture(at / "cat" / "x.png", mode="RGB"),
            "x.png: other colours: found colours, expected grey.*data.picture.channels=3",
        ),
        (lambda at: picture(at / "cat" / "00.png", (1, 1)), "00.png: too small a picture: found 1 x 1 pixels"),
        (lambda at: (at / "cat" / "x.png").write_bytes(b"no"), "x.png: not a picture: its 2 bytes are not in a known"),
        (lambda at: (at / "fish").mkdir(), "fish: no picture of this class; add some, or remove the folder"),
        (
            lambda at: picture(at / "x.png"),
            "found x.png beside the folder cat/; expected pictures, or a folder for each",
        ),
    ],
)
def test_wrong_pictures_are_refused_with_their_path(tmp_path, spoil, message):
    filled(tmp_path)
    spoil(tmp_path)
    with pytest.raises(DataError, match=message):
        own(tmp_path).prepare_data()


def test_a_bad_picture_can_be_skipped(tmp_path):
    filled(tmp_path)
    (tmp_path / "cat" / "x.png").write_bytes(b"no")
    data = prepared(OwnPictures(path=str(tmp_path), loader={"on_bad_row": "skip"}))
    assert sum(data.sizes.values()) == 20 and data.describe()["skipped"] == {"not a picture": 1}


def test_a_folder_without_pictures_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(DataError, match=r"found a.txt; expected: a folder of pictures"):
        own(tmp_path).prepare_data()
    with pytest.raises(ConfigError, match=r"data.path is empty; expected: a folder of pictures"):
        prepared(own(""))


def test_folders_of_splits_have_to_fit_together(tmp_path):
    filled(tmp_path / "val", count=2)
    with pytest.raises(DataError, match="found val/ and no train/; add it, or rename the folders if they are classes"):
        own(tmp_path).prepare_data()
    filled(tmp_path / "train", count=4)
    (tmp_path / "test").mkdir()
    with pytest.raises(DataError, match="test: no picture in it; add some, or remove the folder"):
        own(tmp_path).prepare_data()
    picture(tmp_path / "test" / "1.png")
    with pytest.raises(DataError, match="test: found pictures without classes, expected folders of classes as in tra"):
        own(tmp_path).prepare_data()


def test_a_class_that_training_lacks_is_refused(tmp_path):
    filled(tmp_path / "train", count=4)
    filled(tmp_path / "test", classes=("bird",), count=2)
    with pytest.raises(DataError, match="unknown label: 'bird' does not occur in the training pictures"):
        own(tmp_path).prepare_data()
