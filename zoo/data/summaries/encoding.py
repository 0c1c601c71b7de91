"""Articles to batches: a source is the sentences of an article, and a target is its summary."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from zoo.arguments import Count
from zoo.data.copying.encoding import CopyEncoder
from zoo.data.copying.options import CopyTextOptions
from zoo.data.text.sentences import clean, split_sentences


@dataclass(frozen=True)
class SummaryTextOptions(CopyTextOptions):
    """How articles and summaries become sentences of tokens, and the tokens ids of one vocabulary."""

    group: ClassVar[str] = "text"

    minimum_frequency: Count = 5
    sentences: Literal["punkt", "lines"] = "punkt"
    """`punkt` splits each line of an article into sentences, `lines` has one sentence per line. Networks read an
    article as one sequence; pages and the baselines of sentences need them."""


class SummaryEncoder(CopyEncoder):
    """Articles, with or without summaries, to batches."""

    takes = "the text of an article, or a list of its sentences"
    options = SummaryTextOptions
    text_options: SummaryTextOptions

    def typed(self, one: Any) -> dict[str, Any]:
        return {"source_texts": self.sentences(one) if isinstance(one, str) else list(one)}

    def sentences(self, text: str) -> list[str]:
        """The sentences of a text, cleaned."""
        return sentences_of(text, self.text_options.sentences, self.text_options.language)


def sentences_of(text: str, how: str = "punkt", language: str = "en") -> list[str]:
    """The sentences of a text, cleaned. A line end also ends a sentence."""
    lines = split_sentences(clean(text), "lines")
    return lines if how == "lines" else [one for line in lines for one in split_sentences(line, "punkt", language)]
