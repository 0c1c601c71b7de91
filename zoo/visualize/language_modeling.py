"""The view of language modeling: continuations of a text, and the surprisal of each token of a text."""

from __future__ import annotations

from argparse import Namespace, _ArgumentGroup
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from zoo.data.encodings import UTF8
from zoo.data.language.encoding import WholeText
from zoo.data.language.reading import decoded
from zoo.data.rows import reading
from zoo.errors import ConfigError
from zoo.predicting.classification import AttendedSentence
from zoo.predicting.language_modeling import ExaminedWindow, ScoredText
from zoo.printable import shown
from zoo.visualize.blocks import UNKNOWN, Block, Grid, Head, Passage, ranking
from zoo.visualize.drawing import Key
from zoo.visualize.view import AttentionMap, View, ranked

SAMPLING = ("temperature", "top_k", "top_p", "samples")
SURPRISAL = Key(
    "words",
    "surprisal",
    "The colour behind a token is its surprisal: the darkest token of the text had the lowest probability.",
)
READ = Key(
    long="In the grid each row is a token that was predicted, each column one that was read before it. The colour of a "
    "cell is the attention."
)


class LanguageModelingView(View):
    """Texts that are continued, or scored."""

    noun = "beginning"
    columns: ClassVar[tuple[str, ...]] = ("text", "written", "bits per token")
    title = "What the network wrote"
    scoring = False

    def options(self, group: _ArgumentGroup) -> None:
        group.add_argument("--tokens", type=int, metavar="N", help="write N tokens")
        group.add_argument("--greedy", action="store_true", help="write the most probable token at every step")
        group.add_argument("--temperature", type=float, metavar="T", help="divide log-probabilities by T")
        group.add_argument("--top-k", type=int, metavar="K", help="draw from the K most probable tokens")
        group.add_argument("--top-p", type=float, metavar="P", help="draw from the fewest tokens with probability P")
        group.add_argument("--samples", type=int, metavar="N", help="draw N continuations")
        group.add_argument("--seed", type=int, default=1, metavar="S", help="draw other tokens (default 1)")
        group.add_argument("--beam", type=int, metavar="K", help="search with K hypotheses instead of drawing")
        group.add_argument("--nbest", type=int, metavar="N", help="the N best, as `number ||| text ||| score`")
        group.add_argument("--score", type=Path, metavar="FILE", help="show the surprisal of each token of a text")

    def prepare(self, predictor: Any, options: Namespace) -> None:
        super().prepare(predictor, options)
        searching = options.beam is not None or options.nbest is not None
        drawn = {name: value for name in SAMPLING if (value := getattr(options, name, None)) is not None}
        ways = {"--greedy": options.greedy, "--beam": searching, f"--{next(iter(drawn), '')}": bool(drawn)}
        asked = [name.replace("_", "-") for name, given in ways.items() if given]
        if options.score is not None and (writing := [*asked, *["--tokens"] * (options.tokens is not None)]):
            raise ConfigError(f"--score and {writing[0]}: a text is scored as it is; leave {writing[0]} out")
        if len(asked) > 1:
            raise ConfigError(f"{asked[0]} and {asked[1]}: a text is continued in one way; leave one of them out")
        predictor.task.seed = options.seed
        beam = (options.beam, options.nbest) if searching else None
        predictor.task.write_by(tokens=options.tokens, greedy=options.greedy, beam=beam, **drawn)
        if options.score is not None:
            self.scoring, self.score = True, options.score
            self.columns, self.title, self.noun = ("token", "bits"), "The surprisal of each token", "text"  # type: ignore[misc]
        alone = len(getattr(options, "words", ())) == 1 and options.file is None and not options.json
        if alone and not (searching or self.scoring or drawn.get("samples", 1) > 1):
            self.streams, predictor.task.hear = True, _spoken

    def read(self, words: Sequence[str], file: Path | None) -> list[Any | None]:
        if not self.scoring:
            return super().read(words, file)
        if words or file is not None:
            raise ConfigError("--score FILE takes the whole text from its file; leave the other texts out")
        with reading(self.score):
            return [WholeText("".join(decoded(self.score, UTF8, has_key=False)))]

    def row(self, prediction: Any) -> list[Any]:
        if isinstance(prediction, ScoredText):
            return [shown(_joined(prediction.tokens)), "", round(_mean(prediction.bits), 4)]
        best = prediction.continuations[0]
        return [shown(prediction.prompt), shown(best.text), round(best.bits / max(1, len(best.tokens)), 4)]

    def rows(self, prediction: Any) -> list[list[Any]]:
        """Return a row for each token of a scored text."""
        if not isinstance(prediction, ScoredText):
            return super().rows(prediction)
        tokens = map(shown, map(_visible, prediction.tokens))
        return [[token, round(bits, 4)] for token, bits in zip(tokens, prediction.bits, strict=True)]

    def terminal(self, prediction: Any, number: int, options: Namespace) -> Any:
        if isinstance(prediction, ScoredText):
            return super().terminal(prediction, number, options)
        if self.streams:
            return ""  # it was printed as it was written; this ends its line
        if options.nbest is not None or len(prediction.continuations) > 1:
            return ranked(number, prediction.continuations)
        text = "\n".join(shown(line) for line in prediction.whole.split("\n"))
        return f"\n{text}" if number else text  # texts may have several lines: a blank one is between them

    def unknown(self, prediction: Any) -> list[str]:
        if isinstance(prediction, ScoredText):
            return [prediction.tokens[place] for place in prediction.unknown]
        return list(prediction.unknown)

    def blocks(self, prediction: Any, examined: ExaminedWindow | None = None) -> list[Block]:
        if isinstance(prediction, ScoredText):
            return self._scored(prediction)
        lines = [AttendedSentence(tuple(line.split()), None, None) for line in prediction.whole.split("\n")]
        under = f"log-probability {prediction.continuations[0].log_prob:.3f}"
        head = Head(prediction.prompt, above="beginning", under=under)
        return [head, Passage(lines), *ranking(prediction.continuations)]

    def maps(self, predictor: Any, given: Any, prediction: Any) -> list[AttentionMap]:
        """Return all layers and heads while the network reads the whole text."""
        if isinstance(prediction, ScoredText) or not predictor.task.network.attends:
            return super().maps(predictor, given, prediction)
        tokens, found = predictor.task.text_attention(prediction.whole)
        shown_tokens = [*map(_visible, tokens)]
        return [AttentionMap("read tokens", part, shown_tokens, shown_tokens) for part in found.values()]

    def _scored(self, prediction: ScoredText) -> list[Block]:
        seen = "all tokens" if prediction.context is None else f"at most {prediction.context:,} tokens"
        count = f"{len(prediction.tokens):,} tokens, each predicted from {seen} before it"
        under = f"{_mean(prediction.bits):.2f} bits per token; {count}"
        head = Head(f"perplexity {prediction.perplexity:.2f}", under=under)
        keys = (SURPRISAL, *[UNKNOWN] * bool(prediction.unknown))
        blocks: list[Block] = [head, Passage(_lines(prediction), weighing="word", keys=keys)]
        if prediction.attention is not None:
            axes = ("predicted tokens", "read tokens")
            rows, columns = ([*map(_visible, part)] for part in (prediction.tokens, prediction.read))
            blocks.append(Grid(rows, columns, prediction.attention, axes=axes, keys=(READ,)))
        return blocks


def _spoken(piece: str) -> None:
    """Print a piece of a text at once."""
    print("\n".join(map(shown, piece.split("\n"))), end="", flush=True)


def _lines(prediction: ScoredText) -> list[AttendedSentence]:
    """The lines of a scored text, each token weighed by its surprisal. Letters are shown together in words."""
    lines: list[list[tuple[str, float, bool]]] = [[]]
    for place, (token, bits) in enumerate(zip(prediction.tokens, prediction.bits, strict=True)):
        lines[-1].append((_visible(token), bits, place in prediction.unknown))
        if token == "\n":
            lines.append([])
    return [
        AttendedSentence(
            words=tuple(token for token, _, _ in line),
            weight=None,
            word_weights=tuple(bits for _, bits, _ in line),
            unknown=tuple(place for place, (_, _, unknown) in enumerate(line) if unknown),
        )
        for line in lines
        if line
    ]


def _visible(token: str) -> str:
    """A token as it can be seen: a line end and a blank are letters otherwise without a form."""
    return {"\n": "⏎", " ": "␣"}.get(token, token)


def _joined(tokens: Sequence[str]) -> str:
    """The tokens as a text: letters side by side, words with blanks between."""
    return ("" if all(len(token) == 1 for token in tokens) else " ").join(tokens)


def _mean(bits: Sequence[float]) -> float:
    return sum(bits) / max(1, len(bits))
