"""The view of language modeling: continuations of a text, and the surprisal of each of its tokens."""

from typing import Any

from zoo.visualize.view import View


class LanguageModelingView(View):
    """Texts and their continuations."""

    noun = "beginning"
    columns = ("beginning", "continuation", "log-probability")

    def row(self, prediction: Any) -> list[Any]:
        return []
