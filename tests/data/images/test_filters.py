"""Which images with captions are trained on: captions too long, blank or alike, splits that are missing."""

import logging
from collections import Counter

import numpy as np
import pytest

from tests.data.images.toy import SIZES, Toy, loaders, prepared, rows_of, text_of
from zoo.errors import DataError

ROWS = rows_of(SIZES)


def test_long_captions_are_left_out_of_training_alone(cache_dir, caplog):
    with caplog.at_level(logging.INFO, "zoo"):
        data = prepared(Toy(text={"max_length": 4}))
    words = data.encoder.words
    long = [c for one in ROWS["train"] for c in one.captions if len(words(c)) > 4]
    without = [n for n, one in enumerate(ROWS["train"]) if all(len(words(c)) > 4 for c in one.captions)]
    assert len(long) > 20
    assert len(without) >= 2
    dropped = {"captions longer than 4 tokens": len(long), "images without captions": len(without)}
    assert data.describe()["splits"]["train"]["dropped"] == dropped
    assert not any("dropped" in data.describe()["splits"][name] for name in ("val", "test"))
    assert f"left out {len(long)} captions longer than 4 tokens, {len(without)} images" in caplog.text
    assert data.sizes == {**SIZES, "train": SIZES["train"] - len(without)}
    kept = [n for n in range(SIZES["train"]) if n not in without]
    for batch in data.train_dataloader():
        for b, number in enumerate(batch.index.tolist()):
            captions = [text_of(c) for c in ROWS["train"][kept[number]].captions]
            assert data.encoder.text(batch.target[b]) in captions
            assert batch.image[batch.picture[b], 0, 0, 0] == kept[number]
    assert data.spec.longest_target > 6
    assert prepared(Toy(text={"max_length": None})).describe()["splits"]["train"].get("dropped", {}) == {}


def test_the_vocabulary_is_of_the_training_captions(cache_dir):
    rows = rows_of(SIZES)
    rows["test"].append(rows["test"][0]._replace(captions=("a zebra",), boxes=((),)))
    data = prepared(Toy(rows, text={"minimum_frequency": 78}))
    counts = Counter(word for one in ROWS["train"] for c in one.captions for word in data.encoder.words(c))
    expected = sorted((w for w in counts if counts[w] >= 78), key=lambda w: (-counts[w], w))
    assert data.encoder.vocabulary.state() == expected
    assert 2 < len(expected) < len(counts)
    few = prepared(Toy(rows, text={"minimum_frequency": 78, "vocabulary_size": 6}))
    assert few.encoder.vocabulary.state() == expected[:2]
    tested = [word for one in rows["test"] for c in one.captions for word in data.encoder.words(c)]
    rate = np.mean([word not in expected for word in tested])
    assert data.describe()["splits"]["test"]["unknown_rate"] == pytest.approx(rate)


def changed(split, number, **change):
    rows = rows_of(SIZES)
    rows[split][number] = rows[split][number]._replace(**change)
    return rows


def test_blank_captions(cache_dir):
    """Counted in training files, errors in the others."""
    rows = changed("train", 3, captions=("", "a red dog"), boxes=((), ()))
    rows["train"][4] = rows["train"][4]._replace(captions=(" ",), boxes=((),))
    data = prepared(Toy(rows))
    assert data.describe()["splits"]["train"]["dropped"] == {"empty captions": 2, "images without captions": 1}
    assert data.sizes["train"] == SIZES["train"] - 1
    rows = changed("val", 3, captions=("", "a red dog"), boxes=((), ()))
    with pytest.raises(DataError, match=r"val\.csv, line 5: no text: a caption of val-3\.png is empty"):
        Toy(rows).prepare_data()
    skipping = prepared(Toy(rows, loader={"on_bad_row": "skip"}))
    assert skipping.describe()["skipped"] == {"no text": 1}
    assert skipping.sizes == SIZES
    with pytest.raises(DataError, match=r"test\.csv, line 2: no caption: test-0\.png has none"):
        Toy(changed("test", 0, captions=(), boxes=())).prepare_data()
    with pytest.raises(DataError, match=r"train\.csv, line 2: NUL byte"):
        Toy(changed("train", 0, captions=("a\0b",), boxes=((),))).prepare_data()


def test_nothing_left_to_train_on(cache_dir):
    with pytest.raises(DataError, match=r"toys: no captions are left to train on; .*longer than 1 tokens.*max_length"):
        Toy({**ROWS, "train": [one._replace(captions=("a b",), boxes=((),)) for one in ROWS["train"]]},
            text={"max_length": 1}).prepare_data()  # fmt: skip
    with pytest.raises(DataError, match="toys: no images in the val split"):
        Toy({**ROWS, "val": []}).prepare_data()
    with pytest.raises(DataError, match=r"toys: no token occurs 5000 times in \d+ training captions"):
        Toy(text={"minimum_frequency": 5000}).prepare_data()
    assert not [file for file in (cache_dir / "toy").iterdir() if file.suffix != ".lock"]


def test_missing_splits_are_drawn_image_by_image(cache_dir):
    data = prepared(Toy({"train": ROWS["train"]}))
    assert data.sizes == {"train": 32, "val": 4, "test": 4}
    seen = set()
    for loader in loaders(data).values():
        own = {int(pixels[0, 0, 0]) for batch in loader for pixels in batch.image}
        assert not seen & own
        seen |= own
    assert seen == set(range(40))


def test_the_same_picture_in_two_splits_is_noted(cache_dir, tmp_path):
    rows = changed("test", 1, picture=ROWS["train"][5].picture)
    rows["test"][2] = rows["test"][2]._replace(picture=ROWS["val"][0].picture)
    notes = prepared(Toy(rows)).describe()["notes"]
    assert notes == ["test: 1 of 7 images are in train too", "test: 1 of 7 images are in val too"]
    files = rows_of(SIZES, tmp_path)
    copy = tmp_path / "copy.png"
    copy.write_bytes(files["train"][5].picture.read_bytes())
    files["val"][0] = files["val"][0]._replace(picture=copy)
    assert prepared(Toy(files)).describe()["notes"] == ["val: 1 of 9 images are in train too"]
