"""Flickr8k, Flickr30k and COCO: their layouts, the files they name, and their messages."""

import json

import numpy as np
import pytest
from PIL import Image

from tests.data.images.pictures_made import huge_png, picture
from tests.data.images.toy import SMALL, names
from tests.data.serving import prepared
from zoo.data.captions.files import folder_of, folders
from zoo.data.images.photographs import Coco, Flickr8k, Flickr30k
from zoo.errors import ConfigError, DataError


def karpathy(folder, counts, name="dataset_flickr8k.json", where="Flicker8k_Dataset", **more):
    """A corpus in Karpathy's form, with the numbers of images of each of his splits."""
    images = []
    for split, count in counts.items():
        for number in range(count):
            file = f"{split}{number}.jpg"
            picture(folder / where / file, colour=(10 * number, 0, 0))
            sentences = [{"tokens": [], "raw": f"A dog number {n} of {split} ."} for n in range(2)]
            images.append({"filename": file, "split": split, "sentences": sentences, **more})
    (folder / name).write_text(json.dumps({"images": images}))
    return folder


# Karpathy's form


def test_flickr8k_in_karpathys_form(tmp_path, cache_dir):
    folder = karpathy(tmp_path / "f", {"train": 9, "val": 3, "test": 1})
    for source in (folder, folder / "dataset_flickr8k.json"):
        data = prepared(Flickr8k(source=str(source), **SMALL))
        assert data.sizes == {"train": 9, "val": 3, "test": 1} and data.spec.grid == (2, 2)
        assert names(data)["val"] == ["val0.jpg", "val1.jpg", "val2.jpg"]
    batch = next(iter(data.test_dataloader()))
    assert batch.about[0].captions == ("A dog number 0 of test .", "A dog number 1 of test .")  # as in the file
    assert data.encoder.decode(batch.target[0]) == ["a", "dog", "number", "0", "of", "<unk>"]
    assert batch.image.shape == (1, 3, 16, 16) and len(batch) == 2
    assert "13 photographs" in data.source_description


def test_coco_with_folders_and_restval(tmp_path, cache_dir):
    folder = tmp_path / "coco"
    karpathy(folder, {"train": 3, "val": 1, "test": 1}, "dataset_coco.json", "images/val2014", filepath="val2014")
    content = json.loads((folder / "dataset_coco.json").read_text())
    picture(folder / "images" / "train2014" / "rest.jpg")
    rest = {"filename": "rest.jpg", "filepath": "train2014", "split": "restval", "sentences": [{"raw": "A rest"}]}
    (folder / "dataset_coco.json").write_text(json.dumps({"images": [*content["images"], rest]}))
    with_rest = prepared(Coco(source=str(folder), **SMALL))
    assert with_rest.sizes["train"] == 4 and names(with_rest)["train"][-1] == "train2014/rest.jpg"
    without = prepared(Coco(source=str(folder), images=str(folder / "images"), restval=False, **SMALL))
    assert without.sizes == {"train": 3, "val": 1, "test": 1}


# The authors' own files


def test_flickr8k_in_the_authors_form(tmp_path, cache_dir):
    text = tmp_path / "Flickr8k_text"
    text.mkdir()
    files = [f"{n}.jpg" for n in range(8)]
    (text / "Flickr8k.token.txt").write_text("".join(f"{one}#{n}\tDog {n} .\n" for one in files for n in range(2)))
    (text / "Flickr8k.lemma.token.txt").write_text("not this one\n")
    for name, part in (("train", files[:4]), ("dev", files[4:6]), ("test", files[6:7])):
        (text / f"Flickr_8k.{name}Images.txt").write_text("\n".join(part) + "\n")
    for one in files[:7]:  # no list has the last one, and it may be missing
        picture(tmp_path / "Flicker8k_Dataset" / one)
    data = prepared(Flickr8k(source=str(tmp_path), images=str(tmp_path / "Flicker8k_Dataset"), **SMALL))
    assert names(data) == {"train": files[:4], "val": files[4:6], "test": files[6:7]}
    assert data.part("train").captions_of.tolist() == [2] * 4
    (text / "other_train.txt").write_text("0.jpg\n")
    with pytest.raises(DataError, match=r"other_train.txt: a second list of images for train, beside Flickr_8k.train"):
        Flickr8k(source=str(tmp_path)).open_source()
    for file in text.glob("*train*"):
        file.unlink()
    with pytest.raises(DataError, match=r"found Flickr_8k.devImages.txt, Flickr_8k.testImages.txt, and no list of im"):
        Flickr8k(source=str(tmp_path)).open_source()


def test_flickr30k_without_lists_is_divided_by_image(tmp_path, cache_dir):
    lines = [f"{n}.jpg#{k}\tA caption of {n}\n" for n in range(20) for k in range(5)]
    (tmp_path / "results_20130124.token").write_text("".join(lines))
    for n in range(20):
        picture(tmp_path / "flickr30k-images" / f"{n}.jpg")
    data = prepared(Flickr30k(source=str(tmp_path), split={"val": 0.1, "test": 0.2}, **SMALL))
    assert data.sizes == {"train": 14, "val": 2, "test": 4}
    assert len({one for part in names(data).values() for one in part}) == 20
    assert data.describe()["splits"]["test"]["captions"] == 20  # all five of each


def test_annotations_of_coco(tmp_path, cache_dir):
    for split, count in (("train", 12), ("val", 3)):
        images = [{"id": n, "file_name": f"COCO_{split}2014_{n}.jpg"} for n in range(count)]
        captions = [{"image_id": n, "caption": f"a {split} {n}"} for n in range(count)]
        folder = tmp_path / "annotations"
        folder.mkdir(exist_ok=True)
        (folder / f"captions_{split}2014.json").write_text(json.dumps({"images": images, "annotations": captions}))
        for one in images:
            picture(tmp_path / f"{split}2014" / one["file_name"])
    data = prepared(Coco(source=str(tmp_path), images=str(tmp_path), **SMALL))
    assert data.sizes == {"train": 11, "val": 1, "test": 3}
    assert all(name.startswith("COCO_val2014") for name in names(data)["test"])
    with pytest.raises(DataError, match=r"captions_val2014.json: expected captions_train2014.json"):
        Coco(source=str(tmp_path / "annotations" / "captions_val2014.json")).open_source()


# Messages


@pytest.mark.parametrize("data", [Flickr8k, Flickr30k, Coco])
def test_the_address_of_the_files(tmp_path, data):
    with pytest.raises(ConfigError, match=r"data.source=hub: .* is not freely available there; expected: sample, or"):
        data(source="hub").open_source()
    (tmp_path / "readme.txt").write_text("x")
    message = r"found readme.txt; expected dataset_.* The captions: http.*caption_datasets.zip.*source=sample"
    with pytest.raises(DataError, match=message) as error:
        data(source=str(tmp_path)).open_source()
    assert "http" in data.photographs and data.photographs in str(error.value)


def test_missing_images_are_named_and_counted(tmp_path, cache_dir):
    folder = karpathy(tmp_path / "f", {"train": 8, "val": 2, "test": 2})
    images = folder / "Flicker8k_Dataset"
    for n in (2, 3, 5, 7):
        (images / f"train{n}.jpg").unlink()
    with pytest.raises(DataError) as error:
        Flickr8k(source=str(folder), **SMALL).prepare_data()
    begins = (
        f"{folder}/dataset_flickr8k.json, image 3 (train2.jpg): 4 of 8 images are not in {images}: 'train2.jpg', "
        "'train3.jpg', 'train5.jpg' and 1 more; did you mean 'train"
    )
    ends = "'? Else add what is missing, give another folder as data.images=FOLDER, or leave them out by "
    assert str(error.value).startswith(begins) and str(error.value).endswith(f"{ends}data.loader.on_bad_row=skip")
    data = prepared(Flickr8k(source=str(folder), loader={"on_bad_row": "skip"}, **SMALL))
    assert data.sizes["train"] == 4 and data.describe()["skipped"] == {"missing image": 4}


def test_no_image_at_all(tmp_path, cache_dir):
    folder = karpathy(tmp_path / "f", {"train": 2, "val": 1, "test": 1})
    (folder / "empty").mkdir()
    for given, message in (
        ("empty", r"none of 2 images is in this folder or in one of its own \(it has none\), such as 'train0.jpg'"),
        ("nowhere", r"nowhere: folder not found \(data.images\)"),
        ("dataset_flickr8k.json", r"dataset_flickr8k.json: is not a folder \(data.images\)"),
    ):
        with pytest.raises(DataError, match=message):
            Flickr8k(source=str(folder), images=str(folder / given), **SMALL).prepare_data()


def test_unusable_images_are_counted_or_an_error(tmp_path, cache_dir):
    folder = karpathy(tmp_path / "f", {"train": 9, "val": 1, "test": 1})
    images = folder / "Flicker8k_Dataset"
    whole = (images / "train0.jpg").read_bytes()
    (images / "train1.jpg").write_bytes(whole[:-60])
    (images / "train2.jpg").write_bytes(b"")
    huge_png(images / "train3.jpg", 30_000, 30_000)
    Image.new("L", (8, 8), 9).save(images / "train4.jpg")
    Image.new("CMYK", (8, 8)).save(images / "train5.jpg")
    picture(images / "train6.jpg", (9000, 1))
    with pytest.raises(DataError) as error:
        Flickr8k(source=str(folder), **SMALL).prepare_data()
    place = f"{folder}/dataset_flickr8k.json, image 2 (train1.jpg): {images}/train1.jpg: broken picture: "
    assert str(error.value).startswith(place) and "data.loader.on_bad_row=skip" in str(error.value)
    data = Flickr8k(source=str(folder), loader={"on_bad_row": "skip"}, picture={"size": 224}, grid=[2, 2])
    problems = "broken picture", "not a picture", "too large a picture", "too long a picture"
    assert prepared(data).describe()["skipped"] == dict.fromkeys(problems, 1)
    assert names(data)["train"] == [f"train{n}.jpg" for n in (0, 4, 5, 7, 8)]


def test_folders_are_searched_two_levels_deep_for_most_images(tmp_path):
    for path in ("a/x.jpg", "b/c/x.jpg", "b/c/y.jpg", "b/c/d/x.jpg", "b/c/d/y.jpg", "b/c/d/z.jpg", ".hidden/x.jpg"):
        picture(tmp_path / path)
    assert folders(tmp_path) == [tmp_path, tmp_path / "a", tmp_path / "b", tmp_path / "b" / "c"]
    assert folder_of(["x.jpg", "y.jpg"], tmp_path) == tmp_path / "b" / "c"
    assert folder_of(["x.jpg"], tmp_path) == tmp_path / "a"
    assert folder_of(["none.jpg"] * 200 + ["y.jpg"], tmp_path) == tmp_path / "b" / "c"
    assert folder_of(["none.jpg"], tmp_path) is None


def test_the_sample_is_scenes_in_their_size(cache_dir):
    data = prepared(Flickr8k(sample={"train": 6, "val": 2, "test": 2}, grid=[14, 14], picture={"size": 224}))
    assert data.encoder.pixels(np.zeros((100, 300, 3), np.uint8)).shape == (3, 64, 64)
    batch = next(iter(data.val_dataloader()))
    assert batch.image.shape[1:] == (3, 64, 64) and batch.alignment.shape[2] == 64
