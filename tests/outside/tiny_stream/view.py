"""The text, what the network writes after it, and the bits per character of a window."""

from typing import Any, ClassVar

from tiny_stream.task import Writing
from zoo.visualize.view import View


class WritingView(View):
    """Beginnings and continuations."""

    noun: ClassVar[str] = "beginning"
    columns: ClassVar[tuple[str, ...]] = ("text", "written", "bits")

    def row(self, prediction: Writing) -> list[Any]:
        return [prediction.text, prediction.written, prediction.bits]
