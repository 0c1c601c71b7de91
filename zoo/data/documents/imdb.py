"""Movie reviews of the Internet Movie Database, positive or negative.

Maas et al. 2011, https://ai.stanford.edu/~amaas/data/sentiment/: 25,000 for training and 25,000 for the test. The IMDB
of Yang et al. 2016 is another one, with ten classes (Diao et al. 2014), which can be read as the `.ss` files of Tang et
al. 2015.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from zoo.data.documents.module import DocumentCorpus
from zoo.data.documents.readers import folder_source, read_tang
from zoo.data.documents.samples import Document, reviews
from zoo.data.sources import Source

RATINGS = tuple(f"{n} of 10" for n in range(1, 11))


def generate_polar(count: int, *, seed: int) -> Iterator[Document]:
    """Reviews of the Yelp sample: one or two stars are negative, four or five positive, and three are left out."""
    polar = (review for review in reviews.generate(10 * count + 100, seed=seed) if review.label != 2)
    return islice((review._replace(label=int(review.label > 2)) for review in polar), count)


class Imdb(DocumentCorpus):
    """Reviews, negative or positive. `source`: `sample`, `hub`, or a path: the folder aclImdb with train/pos/*.txt and
    so on, or Tang's `.ss` files with ratings from 1 to 10, which require `text.sentences=lines`."""

    name = "imdb"
    noun = "reviews"
    class_names = ("negative", "positive")
    generate = staticmethod(generate_polar)
    hub = "stanfordnlp/imdb"
    layout = "the folder aclImdb with train/pos/*.txt, train/neg/*.txt, test/pos/*.txt and test/neg/*.txt"

    def official_files(self, path: Path) -> Source | None:
        if path.is_file() and path.suffix != ".zip":
            return None
        ratings = self.split_files(path, ".ss", read_tang, RATINGS)
        return ratings or folder_source(path, self.noun, classes={"neg": "negative", "pos": "positive"})
