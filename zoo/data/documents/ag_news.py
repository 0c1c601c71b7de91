"""AG's news: title and first lines, four topics.

Zhang, Zhao and LeCun 2015, https://arxiv.org/abs/1509.01626: 120,000 for training and 7,600 for the test.
"""

from pathlib import Path

from zoo.data.documents.module import DocumentCorpus
from zoo.data.documents.readers import read_zhang
from zoo.data.documents.samples import news
from zoo.data.sources import Source


class AgNews(DocumentCorpus):
    """News with their topics. `source`: `sample`, `hub`, or a path: a folder with train.csv and test.csv."""

    name = "ag_news"
    noun = "news items"
    class_names = news.TOPICS
    generate = staticmethod(news.generate)
    hub = "fancyzhx/ag_news"
    escaped = True
    layout = "a folder with train.csv and test.csv (class from 1 to 4, title, description)"

    def official_files(self, path: Path) -> Source | None:
        return self.split_files(path, ".csv", read_zhang)
