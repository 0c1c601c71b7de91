"""The view of summarization: a summary over its article, with the place of each copied word."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zoo.files import lines_for
from zoo.visualize.texts import TextView
from zoo.visualize.view import Field


class SummarizationView(TextView):
    """Articles with what was written about them."""

    noun = "article"
    columns = ("article", "summary", "log-probability")

    @property
    def in_file(self) -> str:
        return "the text of one article"

    def read_file(self, file: Path) -> list[Any | None]:
        text = "\n".join(lines_for("--file", file, f"a text file with {self.in_file}")).strip()
        return [text or None]

    def prepare(self, predictor: Any, options: Namespace) -> None:
        super().prepare(predictor, options)
        self.label = predictor.encoder.entered

    def form(self) -> tuple[Field, ...]:
        return (Field(self.label, 8),)

    def entered(self, values: Sequence[str]) -> Any:
        return "\n".join(values)
