"""What all data of images and captions share: batches of both orders, filters, splits, cache, description."""

import json
import logging
import pickle
from collections import Counter

import numpy as np
import pytest
import torch

from tests.data.images.toy import SIDE, SIZES, Toy, colour, loaders, prepared, row, rows_of, text_of
from zoo.data.images.batch import ImageBatch
from zoo.data.images.boxes import cells
from zoo.data.images.pictures import PictureWriter, StoredPictures
from zoo.data.images.row import ImageRow
from zoo.errors import ConfigError, DataError

ROWS = rows_of(SIZES)


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """A folder for prepared data that no test changes."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def shared(once, monkeypatch):
    """Data are prepared once for all tests that take this."""
    monkeypatch.setenv("ZOO_CACHE", str(once))


ORDERS = [{"batches": "pictures", "captions_per_image": 2}, {"batches": "pictures"}, {"batches": "lengths"}]


def check(batch, split, data):
    """Each row of a batch is a caption of its image, of which the pixels are there once."""
    assert isinstance(batch, ImageBatch)
    images = batch.index[[batch.picture.tolist().index(i) for i in range(len(batch.image))]].tolist()
    assert len(set(images)) == len(batch.image) == int(batch.picture.max()) + 1
    assert batch.image.dtype == torch.uint8
    for number, pixels in zip(images, batch.image, strict=True):
        assert torch.equal(
            pixels, torch.tensor(colour(split, number), dtype=torch.uint8)[:, None, None].expand(3, *SIDE)
        )
    for b, number in enumerate(batch.index.tolist()):
        assert images[batch.picture[b]] == number
        written = data.encoder.text(batch.target[b])
        assert written in [text_of(caption) for caption in ROWS[split][number].captions]
        yield number, written
    assert torch.equal(batch.target_input[:, 1:], batch.target[:, :-1])
    assert (batch.target_input[:, 0] == data.spec.begin).all()


@pytest.mark.parametrize("order", ORDERS)
def test_batches_hold_captions_with_their_images(shared, order):
    data = prepared(Toy(**order, loader={"batch_size": 7}))
    assert data.tasks == ("captioning",)
    assert data.sizes == SIZES
    for split, loader in loaders(data).items():
        seen = []
        for batch in loader:
            found = list(check(batch, split, data))
            if split != "train" or order["batches"] == "pictures":
                assert len(batch.image) <= 7
            else:
                assert len(batch) <= 7
                assert len(set(batch.target_mask.sum(1).tolist())) == 1
            assert (batch.about is None) == (batch.alignment is None) == (split == "train")
            seen += found
        expected = [(number, text_of(caption)) for number, row in enumerate(ROWS[split]) for caption in row.captions]
        if split == "train" and "captions_per_image" in order:
            assert not Counter(seen) - Counter(expected)
            count = Counter(number for number, _ in seen)
            assert count == {n: min(2, len(row.captions)) for n, row in enumerate(ROWS["train"])}
        else:
            assert Counter(seen) == Counter(expected)


def test_an_image_with_many_captions_in_a_batch_stands_there_once(shared):
    data = prepared(Toy(batches="lengths", loader={"batch_size": 100}))
    assert any(len(batch.image) < len(batch) for batch in data.train_dataloader())


def test_evaluation_knows_all_of_an_image(shared):
    data = prepared(Toy(loader={"batch_size": 4}))
    seen = []
    for batch in data.test_dataloader():
        each = batch.each_image()
        assert each.target is None
        for about, number in zip(each.about, each.index.tolist(), strict=True):
            row = ROWS["test"][number]
            assert (about.name, about.captions, about.facts) == (row.name, row.captions, {"number": number})
            rows = batch.index == number
            assert int(rows.sum()) == len(row.captions)
            seen.append(number)
    assert sorted(seen) == list(range(SIZES["test"]))
    first = next(iter(data.test_dataloader())).first(2)
    assert len(first.image) == 2  # of different images


def test_words_are_aligned_with_the_cells_of_their_boxes(shared):
    """On 2 x 3 cells: the first word of each caption with the upper left one, the last with all."""
    data = prepared(Toy(loader={"batch_size": 4}))
    left = torch.tensor([True, False, False, False, False, False])
    for batch in data.val_dataloader():
        assert batch.alignment.shape == (*batch.target.shape, 6)
        for b in range(len(batch)):
            tokens, found = data.encoder.decode(batch.target[b]), batch.alignment[b]
            words = text_of(ROWS["val"][int(batch.index[b])].captions[0]).split()
            assert words  # its own captions are checked above; here the places count
            pieces = ["it", "'s"] if tokens[:2] == ["it", "'s"] else tokens[:1]
            last = ["it", "'s"] if tokens[-2:] == ["it", "'s"] else tokens[-1:]
            expected = torch.zeros(len(found), 6, dtype=torch.bool)
            expected[: len(pieces)] = left
            expected[len(tokens) - len(last) : len(tokens)] = True
            assert torch.equal(found, expected)


@pytest.mark.parametrize("tokenizer", ["bpe", "unigram", "characters", "whitespace"])
def test_alignment_is_of_tokens_of_any_kind(cache_dir, tokenizer):
    """A token has the boxes of the words that it shares a letter with."""
    data = prepared(Toy(text={"tokenizer": tokenizer, "vocabulary_size": 60, "max_length": None}))
    cut = 0
    for batch in data.test_dataloader():
        count = dict.fromkeys(batch.index.tolist(), 0)
        for b, number in enumerate(batch.index.tolist()):
            row, nth = ROWS["test"][number], count[number]
            count[number] += 1
            spans = data.encoder.target_tokenizer.spans(row.captions[nth])
            assert len(spans) == int(batch.target_mask[b].sum()) - 1
            cut += len(spans) != len(row.captions[nth].split())
            for position, (begin, end) in enumerate(spans):
                boxes = [word.box for word in row.boxes[nth] if max(begin, word.begin) < min(end, word.end)]
                expected = cells(boxes, (2, 3)).any(0) if boxes else np.zeros(6, bool)
                assert batch.alignment[b, position].tolist() == expected.tolist()
            assert not batch.alignment[b, len(spans) :].any()
    assert cut > 5 or tokenizer == "whitespace"


def test_the_spec(shared):
    data = prepared(Toy())
    spec = data.spec
    assert (spec.channels, spec.height, spec.width, spec.grid, spec.encoded) == (3, *SIDE, (2, 3), False)
    assert (spec.padding, spec.unknown, spec.begin, spec.end) == (0, 1, 2, 3)
    assert spec.target_size == len(data.encoder.vocabulary)
    longest = max(len(data.encoder.words(c)) for rows in ROWS.values() for one in rows for c in one.captions)
    assert spec.longest_target == longest + 1
    batches = [batch for loader in loaders(data).values() for batch in loader]
    assert max(batch.target.shape[1] for batch in batches) == spec.longest_target


# ranks, resume, workers


@pytest.mark.parametrize("world", [1, 2, 3])
@pytest.mark.parametrize("order", [*ORDERS, {"batches": "lengths", "max_tokens": 80}])
def test_ranks_share_every_epoch(shared, monkeypatch, order, world):
    order = dict(order)
    limit = {"max_tokens": order.pop("max_tokens")} if "max_tokens" in order else {"batch_size": 9}
    data = prepared(Toy(**order, loader=limit))
    monkeypatch.setattr(Toy, "_world_size", world)
    for epoch in range(2):
        seen, steps = [], set()
        for rank in range(world):
            monkeypatch.setattr(Toy, "_rank", rank)
            loader = data.train_dataloader()
            loader.batch_sampler.set_epoch(epoch)
            batches = list(loader)
            steps.add(len(batches))
            for batch in batches:
                seen += [number for number, _ in check(batch, "train", data)]
        assert len(steps) == 1
        each = order.get("captions_per_image", 6)
        assert Counter(seen) == {n: min(each, len(row.captions)) for n, row in enumerate(ROWS["train"])}
    for split in ("val", "test"):
        seen = []
        for rank in range(world):
            monkeypatch.setattr(Toy, "_rank", rank)
            for batch in data.val_dataloader() if split == "val" else data.test_dataloader():
                seen += check(batch, split, data)
        assert len(seen) == len(set(seen)) or sorted(n for n, _ in seen) == sorted(
            n for n, row in enumerate(ROWS[split]) for _ in row.captions
        )


@pytest.mark.parametrize("order", ORDERS)
def test_a_resume_goes_on_where_the_epoch_stood(shared, order):
    data = prepared(Toy(**order, loader={"batch_size": 9, "seed": 3}))

    def epoch(number, done=0):
        loader = data.train_dataloader()
        loader._batches_done = lambda: done
        loader.batch_sampler.set_epoch(number)
        return [(batch.index.tolist(), batch.target.tolist()) for batch in loader]

    assert epoch(1, done=2) == epoch(1)[2:]
    assert epoch(1) != epoch(0)


def test_a_resume_with_other_batches_is_an_error(shared):
    before = prepared(Toy(batches="pictures", captions_per_image=2, loader={"batch_size": 9})).train_dataloader()
    data = prepared(Toy(batches="pictures", captions_per_image=3, loader={"batch_size": 9}))
    loader = data.train_dataloader()
    loader.load_state_dict(before.state_dict())
    loader._batches_done = lambda: 2
    with pytest.raises(DataError, match="captions_per_image 2 -> 3"):
        next(iter(loader))


def test_workers_make_the_same_batches(shared):
    def epoch(workers):
        data = prepared(Toy(batches="pictures", captions_per_image=2, loader={"num_workers": workers}))
        loader = data.train_dataloader()
        loader.batch_sampler.set_epoch(1)
        return [(batch.index.tolist(), batch.target.tolist(), batch.image.tolist()) for batch in loader]

    assert epoch(2) == epoch(0)


def test_the_pictures_stay_on_the_disk(tmp_path):
    """Also where they go to another process: it maps the file itself."""
    pixels = np.random.default_rng(0).integers(0, 256, (200, 16, 20, 3)).astype(np.uint8)
    with PictureWriter(tmp_path / "pixels") as writer:
        assert [writer.add(picture) for picture in pixels] == list(range(200))
        with pytest.raises(ValueError, match=r"\(3, 8, 20\) uint8, expected \(3, 16, 20\)"):
            writer.add(pixels[0, :8])
    stored = StoredPictures(tmp_path / "pixels", (3, 16, 20))
    sent = pickle.dumps(stored)
    assert len(sent) < 1000
    for pictures in (stored, pickle.loads(sent)):
        assert len(pictures) == 200
        found = pictures[[7, 3, 7]]
        assert torch.equal(found, torch.tensor(pixels[[7, 3, 7]]).permute(0, 3, 1, 2))
        assert torch.equal(pictures.changed([4], 9), pictures[[4]])
        found[:] = 0  # a copy
        assert torch.equal(pictures[[7]][0], torch.tensor(pixels[7]).permute(2, 0, 1))


def test_pictures_in_files_are_read_on_the_fly(cache_dir, tmp_path):
    rows = rows_of(SIZES, tmp_path)
    data = prepared(Toy(rows, loader={"batch_size": 5}))
    assert not list(cache_dir.rglob("*.bin"))
    for split, loader in loaders(data).items():
        for batch in loader:
            assert batch.alignment is None
            list(check(batch, split, data))
    assert data.spec.height, data.spec.width == SIDE
    larger = prepared(Toy(rows, picture={"size": [8, 12]}))
    assert next(iter(larger.val_dataloader())).image.shape[1:] == (3, 8, 12)


# cache, description, errors


def test_prepared_once_for_the_same_options(cache_dir, caplog):
    def runs(**options):
        caplog.clear()
        with caplog.at_level(logging.INFO, "zoo"):
            prepared(Toy(**options))
        return "preparing" in caplog.text

    assert runs()
    assert not runs()
    assert not runs(loader={"batch_size": 3, "seed": 5})
    assert not runs(batches="pictures", captions_per_image=1)
    assert not runs(grid=(3, 3))
    assert runs(text={"max_length": 7})
    assert runs(text={"punctuation": True})
    assert runs(loader={"on_bad_row": "skip"})


def test_the_grid_is_that_of_the_run_and_not_of_the_cache(shared):
    for grid in ((2, 3), (4, 4)):
        data = prepared(Toy(grid=grid))
        batch = next(iter(data.val_dataloader()))
        assert (batch.grid, data.spec.grid, data.encoder.grid) == (grid, grid, grid)
        assert batch.alignment.shape[2] == grid[0] * grid[1]


def test_description(shared):
    data = prepared(Toy())
    facts = data.describe()
    json.dumps(facts)
    assert facts["source"] == data.source_description == "toys: 56 images"
    train = facts["splits"]["train"]
    lengths = [len(data.encoder.words(c)) for one in ROWS["train"] for c in one.captions]
    assert (train["images"], train["captions"]) == (40, len(lengths))
    assert train["caption_tokens"]["mean"] == pytest.approx(np.mean(lengths), abs=0.005)
    assert train["unknown_rate"] == 0
    assert facts["examples"][0] == {"image": "train-0.png", "captions": " | ".join(ROWS["train"][0].captions)}
    assert facts["contents"] == [
        f"a vocabulary of {data.spec.target_size} tokens",
        "pixels of 3 x 4 x 6, cells of 2 x 3",
    ]
    assert facts["notes"] == []


def test_damaged_and_missing_preparations(cache_dir):
    with pytest.raises(DataError, match="not prepared yet: call prepare_data"):
        Toy().setup()
    prepared(Toy())
    next(cache_dir.rglob("encoder.json")).write_text("{")
    with pytest.raises(DataError, match=r"the prepared data is damaged .* delete this folder and run again"):
        prepared(Toy())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batches": "picture"}, r"data\.batches=picture: .*pictures"),
        ({"batches": "lengths", "captions_per_image": 2}, r"data\.captions_per_image=2 draws .* set it to null"),
        ({"batches": "pictures", "captions_per_image": 0}, r"data\.captions_per_image=0: expected .* found 0"),
        ({"batches": "pictures", "loader": {"max_tokens": 9}}, r"data\.loader\.max_tokens=9 counts tokens.*batch_size"),
        ({"grid": (2,)}, r"data\.grid=\[2\]: expected a list \[rows,columns\] of two"),
        ({"grid": (2, 0)}, r"data\.grid=\[2, 0\]: expected"),
        ({"text": {"max_len": 3}}, r"data\.text\.max_len: there is no such key; .*max_length"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(ConfigError, match=message):
        Toy(**options)


def test_a_picture_may_be_of_any_file_name(cache_dir, tmp_path):
    folder = tmp_path / "Bilder für uns"
    folder.mkdir()
    rows = {split: [row(split, number, folder) for number in range(4)] for split in SIZES}
    assert all(isinstance(one, ImageRow) for one in rows["train"])
    assert next(iter(prepared(Toy(rows)).val_dataloader())).image.shape[0] == 4
