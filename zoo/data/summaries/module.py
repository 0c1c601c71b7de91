"""The base classes of all data of articles with summaries, and of the published corpora."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, Unpack

from zoo.data.copying.module import CopyData
from zoo.data.corpus import Corpus
from zoo.data.options import SampleOptions
from zoo.data.order import Nouns
from zoo.data.rows import some
from zoo.data.sources import Reading, Source
from zoo.data.stored import values_of
from zoo.data.summaries.article import Article
from zoo.data.summaries.encoding import SummaryEncoder, SummaryTextOptions, sentences_of
from zoo.data.summaries.generated import sample_articles
from zoo.data.text.vectored import VectorArguments, Vectored
from zoo.errors import one_of

TARGETS = ("first", "all")


class SummaryArguments(VectorArguments, total=False):
    """The arguments of every family of summaries."""

    targets: Literal["first", "all"]


class SummaryData(Vectored, CopyData):
    """Articles, each with one or more summaries. Training reads the first one of each article or, with `targets=all`,
    every one in an example of its own. Evaluation compares with all of them, and its likelihoods are of the first."""

    tasks: ClassVar[tuple[str, ...]] = ("summarization",)
    nouns: ClassVar[Nouns] = Nouns("articles", "tokens")
    encoding = SummaryEncoder
    text: SummaryTextOptions
    encoder: SummaryEncoder

    def __init__(self, *, targets: Literal["first", "all"] = "first", **rest: Unpack[VectorArguments]) -> None:
        """`targets` chooses the summaries for training; the rest as in `Vectored`."""
        super().__init__(**rest)
        one_of("data.targets", targets, TARGETS)
        self.targets = targets
        self._names: dict[str, str] = {}  # The place of each identifier that was read

    def _facts(self, source: Source) -> dict[str, Any]:
        return super()._facts(source) | {"targets": self.targets}

    def examples(self, rows: Iterator[Article], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        for article in rows:
            text = article.text.split("\n") if article.evidence else self._sentences(article.text)
            found = ("\n".join(sentences_of(one, "lines")) for one in article.summaries)
            summaries = [summary for summary in found if summary]
            if problem := self._problem(article, text, summaries):
                reading.bad(article.place, *problem)
                continue
            every = [[one] for one in summaries] if reading.training and self.targets == "all" else [summaries]
            for targets in every:
                yield {"source_texts": text, "target_texts": targets, **article.evidence}

    def _sentences(self, text: str) -> list[str]:
        return sentences_of(text, self.text.sentences, self.text.language)

    def _problem(self, article: Article, text: list[str], summaries: list[str]) -> tuple[str, str] | None:
        """Why an article cannot be used, and what was found; None for a usable one."""
        if article.name and (before := self._names.setdefault(article.name, article.place)) != article.place:
            return "duplicate identifier", f"{article.name!r} is also that of {before}"
        if not text:
            return "empty article", "its text has no words"
        if not summaries:
            return "no summary", "the article has no summary"
        words, most = sum(len(one.split()) for one in text), max(len(one.split()) for one in summaries)
        if most >= words and self.text.tokenizer != "characters":
            return "summary longer than its text", f"it has {some(most, 'word')}, the text {words:,}"
        return None

    def texts(self, split: str) -> list[tuple[list[str], list[str]]]:
        """The sentences and the summaries of each article of a split, as they are in the file."""
        stored = self.part(split).stored
        columns = (values_of(stored, name) for name in ("source_texts", "target_texts"))
        return list(zip(*columns, strict=True))


class SummaryCorpusArguments(SummaryArguments, total=False):
    """The arguments of every corpus of summaries."""

    source: str | None
    sample: Mapping[str, Any] | SampleOptions | None


class SummaryCorpus(Corpus, SummaryData):
    """Articles of the sample, the hub or official files."""

    def __init__(self, **rest: Unpack[SummaryCorpusArguments]) -> None:
        """As in `Corpus` and `SummaryData`."""
        super().__init__(**rest)

    def open_sample(self) -> Source:
        return sample_articles(self.sample)
