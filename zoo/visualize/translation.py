"""The view of translation: n-best lists, and the source tokens behind each target token."""

from __future__ import annotations

from argparse import Namespace, _ArgumentGroup
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from zoo.errors import ConfigError, DataError
from zoo.tasks.translation import ExaminedTranslation, Translation, TranslationPrediction
from zoo.visualize.blocks import UNKNOWN, Block, Grid, Head, Key, Ranked
from zoo.visualize.files import lines_for, make_folder
from zoo.visualize.printable import shown
from zoo.visualize.view import Predicts, View, beginning

if TYPE_CHECKING:
    from zoo.tasks import Examined

CELLS = Key(
    "",
    "",
    "In a grid each row is a token that was written, each column a token of the source. The colour of a cell is its "
    "attention; point at it for the number.",
)
LINKS = Key("true", "true alignment")
RANKED = Key("", "", "All translations have the score they were ranked by; the grid belongs to the first.")


class TranslationView(View):
    """Sources with their translations."""

    columns: ClassVar[tuple[str, ...]] = ("source", "translation", "log-probability", "alignment")
    """`alignment` as Pharaoh pairs, source-target."""
    truth: ClassVar[str] = "reference"
    title: ClassVar[str] = "What the network attended to"

    def options(self, group: _ArgumentGroup) -> None:
        group.add_argument("--beam", type=int, metavar="K", help="search with K hypotheses")
        group.add_argument("--nbest", type=int, metavar="N", help="the N best, as `number ||| text ||| score`")
        group.add_argument(
            "--replace-unknown",
            nargs="?",
            const="",
            metavar="DICTIONARY",
            help="an unknown word becomes the source word it attended to most, or what that is in a file of lines "
            "`source<tab>target`",
        )
        group.add_argument(
            "--pharaoh",
            type=Path,
            metavar="OUT",
            help="write pairs i-j of a source and a target token, counted from 0 in those that --json shows",
        )

    def prepare(self, predictor: Predicts, options: Namespace) -> None:
        task = predictor.task
        assert isinstance(task, Translation)
        asked = [name for name in ("attention", "pharaoh", "replace_unknown") if getattr(options, name) is not None]
        if asked and predictor(["."])[0].best.attention is None:
            name = asked[0].replace("_", "-")
            raise ConfigError(
                f"--{name}: this network has no attention on the source tokens; train one that has, such as model=luong"
            )
        if options.pharaoh is not None:
            make_folder("--pharaoh", options.pharaoh)
        if options.beam is not None or options.nbest is not None:
            task.search(options.beam, options.nbest)
        if options.replace_unknown is not None:
            task.replace_unknown, task.dictionary = True, _dictionary(options.replace_unknown)

    def row(self, prediction: TranslationPrediction) -> list[Any]:
        best, source = prediction.best, shown(" ".join(prediction.source))
        return [source, shown(best.text), round(best.log_prob, 4), best.pharaoh]

    def terminal(self, prediction: TranslationPrediction, number: int, options: Namespace) -> str:
        if options.nbest is None:
            return prediction.best.text
        return "\n".join(f"{number} ||| {one.text} ||| {one.score:.4f}" for one in prediction.translations)

    def unknown(self, prediction: TranslationPrediction) -> list[str]:
        return [prediction.source[i] for i in prediction.unknown]

    def files(self, predictions: Sequence[TranslationPrediction | None], options: Namespace) -> dict[Path, str]:
        if options.pharaoh is None:
            return {}
        return {
            options.pharaoh: "".join(f"{prediction.best.pharaoh if prediction else ''}\n" for prediction in predictions)
        }

    def example(self, example: Mapping[str, Any]) -> str | None:
        given = example.get("source_text", example.get("source"))
        return beginning(given) if isinstance(given, str) else None

    def blocks(self, prediction: TranslationPrediction, examined: Examined | None = None) -> list[Block]:
        best, unknown = prediction.best, {prediction.source[i] for i in prediction.unknown}
        links = examined.links if isinstance(examined, ExaminedTranslation) else None
        several = len(prediction.translations) > 1
        blocks: list[Block] = [
            Head(
                best.text,
                above=" ".join(prediction.source),
                under=f"log-probability {best.log_prob:.3f}",
                keys=(RANKED,) * several,
            )
        ]
        if best.attention is not None:
            keys = (CELLS, *[LINKS] * bool(links), *[UNKNOWN] * bool(unknown))
            true = {(t, s) for s, t in links or ()}
            axes = ("target tokens", "source tokens")
            blocks.append(
                Grid(best.tokens, prediction.source, best.attention, true=true, unknown=unknown, axes=axes, keys=keys)
            )
        if several:
            blocks.append(Ranked([(f"{one.score:.4f}", one.text) for one in prediction.translations]))
        return blocks

    def picture(self, prediction: TranslationPrediction, examined: Examined | None = None) -> Any:
        return super().picture(prediction, examined) if prediction.best.attention is not None else None


def _dictionary(path: str) -> dict[str, str]:
    """Return the words of a file with lines `source<tab>target`; empty without a path."""
    if not path:
        return {}
    found = {}
    for number, line in enumerate(lines_for("--replace-unknown", Path(path), "source<tab>target in each line"), 1):
        if line.strip():
            words = line.split("\t")
            if len(words) != 2:
                raise DataError(f"{path}, line {number}: found {len(words)} columns; expected source<tab>target")
            found[words[0].strip()] = words[1].strip()
    return found
