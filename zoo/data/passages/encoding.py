"""Titles and paragraphs, ordered by an extraction, to batches."""

from collections.abc import Mapping
from typing import Any

from zoo.data.copying.encoding import CopyEncoder
from zoo.data.passages.extraction import extracted
from zoo.data.passages.options import PassageTextOptions
from zoo.errors import UnusableInput


class PassageEncoder(CopyEncoder):
    """Articles to batches: text 0 of a source is the title, the others are the paragraphs in the order of reading."""

    takes = "a title and paragraphs, one per line"
    options = PassageTextOptions
    text_options: PassageTextOptions

    def typed(self, one: Any) -> dict[str, Any]:
        """The columns of a text with the title in its first line and a paragraph in each other one, of a list of them,
        or of a mapping with `title`, `paragraphs` and, for `cheating`, `summary`. Raises UnusableInput for an article
        without paragraphs, and for `cheating` without a summary."""
        if isinstance(one, Mapping):
            title, paragraphs, summary = one["title"], list(one["paragraphs"]), one.get("summary", "")
        else:
            lines = [line for line in one.splitlines() if line.strip()] if isinstance(one, str) else list(one)
            title, paragraphs, summary = "".join(lines[:1]), lines[1:], ""
        if not paragraphs:
            raise UnusableInput(f"{title!r}: no paragraphs; expected a title and paragraphs, one per line")
        method = self.text_options.extraction
        if method == "cheating" and not summary:
            raise UnusableInput(f"{title!r}: data.text.extraction=cheating orders paragraphs by the summary; give one")
        order = extracted(method, title, paragraphs, summary, self.text_options.max_source)
        return {"source_texts": [title, *(paragraphs[number] for number in order)]}
