"""The keys by which paragraphs are chosen and become tokens."""

from dataclasses import dataclass

from zoo.data.copying.options import CopyTextOptions
from zoo.data.passages.extraction import Extraction


@dataclass(frozen=True)
class PassageTextOptions(CopyTextOptions):
    """How the paragraphs of an article are ordered, and how they and the summary become tokens."""

    extraction: Extraction = "tf_idf"
    """The order of the paragraphs. In this order the first `max_source` tokens are kept."""
