"""Readers of captions. Every problem is reported with its file and line, and no image is opened.

A reader gives the captions of an image together or one by one; `zoo.data.captions.files` puts them together.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from zoo.data.captions.readers import CaptionedFile, entries, not_text, read_json, records
from zoo.data.rows import BadRows, Lines, csv_rows, guarded, line_of, read_lines
from zoo.errors import DataError, alternatives, or_nearest

KARPATHY_SPLITS = {"train": "train", "restval": "train", "val": "val", "test": "test"}
KARPATHY_LAYOUT = "{'images': [{'filename': ..., 'split': ..., 'sentences': [{'raw': ...}, ...]}, ...]}"
COCO_LAYOUT = "{'images': [{'id': ..., 'file_name': ...}], 'annotations': [{'image_id': ..., 'caption': ...}]}"
TOKENS = re.compile(r"(?P<file>[^\t]*)# *\d+ *\t(?P<caption>.*)")
BARS = re.compile(r"(?P<file>[^|]*)\|[^|]*\|(?P<caption>.*)")


# Json


@guarded
def read_karpathy(path: Path, restval: bool, bad: BadRows) -> Iterator[CaptionedFile]:
    """Reads the raw sentences of `dataset_flickr8k.json`, `dataset_flickr30k.json` or `dataset_coco.json` (Karpathy and
    Fei-Fei 2015). With `restval` the split of this name belongs to the training images, else it is ignored."""

    def fields(image: Any) -> tuple[Any, ...]:
        captions = [sentence["raw"] for sentence in image["sentences"]]
        return image["split"], image.get("filepath", ""), image["filename"], *captions

    found = read_json(path, KARPATHY_LAYOUT, bad)
    images = entries(found, "images", path, KARPATHY_LAYOUT)
    if "annotations" in found and "sentences" not in images[0]:
        raise DataError(f"{path}: found annotations of COCO; expected {KARPATHY_LAYOUT}, or captions_train2014.json")
    for place, (split, folder, file, *captions) in records(images, "image", fields, path, KARPATHY_LAYOUT, bad):
        if not isinstance(split, str) or split not in KARPATHY_SPLITS:
            bad(place, "unknown split", f"found {split!r}, expected {alternatives(list(KARPATHY_SPLITS))}")
        elif problem := not_text([folder, file, *captions]):
            bad(place, "no text", problem)
        elif split != "restval" or restval:
            yield CaptionedFile(str(Path(folder, file)), tuple(captions), f"{place} ({file})", KARPATHY_SPLITS[split])


@guarded
def read_coco(path: Path, bad: BadRows) -> Iterator[CaptionedFile]:
    """Reads annotations of COCO, such as `captions_train2014.json`, in the order of the images."""
    found, known = read_json(path, COCO_LAYOUT, bad), dict[int | str, tuple[str, list[str], str]]()
    images, annotations = (entries(found, name, path, COCO_LAYOUT) for name in ("images", "annotations"))
    of_image = records(images, "image", lambda image: (image["id"], image["file_name"]), path, COCO_LAYOUT, bad)
    for place, (number, file) in of_image:
        if not isinstance(number, int | str) or not isinstance(file, str):
            bad(place, "not as expected", f"found id {number!r} and file_name {file!r}; expected {COCO_LAYOUT}")
        elif number in known:
            bad(place, "one id of two images", f"{number!r} is also the id of {known[number][0]!r}")
        else:
            known[number] = file, [], f"{place} ({file})"
    of_text = records(annotations, "annotation", lambda one: (one["image_id"], one["caption"]), path, COCO_LAYOUT, bad)
    for place, (number, caption) in of_text:
        if not isinstance(number, int | str) or number not in known:
            bad(place, "unknown image", f"image_id {number!r} is not the id of any of {len(known):,} images")
        elif problem := not_text([caption]):
            bad(place, "no text", problem)
        else:
            known[number][1].append(caption)
    for file, captions, place in known.values():
        yield CaptionedFile(file, tuple(captions), place)


# Lines


@guarded
def read_tokens(path: Path, bad: BadRows) -> Iterator[CaptionedFile]:
    """Reads lines of `NAME.jpg#0`, a tab and a caption, as in `Flickr8k.token.txt` and `results_20130124.token`.

    Two copies of these corpora are read, too: `captions.txt` with the header `image,caption`, and `results.csv`, whose
    columns are separated by bars.
    """
    with Lines(path, encoding=bad.encoding) as lines:
        header = lines.peek().strip().lower()
        if header == "image,caption":
            for number, fields in csv_rows(lines, ",", bad):
                place = line_of(path, number)
                if len(fields) != 2:
                    bad(place, "wrong number of fields", f"found {len(fields)}, the header has 2")
                elif fields != ["image", "caption"]:
                    yield CaptionedFile(fields[0].strip(), (fields[1],), place)
            return
        bars = header.startswith("image_name|")
        expected = "image_name|comment_number|comment" if bars else "NAME.jpg#0, a tab and a caption"
        for place, line in lines.decoded(bad):
            if not line.strip() or (bars and line.strip().lower() == header):
                continue
            if found := (BARS if bars else TOKENS).fullmatch(line):
                yield CaptionedFile(found["file"].strip(), (found["caption"],), place)
            else:
                bad(place, "not as expected", f"found {line[:60]!r}, expected {expected}")


def read_listed(path: Path, lists: Mapping[str, Path], bad: BadRows) -> Iterator[CaptionedFile]:
    """The images of `read_tokens` in the order of the lists of the splits, such as `Flickr_8k.trainImages.txt`, which
    have one name per line. Without lists these are all images. A name without captions is a bad row."""
    if not lists:
        yield from read_tokens(path, bad)
        return
    captions: dict[str, list[str]] = {}
    for one in read_tokens(path, bad):
        captions.setdefault(one.file, []).extend(one.captions)
    for split, names in lists.items():
        places = {line.strip(): line_of(names, number) for number, line in enumerate(read_lines(names), 1)}
        for name, place in places.items():
            file = name if name in captions else f"{name}.jpg"
            if file in captions:
                yield CaptionedFile(file, tuple(captions[file]), place, split)
            elif name:
                bad(place, "an image without captions", f"found {name!r}{or_nearest(name, captions)}")
