"""Titles and paragraphs, ordered by an extraction, to batches."""

from collections.abc import Mapping
from typing import Any

from zoo.data.copying.encoding import CopyEncoder
from zoo.data.passages.extraction import extracted
from zoo.data.passages.options import PassageTextOptions
from zoo.data.rows import beginning
from zoo.errors import UnusableInput

BETWEEN = "|||"  # Between the title and the paragraphs of an article in one line


class PassageEncoder(CopyEncoder):
    """Articles to batches: text 0 of a source is the title, the others are the paragraphs in the order of reading."""

    takes = "a title and paragraphs, one per line"
    entered = "title and paragraphs, one per line"
    options = PassageTextOptions
    text_options: PassageTextOptions

    def typed(self, one: Any) -> dict[str, Any]:
        """The columns of a text with the title in its first line and a paragraph in each other one, of a list of them,
        or of a mapping with `title`, `paragraphs` and, for `cheating`, `summary`. `|||` separates as a line end does.
        Raises UnusableInput for an article without paragraphs, and for `cheating` without a summary."""
        if isinstance(one, Mapping):
            title, paragraphs, summary = one["title"], list(one["paragraphs"]), one.get("summary", "")
        else:
            split = one.replace(BETWEEN, "\n").splitlines() if isinstance(one, str) else list(one)
            lines = [line.strip() for line in split if line.strip()]
            title, paragraphs, summary = "".join(lines[:1]), lines[1:], ""
        if not paragraphs:
            expected = f"expected a title and paragraphs, one per line or with {BETWEEN} between"
            raise UnusableInput(f"{beginning(title)}: no paragraphs; {expected}")
        method = self.text_options.extraction
        if method == "cheating" and not summary:
            way = "data.text.extraction=cheating orders paragraphs by the summary"
            raise UnusableInput(f"{beginning(title)}: {way}; give one")
        order = extracted(method, title, paragraphs, summary, self.text_options.max_source)
        return {"source_texts": [title, *(paragraphs[number] for number in order)]}
