"""The embedded sample as articles, with the words of each report that its summary repeats."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from zoo.data.options import SampleOptions
from zoo.data.rows import BadRows
from zoo.data.sources import Source, sample_source
from zoo.data.summaries.article import Article
from zoo.data.summaries.samples import reports
from zoo.data.text.tokenization import RuleTokenizer, find

JOIN = RuleTokenizer("words", "en", lower=False).join


def sample_articles(options: SampleOptions) -> Source:
    """The first reports of the generator, each with the evidence of its summary."""
    source = sample_source(reports.generate, options, "reports")
    return replace(source, splits={split: partial(_articles, read) for split, read in source.splits.items()})


def _articles(read: Callable[[BadRows], Iterator[reports.Report]], bad: BadRows) -> Iterator[Article]:
    for number, report in enumerate(read(bad), 1):
        text, summary = "\n".join(map(JOIN, report.sentences)), JOIN(report.summary)
        links = [(place, at) for at, places in enumerate(report.sources) for place in places]
        stating = [at for at, places in enumerate(report.sources) if places]
        evidence: dict[str, Any] = {
            "source_spans": list(chain.from_iterable(find(text, chain.from_iterable(report.sentences)))),
            "target_spans": list(chain.from_iterable(find(summary, report.summary))),
            "linked_source": [place for place, _ in links],
            "linked_target": [at for _, at in links],
            "stating": stating,
            "distances": [1] * len(stating),
        }
        yield Article(text, (summary,), f"the sample, report {number}", evidence=evidence)
