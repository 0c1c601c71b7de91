"""The replies to dialogues, and the turns that the network attended to."""

from dataclasses import dataclass
from typing import Any, ClassVar

from zoo.data.copying.batch import CopyBatch
from zoo.data.dialogues.encoding import DialogueEncoder
from zoo.predicting.texts import TextPrediction, TextPredictions


@dataclass(frozen=True)
class ReplyPrediction(TextPrediction):
    """The replies to one dialogue."""

    @property
    def turns(self) -> list[list[int]]:
        """The places of the source tokens of each turn."""
        found: list[list[int]] = [[] for _ in range(1 + max(self.sentence, default=-1))]
        for place, number in enumerate(self.sentence):
            found[number].append(place)
        return found

    @property
    def mean_attention(self) -> list[float] | None:
        """(S,) the mean over the written tokens of the weights on the source tokens, if the network has them."""
        rows = self.best.attention
        return [sum(column) / len(rows) for column in zip(*rows, strict=True)] if rows else None


class DialoguePredictions(TextPredictions):
    """The replies of any network for `dialogue`."""

    name = "dialogue"
    view: ClassVar[str] = "zoo.visualize.dialogue.DialogueView"
    encoder: DialogueEncoder

    def _decoding_options(self) -> dict[str, Any]:
        """By default a reply has at most as many tokens as the longest one of the data. The same bound replaces a
        `max_length` [a, b] with a > 0, since the length of a dialogue says nothing about that of its next reply."""
        options = super()._decoding_options()
        if not options.get("max_length") or options["max_length"][0] > 0:
            options["max_length"] = (0.0, float(self.spec.longest_target))
        return options

    def predictions(self, batch: CopyBatch, words: list[Any]) -> list[Any]:
        """The replies, best first; `words` are the words of all turns as shown."""
        return [ReplyPrediction(**vars(one)) for one in super().predictions(batch, words)]
