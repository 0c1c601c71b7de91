"""Summaries of articles."""

from typing import Any, ClassVar

from zoo.predicting.texts import TextPredictions


class SummarizationPredictions(TextPredictions):
    """The summaries that any network for `summarization` writes."""

    name = "summarization"
    view: ClassVar[str] = "zoo.visualize.summarization.SummarizationView"
    length_penalty = 1.0  # as conf/decoding/beam_summarization.yaml has it

    def _decoding_options(self) -> dict[str, Any]:
        """By default a summary has at most as many tokens as the longest summary of the data."""
        options = super()._decoding_options()
        return (
            options if options.get("max_length") else options | {"max_length": (0.0, float(self.spec.longest_target))}
        )
