"""Yelp reviews with one to five stars.

Zhang, Zhao and LeCun 2015, https://arxiv.org/abs/1509.01626: "Yelp Review Full", 650,000 for training and 50,000 for
the test. The Yelp open dataset, https://www.yelp.com/dataset, and the sets of 2013 to 2015 by Tang, Qin and Liu 2015,
https://aclanthology.org/D15-1167, have other reviews: results on one do not compare with results on another.
"""

from dataclasses import replace
from pathlib import Path

from zoo.data.documents.module import DocumentCorpus
from zoo.data.documents.readers import read_tang, read_yelp_json, read_zhang
from zoo.data.documents.samples import reviews
from zoo.data.rows import visible
from zoo.data.sources import Source, file_source


class Yelp(DocumentCorpus):
    """Reviews with their stars as classes.

    `source` is `sample`, `hub`, or a path: a folder with train.csv and test.csv (Yelp Review Full), the open dataset's
    json lines (a file or its folder), or Tang's `.ss` files, which require `text.sentences=lines`.
    """

    name = "yelp"
    noun = "reviews"
    class_names = ("1 star", "2 stars", "3 stars", "4 stars", "5 stars")
    generate = staticmethod(reviews.generate)
    hub = "Yelp/yelp_review_full"
    escaped = True
    layout = "a folder with train.csv and test.csv, or the open dataset's yelp_academic_dataset_review.json"

    def official_files(self, path: Path) -> Source | None:
        files = [path] if path.is_file() else visible(path, "*review*.json*")
        if files and all(file.name.removesuffix(".gz").endswith((".json", ".jsonl")) for file in files):
            source = file_source(path, {"train": files}, read_yelp_json, self.noun)
            return replace(source, classes=self.class_names)
        return self.split_files(path, ".csv", read_zhang) or self.split_files(path, ".ss", read_tang)
