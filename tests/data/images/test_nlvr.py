"""NLVR: true sentences as captions; what belongs together is in one split; the real files and their counts."""

import json
from collections import defaultdict
from zlib import crc32

import numpy as np
import pytest
import torch
from PIL import Image

from zoo.data.images.nlvr import OFFICIAL, Nlvr
from zoo.data.rows import BadRows
from zoo.errors import ConfigError, DataError

BLUE, BLACK, YELLOW = "#0099ff", "Black", "Yellow"


def thing(colour, y=80):
    return {"x_loc": 40, "y_loc": y, "type": "square", "color": colour, "size": 20}


def record(identifier, sentence, label="true", boxes=([], [], [])):
    return {"identifier": identifier, "sentence": sentence, "label": label, "structured_rep": list(boxes)}


def of(number):
    """A picture's three boxes, others for each number."""
    return [[thing(BLUE, number)], [thing(BLACK)], []]


def write(root, official, records):
    """The official files of some records; a picture's pixels follow from its boxes, as they do there."""
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
    """Ten groups of two records in each split, no two of which are alike."""
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


def test_false_sentences_are_no_captions(root):
    write(root, "hidden", [record("1-0", "True."), record("1-1", "False.", "false", of(1))])
    assert [row.captions for row in splits(root)["train"] if row.name.startswith("hidden")] == [("True.",)]


def test_one_picture_has_all_its_sentences(root):
    alike = [record("1-0", "One."), record("2-0", "Two."), record("3-0", "One."), record("4-0", "No.", "false")]
    write(root, "hidden", alike)
    found = [row for row in splits(root)["train"] if row.name.startswith("hidden")]
    assert [(row.name, row.captions) for row in found] == [("hidden-1-0-0.png", ("One.", "Two."))]


def test_what_is_alike_in_dev_and_training_is_trained_on(root):
    """A picture of training in another order of its boxes takes its group, and all that is like those, out of dev."""
    boxes = [[thing(BLUE), thing(YELLOW, 9)], [thing(BLACK)], []]
    write(root, "hidden", [record("1-0", "In training.", boxes=boxes)])
    shuffled = [[], [thing(BLACK)], [thing(YELLOW, 9), thing(BLUE)]]
    dev = [
        record("2000-0", "Like it.", boxes=shuffled),
        record("2000-1", "Of its group.", boxes=of(5)),
        record("2001-0", "Like that.", boxes=of(5)),
        record("2002-0", "Apart.", boxes=of(6)),
        record("2003-0", "Apart, too.", boxes=of(7)),
    ]
    write(root, "dev", dev)
    found = splits(root)
    told = {name: [caption for row in rows for caption in row.captions] for name, rows in found.items()}
    assert set(told["train"]) >= {"In training.", "Like it.", "Of its group.", "Like that."}
    assert sorted(told["val"] + told["test"]) == ["Apart, too.", "Apart."]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"label": "maybe"}, "unknown label: found 'maybe', expected 'true' or 'false'"),
        ({"sentence": None}, "no text: 'sentence' is None"),
        ({"structured_rep": None}, "no boxes: 'structured_rep' is None, expected 3 lists"),
        ({"structured_rep": [["square"]]}, "no boxes: 'structured_rep' is .*square.*, expected 3 lists"),
        ({"identifier": "77-0"}, "missing picture: there is no dev-77-0-0.png in .*images or a folder of it"),
    ],
)
def test_records_that_cannot_be_used(root, changed, said):
    file = root / "nlvr" / "dev" / "dev.json"
    lines = file.read_text().splitlines()
    lines[2] = json.dumps(json.loads(lines[2]) | changed)
    file.write_text("\n".join(lines))
    with pytest.raises(DataError, match=f"dev.json, line 3: {said}"):
        splits(root)
    bad = BadRows("skip")
    assert sum(map(len, splits(root, bad).values())) == 59 and bad.total == 1


def test_what_is_no_folder_of_nlvr(root, tmp_path):
    with pytest.raises(ConfigError, match=r"data.path is empty; expected: the folder `nlvr`"):
        Nlvr(path="").open_source()
    (tmp_path / "other" / "a").mkdir(parents=True)
    with pytest.raises(DataError, match=r"other: found a/; expected: the folder `nlvr` of the official repository"):
        Nlvr(path=str(tmp_path / "other")).open_source()
    (root / "nlvr" / "hidden" / "hidden.json").unlink()
    with pytest.raises(DataError, match=r"hidden.json: there is no such file; expected the folder"):
        Nlvr(path=str(root)).open_source()


def test_boxes_are_shuffled_in_training_alone(root, cache_dir):
    data = Nlvr(path=str(root))
    data.prepare_data()
    data.setup()
    part = data.part("train")
    plain = part.pictures[[0]][0]
    assert plain.shape == (3, 100, 400)
    seen = [part.pictures.changed([0], epoch)[0] for epoch in range(40)]
    boxes = [plain[:, :, at : at + 100] for at in (0, 150, 300)]
    orders = set()
    for picture in seen:
        order = tuple(
            next(n for n, box in enumerate(boxes) if torch.equal(box, picture[:, :, at : at + 100]))
            for at in (0, 150, 300)
        )
        orders.add(order)
        assert torch.equal(picture[:, :, 100:150], plain[:, :, 100:150])
    assert len(orders) == 6
    assert torch.equal(part.pictures.changed([3, 0], 7)[1], part.pictures.changed([0], 7)[0])
    still = Nlvr(path=str(root), shuffle_boxes=False)
    still.prepare_data()
    still.setup()
    assert torch.equal(still.part("train").pictures.changed([0], 3)[0], plain)
    with pytest.raises(ConfigError, match=r"data.shuffle_boxes=true .* set data.shuffle_boxes=false"):
        Nlvr(path=str(root), picture={"size": [50, 200]})
    with pytest.raises(ConfigError, match=r"data.picture.resize .* set data.shuffle_boxes=false"):
        Nlvr(path=str(root), picture={"size": [100, 400], "resize": 120, "random_crop": True})  # boxes stand elsewhere


def test_pictures_that_come_later_are_noticed(root):
    def folder(**picture):
        data = Nlvr(path=str(root), loader={"on_bad_row": "skip"}, picture={"size": [100, 400], **picture})
        return data._folder(data.open_source())

    whole = folder()
    (picture,) = root.glob("**/dev-1000-0-0.png")
    held = picture.read_bytes()
    picture.unlink()
    assert folder() != whole
    picture.write_bytes(held)
    assert folder() == whole == folder(flip=True) != folder(max_pixels=50_000)


def test_the_official_files(shared_data, cache_dir):
    """Counts by PROVENANCE.md beside them; no picture, no group and no likeness in two splits."""
    folder = shared_data / "nlvr"
    if not folder.is_dir():
        pytest.skip("no NLVR beside the clone (../shared/data/nlvr)")
    data = Nlvr(path=str(folder))
    data.prepare_data()
    data.setup()
    about = data.describe()
    assert data.sizes == {"train": 1133, "val": 269, "test": 237}
    records = {
        f"{official}-{one['identifier']}-0.png": one
        for official in OFFICIAL
        for one in map(json.loads, (folder / "nlvr" / official / f"{official}.json").read_text().splitlines())
    }
    assert sum(one["label"] == "true" for one in records.values()) == 1649
    held, likeness = defaultdict(set), defaultdict(set)
    captions = 0
    for split, size in data.sizes.items():
        for one in data.part(split).about(np.arange(size)):
            boxes = records[one.name]["structured_rep"]
            held[records[one.name]["identifier"].split("-")[0]].add(split)
            likeness[str(sorted(str(sorted(map(str, map(sorted, map(dict.items, box))))) for box in boxes))].add(split)
            captions += len(one.captions)
            assert records[one.name]["sentence"] in one.captions
    assert captions == 1648  # one sentence stands twice with one picture
    assert {len(found) for found in held.values()} == {len(found) for found in likeness.values()} == {1}
    assert len(likeness) == 1603 and data.spec.target_size < 200
    assert about["notes"] == [
        "val: 79 of 269 sentences are in train too",
        "test: 36 of 237 sentences are in train too",
        "test: 10 of 237 sentences are in val too",
    ]
    batch = next(iter(data.val_dataloader()))
    assert batch.image.shape[1:] == (3, 100, 400) and batch.memory_mask.shape[1] == 4 * 16
