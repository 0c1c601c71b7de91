"""NLVR: true sentences as captions, one split for all that belongs together, and the counts of the real files."""

import json
from zlib import crc32

import numpy as np
import pytest
import torch
from PIL import Image

from tests.data.serving import prepared
from zoo.data.images.nlvr import OFFICIAL, Nlvr
from zoo.data.rows import BadRows
from zoo.errors import ConfigError, DataError

BLUE, BLACK, YELLOW = "#0099ff", "Black", "Yellow"


def thing(colour, y=80):
    return {"x_loc": 40, "y_loc": y, "type": "square", "color": colour, "size": 20}


def record(identifier, sentence, label="true", boxes=([], [], [])):
    return {"identifier": identifier, "sentence": sentence, "label": label, "structured_rep": list(boxes)}


def of(number):
    """A picture's three boxes, which differ for each number."""
    return [[thing(BLUE, number)], [thing(BLACK)], []]


def write(root, official, records):
    """The official files of some records; a picture's pixels follow from its boxes, as in the corpus."""
    folder = root / "nlvr" / official
    (folder / "images" / "0").mkdir(parents=True, exist_ok=True)
    for one in records:
        draw = np.random.default_rng(crc32(json.dumps(one["structured_rep"], sort_keys=True).encode()))
        pixels = np.full((100, 400, 4), 255, np.uint8)
        pixels[..., :3] = draw.integers(0, 255, (1, 4, 3)).repeat(100, 1)
        Image.fromarray(pixels).save(folder / "images" / "0" / f"{official}-{one['identifier']}-0.png")
    (folder / f"{official}.json").write_text("".join(json.dumps(one) + "\n" for one in records))


@pytest.fixture
def root(tmp_path):
    """Ten groups of two different records in each split."""
    for part, official in enumerate(OFFICIAL):
        numbers = range(1000 * part, 1000 * part + 20)
        write(tmp_path, official, [record(f"{n // 2}-{n % 2}", f"Group {n // 2}.", boxes=of(n)) for n in numbers])
    return tmp_path


def splits(root, bad=None, **arguments):
    source = Nlvr(path=str(root), **arguments).open_source()
    bad = bad or BadRows()
    return {name: list(read(bad)) for name, read in source.splits.items()}


def test_hidden_and_test_are_trained_on_and_dev_is_halved_by_group(root):
    found = splits(root)
    assert {name: len(rows) for name, rows in found.items()} == {"train": 40, "val": 10, "test": 10}
    groups = {name: {row.captions for row in rows} for name, rows in found.items()}
    assert not groups["val"] & groups["test"] and len(groups["val"]) == len(groups["test"]) == 5
    assert {row.name.split("-")[0] for row in found["train"]} == {"hidden", "test"}
    assert splits(root / "nlvr") == found  # and always the same


def test_a_picture_has_all_its_true_sentences(root):
    one_picture = [record("1-0", "One."), record("2-0", "Two."), record("3-0", "One."), record("4-0", "No.", "false")]
    write(root, "hidden", [*one_picture, record("5-1", "False.", "false", of(1))])
    found = [row for row in splits(root)["train"] if row.name.startswith("hidden")]
    assert [(row.name, row.captions) for row in found] == [("hidden-1-0-0.png", ("One.", "Two."))]


def test_dev_without_pictures_of_training(root):
    """A picture of training with its boxes in another order takes its group, and all equal pictures, out of dev."""
    boxes = [[thing(BLUE), thing(YELLOW, 9)], [thing(BLACK)], []]
    write(root, "hidden", [record("1-0", "In training.", boxes=boxes)])
    shuffled = [[], [thing(BLACK)], [thing(YELLOW, 9), thing(BLUE)]]
    dev = [("2000-0", "Like it.", shuffled), ("2000-1", "Of its group.", of(5)), ("2001-0", "Like that.", of(5))]
    dev += [("2002-0", "Apart.", of(6)), ("2003-0", "Apart, too.", of(7))]
    write(root, "dev", [record(identifier, sentence, boxes=boxes) for identifier, sentence, boxes in dev])
    captions = {name: [caption for row in rows for caption in row.captions] for name, rows in splits(root).items()}
    assert set(captions["train"]) >= {"In training.", "Like it.", "Of its group.", "Like that."}
    assert sorted(captions["val"] + captions["test"]) == ["Apart, too.", "Apart."]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"label": "maybe"}, "unknown label: found 'maybe', expected 'true' or 'false'"),
        ({"sentence": None}, "no text: 'sentence' is None"),
        ({"structured_rep": [["square"]]}, "no boxes: 'structured_rep' is .*square.*, expected 3 lists"),
        ({"identifier": "77-0"}, "missing picture: there is no dev-77-0-0.png in .*images or a folder of it"),
    ],
)
def test_unusable_records(root, changed, message):
    file = root / "nlvr" / "dev" / "dev.json"
    lines = file.read_text().splitlines()
    lines[2] = json.dumps(json.loads(lines[2]) | changed)
    file.write_text("\n".join(lines))
    with pytest.raises(DataError, match=f"dev.json, line 3: {message}"):
        splits(root)
    bad = BadRows("skip")
    assert sum(map(len, splits(root, bad).values())) == 59 and bad.total == 1


def test_other_folders(root, tmp_path):
    (tmp_path / "other" / "a").mkdir(parents=True)
    with pytest.raises(DataError, match=r"other: found a/; expected: the folder `nlvr` of the official repository"):
        Nlvr(path=str(tmp_path / "other")).open_source()
    (root / "nlvr" / "hidden" / "hidden.json").unlink()
    with pytest.raises(DataError, match=r"hidden.json: file not found; expected the folder"):
        Nlvr(path=str(root)).open_source()


def test_boxes_are_shuffled_in_training_only(root, cache_dir):
    data = prepared(Nlvr(path=str(root)))
    assert (data.grid, data.batches) == ((4, 16), "pictures")
    part = data.part("train")
    plain = part.pictures[[0]][0]
    assert plain.shape == (3, 100, 400)
    boxes = [plain[:, :, at : at + 100] for at in (0, 150, 300)]
    orders = set()
    for picture in (part.pictures.changed([0], epoch)[0] for epoch in range(40)):
        parts = [picture[:, :, at : at + 100] for at in (0, 150, 300)]
        orders.add(tuple([torch.equal(one, box) for box in boxes].index(True) for one in parts))
        assert torch.equal(picture[:, :, 100:150], plain[:, :, 100:150])
    assert len(orders) == 6
    assert torch.equal(part.pictures.changed([3, 0], 7)[1], part.pictures.changed([0], 7)[0])
    still = prepared(Nlvr(path=str(root), shuffle_boxes=False))
    assert torch.equal(still.part("train").pictures.changed([0], 3)[0], plain)
    for moved in ({"size": [50, 200]}, {"size": [100, 400], "resize": 120, "random_crop": True}):
        with pytest.raises(ConfigError, match=r"data.shuffle_boxes=true .* set data.shuffle_boxes=false"):
            Nlvr(path=str(root), picture=moved)


def test_new_pictures_are_noticed(root):
    data = Nlvr(path=str(root))
    before = data.open_source().identity
    next(root.glob("**/dev-1000-0-0.png")).unlink()
    assert data.open_source().identity != before


def test_the_official_files(shared_data, cache_dir):
    """Counts as in PROVENANCE.md beside them."""
    folder = shared_data / "nlvr"
    if not folder.is_dir():
        pytest.skip("no NLVR beside the clone (../shared/data/nlvr)")
    data = prepared(Nlvr(path=str(folder)))
    about = data.describe()
    assert data.sizes == {"train": 1133, "val": 269, "test": 237}
    # 1,649 records are true, and one sentence occurs twice with one picture
    assert sum(split["captions"] for split in about["splits"].values()) == 1648
    assert data.spec.target_size < 200
    assert about["notes"] == [
        "val: 79 of 269 sentences are in train too",
        "test: 36 of 237 sentences are in train too",
        "test: 10 of 237 sentences are in val too",
    ]
    batch = next(iter(data.val_dataloader()))
    assert batch.image.shape[1:] == (3, 100, 400) and batch.memory_mask.shape[1] == 4 * 16
