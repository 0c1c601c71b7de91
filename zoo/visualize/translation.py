"""The view of translation: n-best lists, and the source tokens behind each target token."""

from argparse import Namespace, _ArgumentGroup
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zoo.errors import DataError
from zoo.files import lines_for, make_folder
from zoo.predicting.translation import ExaminedTranslation, TranslationPrediction
from zoo.printable import shown
from zoo.visualize.blocks import UNKNOWN, Block, Grid, Head, ranking
from zoo.visualize.drawing import Key
from zoo.visualize.steps import steps_passage
from zoo.visualize.view import AttentionMap, View, beginning, ranked

CELLS = Key(
    long="In a grid each row is a token that was written, each column a token of the source. The colour of a cell is "
    "its attention; point at it for the number."
)
SIDES = {"source": "written and source tokens", "encoder": "source tokens", "decoder": "written tokens"}
LINKS = Key("true", "true alignment")
RANKED = Key(long="All translations have the score they were ranked by; the grid belongs to the first.")


class TranslationView(View):
    """Sources with their translations."""

    columns = ("source", "translation", "log-probability", "alignment")  # `alignment` as Pharaoh pairs, source-target
    truth = "reference"
    title = "What the network attended to"
    needs = ("source", "model=luong")
    searches = ("beam", "nbest")

    def options(self, group: _ArgumentGroup) -> None:
        super().options(group)
        unknown = "an unknown word becomes the source word it attended to most, or what that is in a file of lines "
        unknown += "`source<tab>target`"
        group.add_argument("--replace-unknown", nargs="?", const="", metavar="DICTIONARY", help=unknown)
        pairs = "write pairs i-j of a source and a target token, counted from 0 in those that --json shows"
        group.add_argument("--pharaoh", type=Path, metavar="OUT", help=pairs)

    def prepare(self, predictor: Any, options: Namespace) -> None:
        super().prepare(predictor, options)
        if options.pharaoh is not None:
            self.require_attention("--pharaoh", predictor)
            make_folder("--pharaoh", options.pharaoh)
        if options.replace_unknown is not None:
            self.require_attention("--replace-unknown", predictor)
            predictor.task.replace_unknown, predictor.task.dictionary = True, _dictionary(options.replace_unknown)

    def row(self, prediction: TranslationPrediction) -> list[Any]:
        best, source = prediction.best, shown(" ".join(prediction.source))
        return [source, shown(best.text), round(best.log_prob, 4), best.pharaoh]

    def terminal(self, prediction: TranslationPrediction, number: int, options: Namespace) -> str:
        return shown(prediction.best.text) if options.nbest is None else ranked(number, prediction.translations)

    def unknown(self, prediction: TranslationPrediction) -> list[str]:
        return [prediction.source[i] for i in prediction.unknown]

    def files(self, predictions: Sequence[TranslationPrediction | None], options: Namespace) -> dict[Path, str]:
        if options.pharaoh is None:
            return {}
        lines = (f"{prediction.best.pharaoh if prediction else ''}\n" for prediction in predictions)
        return {options.pharaoh: "".join(lines)}

    def example(self, example: Mapping[str, Any]) -> str | None:
        given = example.get("source_text", example.get("source"))
        return beginning(given) if isinstance(given, str) else None

    def blocks(self, prediction: TranslationPrediction, examined: ExaminedTranslation | None = None) -> list[Block]:
        best, source, keys = prediction.best, prediction.source, (RANKED,) * (len(prediction.translations) > 1)
        under = f"log-probability {best.log_prob:.3f}"
        blocks: list[Block] = [Head(best.text, above=" ".join(source), under=under, keys=keys)]
        if best.attention is not None:
            unknown, links = set(self.unknown(prediction)), (examined and examined.links) or ()
            keys = (CELLS, *[LINKS] * bool(links), *[UNKNOWN] * bool(unknown))
            true, axes = {(t, s) for s, t in links}, ("target tokens", "source tokens")
            blocks.append(Grid(best.tokens, source, best.attention, true=true, unknown=unknown, axes=axes, keys=keys))
        if prediction.steps:
            rows = source, best.tokens
            blocks.append(steps_passage("steps", rows, [prediction.steps[side] for side in ("source", "translation")]))
        return [*blocks, *ranking(prediction.translations)]

    def maps(self, predictor: Any, given: Any, prediction: TranslationPrediction) -> list[AttentionMap]:
        """Return all layers and heads: of written tokens to the source, and within each side."""
        best, found = predictor.task.whole_attention(predictor.encoder([given]))
        written, source = predictor.encoder.target_vocabulary.decode(best.ids), prediction.source
        read = ["(begin)", *written[:-1]]  # the row of a token belongs to the word before it, which the decoder reads
        names = {"source": (written, source), "encoder": (source, source), "decoder": (read, read)}
        return [AttentionMap(SIDES[name], found[name], *names[name]) for name in names if name in found]


def _dictionary(path: str) -> dict[str, str]:
    lines = lines_for("--replace-unknown", Path(path), "source<tab>target in each line") if path else []
    found = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            words = line.split("\t")
            if len(words) != 2:
                raise DataError(f"{path}, line {number}: found {len(words)} columns; expected source<tab>target")
            found[words[0].strip()] = words[1].strip()
    return found
