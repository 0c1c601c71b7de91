"""The view of language modeling: continuations of a text, and the surprisal of each token of a text."""

from __future__ import annotations

import re
from argparse import Namespace, _ArgumentGroup
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from zoo.data.encodings import UTF8
from zoo.data.language.encoding import WholeText
from zoo.data.language.reading import decoded
from zoo.data.rows import reading
from zoo.errors import ConfigError
from zoo.predicting.classification import AttendedSentence
from zoo.predicting.language_modeling import ContinuationPrediction, Continued, ExaminedWindow, ScoredText
from zoo.printable import shown
from zoo.visualize.blocks import UNKNOWN, Block, Grid, Head, Passage, ranking
from zoo.visualize.drawing import Key
from zoo.visualize.view import AttentionMap, View, ranked

LINE = "⏎"  # A line end, as it is shown
SAMPLING = ("temperature", "top_k", "top_p", "samples")
SURPRISAL = Key(
    "words",
    "surprisal",
    "The colour behind a token is its surprisal: the darkest token of the text had the lowest probability.",
)
WRITTEN = Key(
    "words",
    "surprisal of what was written",
    "The colour behind a word that was written is its surprisal: the darkest word had the lowest probability.",
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
            return [_line(_joined(prediction.tokens)), "", round(_mean(prediction.bits), 4)]
        best = prediction.continuations[0]
        return [_line(prediction.prompt), _line(best.text), round(_mean(prediction.bits), 4)]

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
            return ranked(number, _in_lines(prediction.continuations))
        text = "\n".join(shown(line) for line in prediction.whole.split("\n"))
        return f"\n{text}" if number else text  # texts may have several lines: a blank one is between them

    def unknown(self, prediction: Any) -> list[str]:
        if isinstance(prediction, ScoredText):
            return [prediction.tokens[place] for place in prediction.unknown]
        return list(prediction.unknown)

    def blocks(self, prediction: Any, examined: ExaminedWindow | None = None) -> list[Block]:
        if isinstance(prediction, ScoredText):
            return self._scored(prediction)
        under = f"{len(prediction.bits):,} tokens written, {_mean(prediction.bits):.2f} bits per token"
        head = Head(prediction.prompt, above="beginning", under=under)
        keys = (WRITTEN, *[UNKNOWN] * bool(prediction.unknown))
        text = Passage(_lines(_continued(prediction)), weighing="word", keys=keys)
        grid = _grid(prediction.continuations[0].tokens, prediction)
        return [head, text, *ranking(_in_lines(prediction.continuations)), *grid]

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
        blocks: list[Block] = [head, Passage(_lines(_each(prediction)), weighing="word", keys=keys)]
        return [*blocks, *_grid(prediction.tokens, prediction)]


def _spoken(piece: str) -> None:
    """Print a piece of a text at once."""
    print("\n".join(map(shown, piece.split("\n"))), end="", flush=True)


class Shaded(NamedTuple):
    """A token, or the letters of a word, with its surprisal."""

    text: str
    bits: float
    unknown: bool = False


def _each(scored: ScoredText) -> list[Shaded]:
    """The tokens of a scored text."""
    rows = enumerate(zip(scored.tokens, scored.bits, strict=True))
    return [Shaded(_visible(token), bits, place in scored.unknown) for place, (token, bits) in rows]


def _continued(prediction: ContinuationPrediction) -> list[Shaded]:
    """The words of a beginning, without surprisal, and after them what was written."""
    begun, written = prediction.prompt, prediction.continuations[0].tokens
    if not all(len(token) == 1 for token in written):
        words = [Shaded(_visible(word), 0.0, word in prediction.unknown) for word in re.findall(r"\n|\S+", begun)]
        return words + [Shaded(_visible(token), bits) for token, bits in zip(written, prediction.bits, strict=True)]
    letters, bits = [*begun, *written], [0.0] * len(begun) + [*prediction.bits]
    place, found = 0, list[Shaded]()
    for word in re.findall(r"\n|[^\S\n]+|\S+", "".join(letters)):
        if word == "\n" or not word.isspace():
            found.append(Shaded(_visible(word), sum(bits[place : place + len(word)])))
        place += len(word)
    return found


def _lines(parts: Sequence[Shaded]) -> list[AttendedSentence]:
    """The lines of a text whose parts are shaded by their surprisal."""
    ends = [0, *(place for place, part in enumerate(parts, 1) if part.text == LINE), len(parts)]
    lines = [parts[begin:end] for begin, end in pairwise(ends) if begin < end]
    return [
        AttendedSentence(
            words=tuple(part.text for part in line),
            weight=None,
            word_weights=tuple(part.bits for part in line),
            unknown=tuple(place for place, part in enumerate(line) if part.unknown),
        )
        for line in lines
    ]


def _grid(tokens: Sequence[str], prediction: ScoredText | ContinuationPrediction) -> list[Block]:
    """The attention of predicted tokens on those that were read, if the network has any."""
    if prediction.attention is None:
        return []
    rows, columns = ([*map(_visible, part)] for part in (tokens, prediction.read))
    return [Grid(rows, columns, prediction.attention, axes=("predicted tokens", "read tokens"), keys=(READ,))]


def _visible(token: str) -> str:
    """A token as it can be seen: a line end and a blank are letters otherwise without a form."""
    return {"\n": LINE, " ": "␣"}.get(token, token)


def _line(text: str) -> str:
    """A text in one line, in which a line end is a visible letter."""
    return shown(f" {LINE} ".join(text.strip().split("\n")))


def _in_lines(continuations: Sequence[Continued]) -> list[Continued]:
    return [replace(one, text=_line(one.text)) for one in continuations]


def _joined(tokens: Sequence[str]) -> str:
    """The tokens as a text: letters side by side, words with blanks between."""
    return ("" if all(len(token) == 1 for token in tokens) else " ").join(tokens)


def _mean(bits: Sequence[float]) -> float:
    return sum(bits) / max(1, len(bits))
