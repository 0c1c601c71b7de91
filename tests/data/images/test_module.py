"""The parts that all data sets of images share: batches of both orders, filters, pictures, description."""

import pickle
import shutil
from collections import Counter

import numpy as np
import pytest
import torch

from tests.data.images.toy import SIDE, SIZES, Toy, colour, rows_of, text_of
from tests.data.serving import batches, prepared
from zoo.data.captions.pictures import PictureRow, PictureStore, StoredPictures
from zoo.data.images.batch import ImageBatch
from zoo.errors import ConfigError, DataError

ROWS = rows_of(SIZES)
ORDERS = [{"batches": "pictures", "captions_per_image": 2}, {"batches": "pictures"}, {"batches": "lengths"}]


def changed(split, number, **change):
    rows = rows_of(SIZES)
    rows[split][number] = rows[split][number]._replace(**change)
    return rows


# Batches


def check(batch, split, data):
    """Each row of a batch is a caption of its image; the pixels of each image are there once."""
    assert isinstance(batch, ImageBatch)
    images = batch.index[[batch.picture.tolist().index(i) for i in range(len(batch.image))]].tolist()
    assert len(set(images)) == len(batch.image) == int(batch.picture.max()) + 1
    assert batch.image.dtype == torch.uint8
    for number, pixels in zip(images, batch.image, strict=True):
        expected = torch.tensor(colour(split, number), dtype=torch.uint8)[:, None, None].expand(3, *SIDE)
        assert torch.equal(pixels, expected)
    for b, number in enumerate(batch.index.tolist()):
        assert images[batch.picture[b]] == number
        written = data.encoder.text(batch.target[b])
        assert written in [text_of(caption) for caption in ROWS[split][number].captions]
        yield number, written
    assert torch.equal(batch.target_input[:, 1:], batch.target[:, :-1])
    assert (batch.target_input[:, 0] == data.spec.begin).all()


@pytest.mark.parametrize("world", [1, 3])
@pytest.mark.parametrize("order", [*ORDERS, {"batches": "lengths", "max_tokens": 80}])
def test_batches_hold_captions_with_their_images(monkeypatch, order, world):
    order = dict(order)
    limit = {"max_tokens": order.pop("max_tokens")} if "max_tokens" in order else {"batch_size": 9}
    data = prepared(Toy(**order, loader=limit))
    assert data.sizes == SIZES
    monkeypatch.setattr(Toy, "_world_size", world)
    for split in SIZES:
        seen, steps = [], set()
        for rank in range(world):
            monkeypatch.setattr(Toy, "_rank", rank)
            drawn = batches(data, split)
            steps.add(len(drawn))
            for batch in drawn:
                seen += check(batch, split, data)
                assert (batch.about is None) == (batch.alignment is None) == (split == "train")
                counts = len(batch) if split == "train" and order["batches"] == "lengths" else len(batch.image)
                assert counts <= 9 or (limit == {"max_tokens": 80} and int(batch.target_mask.sum()) <= 80)
        assert split != "train" or len(steps) == 1
        expected = [(number, text_of(caption)) for number, row in enumerate(ROWS[split]) for caption in row.captions]
        if split == "train" and "captions_per_image" in order:
            assert not Counter(seen) - Counter(expected)
            count = Counter(number for number, _ in seen)
            assert count == {n: min(2, len(row.captions)) for n, row in enumerate(ROWS["train"])}
        else:
            assert Counter(seen) == Counter(expected)


def test_an_evaluation_has_all_facts_about_an_image():
    data = prepared(Toy(loader={"batch_size": 4}))
    seen = []
    for batch in data.test_dataloader():
        each = batch.each_image()
        assert each.target is None
        for about, number in zip(each.about, each.index.tolist(), strict=True):
            row = ROWS["test"][number]
            assert (about.name, about.captions, about.facts) == (row.name, row.captions, row.facts)
            assert int((batch.index == number).sum()) == len(row.captions)
            seen.append(number)
    assert sorted(seen) == list(range(SIZES["test"]))
    first = next(iter(data.test_dataloader())).first(2)
    assert len(first.image) == 2 and set(first.picture.tolist()) == {0, 1}


# Filters and splits


def test_long_captions_are_left_out_of_training_only(cache_dir):
    data = prepared(Toy(text={"max_length": 4}))
    words = data.encoder.words
    long = [c for one in ROWS["train"] for c in one.captions if len(words(c)) > 4]
    without = [n for n, one in enumerate(ROWS["train"]) if all(len(words(c)) > 4 for c in one.captions)]
    assert len(long) > 20 and len(without) >= 2
    dropped = {"captions longer than 4 tokens": len(long), "images without captions": len(without)}
    assert [part.get("dropped") for part in data.describe()["splits"].values()] == [dropped, None, None]
    assert data.sizes == {**SIZES, "train": SIZES["train"] - len(without)}
    kept = [n for n in range(SIZES["train"]) if n not in without]
    for batch in data.train_dataloader():
        for b, number in enumerate(batch.index.tolist()):
            captions = [text_of(c) for c in ROWS["train"][kept[number]].captions]
            assert data.encoder.text(batch.target[b]) in captions
            assert batch.image[batch.picture[b], 0, 0, 0] == kept[number]
    assert data.spec.longest_target > 6


def test_blank_captions_are_counted_in_training_and_errors_elsewhere(cache_dir):
    rows = changed("train", 3, captions=("", "a red dog"))
    rows["train"][4] = rows["train"][4]._replace(captions=(" ",))
    dropped = {"empty captions": 2, "images without captions": 1}
    assert prepared(Toy(rows)).describe()["splits"]["train"]["dropped"] == dropped
    rows = changed("val", 3, captions=("", "a red dog"))
    with pytest.raises(DataError, match=r"val\.csv, line 5: no text: a caption of val-3\.png is empty"):
        Toy(rows).prepare_data()
    assert prepared(Toy(rows, loader={"on_bad_row": "skip"})).describe()["skipped"] == {"no text": 1}


@pytest.mark.parametrize(
    ("rows", "text", "message"),
    [
        (changed("test", 0, captions=()), {}, r"test\.csv, line 2: no caption: test-0\.png has none"),
        (changed("train", 0, captions=("a\0b",)), {}, r"train\.csv, line 2: NUL byte"),
        ({**ROWS, "train": [one._replace(captions=("a b",)) for one in ROWS["train"]]}, {"max_length": 1},
         r"toys: no captions are left to train on; .*longer than 1 tokens.*max_length"),
    ],
)  # fmt: skip
def test_unusable_captions(cache_dir, rows, text, message):
    with pytest.raises(DataError, match=message):
        Toy(rows, text=text).prepare_data()


def test_a_picture_in_two_splits_is_noted(cache_dir, tmp_path):
    rows = changed("test", 1, picture=ROWS["train"][5].picture)
    rows["test"][2] = rows["test"][2]._replace(picture=ROWS["val"][0].picture)
    notes = prepared(Toy(rows)).describe()["notes"]
    assert notes == ["test: 1 of 7 images is in train too", "test: 1 of 7 images is in val too"]
    files = rows_of(SIZES, tmp_path)
    copy = shutil.copy(files["train"][5].picture, tmp_path / "copy.png")
    files["val"][0] = files["val"][0]._replace(picture=copy)
    assert prepared(Toy(files)).describe()["notes"] == ["val: 1 of 9 images is in train too"]


# Pictures


def test_stored_pictures_stay_on_the_disk(tmp_path):
    """Another process maps the file itself."""
    pixels = np.random.default_rng(0).integers(0, 256, (200, 16, 20, 3)).astype(np.uint8)
    store = PictureStore(tmp_path)
    rows = [PictureRow("", picture, (), "") for picture in pixels]
    assert [store.add(row)["stored"] for row in rows] == list(range(200))
    with pytest.raises(ValueError, match=r"\(3, 8, 20\) uint8, expected \(3, 16, 20\)"):
        store.add(rows[0]._replace(picture=pixels[0, :8]))
    store.close()
    stored = StoredPictures(tmp_path / "pixels.bin", store.shape)
    sent = pickle.dumps(stored)
    assert len(sent) < 1000
    for pictures in (stored, pickle.loads(sent)):
        found = pictures[[7, 3, 7]]
        assert torch.equal(found, torch.tensor(pixels[[7, 3, 7]]).permute(0, 3, 1, 2))
        assert torch.equal(pictures.changed([4], 9), pictures[[4]])
        found[:] = 0  # a copy
        assert torch.equal(pictures[[7]][0], torch.tensor(pixels[7]).permute(2, 0, 1))


def test_pictures_in_files_are_read_when_they_are_needed(cache_dir, tmp_path):
    folder = tmp_path / "Bilder für uns"
    folder.mkdir()
    rows = rows_of(SIZES, folder)
    data = prepared(Toy(rows, loader={"batch_size": 5}))
    assert not list(cache_dir.rglob("*.bin"))
    for split in SIZES:
        for batch in batches(data, split):
            assert batch.alignment is None
            list(check(batch, split, data))
    assert (data.spec.height, data.spec.width) == SIDE


# Description and options


def test_spec_and_description():
    data = prepared(Toy())
    spec, facts, words = data.spec, data.describe(), data.encoder.words
    lengths = {split: [len(words(c)) for one in rows for c in one.captions] for split, rows in ROWS.items()}
    assert (spec.channels, spec.height, spec.width, spec.grid, spec.encoded) == (3, *SIDE, (2, 3), False)
    assert spec.longest_target == max(max(some) for some in lengths.values()) + 1
    assert facts["source"] == data.source_description == "toys: 56 images"
    train = facts["splits"]["train"]
    assert (train["images"], train["captions"]) == (40, len(lengths["train"]))
    assert train["caption_tokens"]["mean"] == pytest.approx(np.mean(lengths["train"]), abs=0.005)
    assert facts["examples"][0] == {"image": "train-0.png", "captions": " | ".join(ROWS["train"][0].captions)}
    assert facts["contents"] == [f"a vocabulary of {spec.target_size} tokens", "pixels of 3 x 4 x 6, cells of 2 x 3"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batches": "picture"}, r"data\.batches=picture: .*pictures"),
        ({"batches": "lengths", "captions_per_image": 2}, r"data\.captions_per_image=2 draws .* set it to null"),
        ({"batches": "pictures", "captions_per_image": 0}, r"data\.captions_per_image=0: expected .* found 0"),
        ({"batches": "pictures", "loader": {"max_tokens": 9}}, r"data\.loader\.max_tokens=9 counts tokens.*batch_size"),
        ({"features": {}, "picture": {"flip": True}}, r"data\.features: features are computed once, and data.picture"),
        ({"grid": (2,)}, r"data\.grid=\[2\]: expected a list \[rows,columns\] of two"),
    ],
)
def test_impossible_options(options, message):
    with pytest.raises(ConfigError, match=message):
        Toy(**options)
