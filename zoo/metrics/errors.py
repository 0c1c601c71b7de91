"""Error rates of speech recognition: edits that turn what was written into the reference, per unit of the reference."""

from collections.abc import Sequence
from typing import Literal

from zoo.metrics.ratios import Ratio

Unit = Literal["words", "characters"]


class ErrorRate(Ratio):
    """(substitutions + deletions + insertions) / units of all references, the edits as jiwer counts them.

    Both counts are whole numbers, added up over batches and ranks and divided once. The rate may be above 1.
    """

    higher_is_better = False

    def __init__(self, unit: Unit) -> None:
        """`unit` = words (split at white space) | characters (white space counts)."""
        super().__init__()
        self.unit = unit

    def update(self, written: Sequence[str], references: Sequence[str]) -> None:
        """Count texts, each against its one reference."""
        import jiwer  # late, since only transcripts need it

        process = jiwer.process_words if self.unit == "words" else jiwer.process_characters
        found = process(list(references), list(written))
        changed = found.substitutions + found.deletions
        self.total += changed + found.insertions
        self.count += changed + found.hits
