"""data=scenes: from generated pictures to batches, and to files."""

import csv

import numpy as np
import pytest
import torch
from PIL import Image

from tests.data.serving import prepared
from zoo.data.images.own import OwnCaptions
from zoo.data.images.samples import scenes
from zoo.data.images.samples.grammar import read
from zoo.data.images.scenes import Scenes
from zoo.data.images.truth import cells
from zoo.errors import ConfigError, DataError

SIZES = {"train": 40, "val": 12, "test": 10}
TEXT = {"tokenizer": "whitespace"}


def small(**options):
    options["sample"] = SIZES | options.get("sample", {})
    return Scenes(text=TEXT, **options)


def test_rows_are_the_scenes():
    made = iter(scenes.scenes(range(sum(SIZES.values())), seed=1))
    for split, rows_of in small().open_source().splits.items():
        rows = list(rows_of(None))
        assert len(rows) == SIZES[split]
        for number, (row, scene) in enumerate(zip(rows, made, strict=False), 1):
            assert (row.name, row.facts) == (f"{split} {number}", scene.facts)
            assert np.array_equal(row.picture, scene.pixels)
            assert row.captions == tuple(scene.captions)
            assert row.place == f"the sample, {split}, scene {number}"


@pytest.mark.parametrize("tokenizer", ["words", "bpe", "unigram", "characters"])
def test_tokens_of_any_kind_are_aligned(cache_dir, tokenizer):
    """A token has the box of the words that it shares a letter with."""
    text = {"tokenizer": tokenizer, "vocabulary_size": 60, "max_length": None}
    data = prepared(Scenes(text=text, sample=SIZES, loader={"batch_size": 3}))
    assert data.sizes == SIZES and data.spec.grid == (8, 8)
    assert len(next(iter(data.train_dataloader()))) == 9  # three captions of each image
    cut = 0
    for batch in data.test_dataloader():
        count = dict.fromkeys(batch.index.tolist(), 0)
        for b, number in enumerate(batch.index.tolist()):
            about = batch.about[batch.picture[b]]
            caption = about.captions[count[number]]
            count[number] += 1
            letters = np.zeros((len(caption), 64), bool)
            end = caption.index(read(caption).first.shape) + len(read(caption).first.shape)
            for kind, thing, first in zip(read(caption)[::2], about.facts["objects"], (0, end), strict=False):
                for word in kind.words:
                    at = caption.index(word, first)
                    letters[at : at + len(word)] = cells([thing["box"]], (8, 8))
            spans = data.encoder.target_tokenizer.spans(caption)
            cut += len(spans) != len(caption.split())
            assert len(spans) == int(batch.target_mask[b].sum()) - 1
            expected = [letters[begin:end].any(0).tolist() for begin, end in spans]
            assert batch.alignment[b, : len(spans)].tolist() == expected
            assert not batch.alignment[b, len(spans) :].any()
    assert cut > 5 or tokenizer == "words"


def test_the_size_of_pictures(cache_dir):
    data = prepared(small(size=32, grid=(4, 4)))
    batch = next(iter(data.val_dataloader()))
    assert batch.image.shape[1:] == (3, 32, 32) and batch.alignment.shape[2] == 16
    assert data.encoder.pixels(np.zeros((70, 50, 3), np.uint8)).shape == (3, 32, 32)
    with pytest.raises(ConfigError, match=r"data\.size=0: expected a whole number from 1 on"):
        small(size=0)


def test_scenes_as_files_are_data_of_your_own(cache_dir, tmp_path):
    folder = tmp_path / "new" / "folder"
    written = small().write(folder)
    assert written == [folder / "captions.csv", *(folder / split for split in SIZES)]
    table = list(csv.DictReader((folder / "captions.csv").open()))
    assert len(table) == 5 * sum(SIZES.values())
    made = scenes.scenes(range(62), seed=1)
    assert np.array_equal(np.asarray(Image.open(folder / table[200]["file"])), made[40].pixels)
    assert [row["caption"] for row in table[200:205]] == made[40].captions
    assert table[200]["split"] == "val"
    with pytest.raises(DataError, match=r"folder: is not empty, and stays as it is"):
        small().write(folder)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["folder"]
    own = prepared(OwnCaptions(path=str(folder), picture={"size": 64}, grid=(8, 8), text=TEXT))
    ours = prepared(small())
    assert own.sizes == SIZES
    batches = [next(iter(data.test_dataloader())) for data in (own, ours)]
    assert torch.equal(batches[0].image, batches[1].image)
    assert torch.equal(batches[0].target, batches[1].target)
