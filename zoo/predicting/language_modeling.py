"""Continuations of a text by a network, and the surprisal of each token of a text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import exp, log
from typing import Any, ClassVar

import torch
from torch import Tensor

from zoo.arguments import Count
from zoo.data.language.batch import LanguageSpec, StreamBatch
from zoo.decoding import Greedy, Hypothesis, Sampling
from zoo.decoding.protocol import listening
from zoo.models.output import Output
from zoo.predicting.predicting import Examined, Prediction
from zoo.predicting.writing import WritingPredictions
from zoo.values import hold

AT_ONCE = 256  # Tokens that are read at once where a text is scored


@dataclass(frozen=True)
class Continued:
    """One continuation of a text."""

    text: str
    tokens: tuple[str, ...]
    log_prob: float  # Sum of the log-probabilities of the tokens
    score: float  # The number by which the continuations of a text are ranked

    @property
    def bits(self) -> float:
        """The surprisal of all tokens."""
        return -self.log_prob / log(2)


@dataclass(frozen=True)
class ContinuationPrediction(Prediction):
    """The continuations of one text: the best first, or in the order in which they were sampled."""

    prompt: str
    whole: str  # The prompt as the network read it, with the best continuation
    continuations: tuple[Continued, ...]
    bits: tuple[float, ...] = ()  # The surprisal of each token of the best continuation
    unknown: tuple[str, ...] = ()  # Tokens of the prompt that are not in the vocabulary
    attention: tuple[tuple[float, ...], ...] | None = None
    """(T, S) weights of each token of the best continuation on all tokens that were read, as in `ScoredText`."""
    read: tuple[str, ...] = ()  # The S tokens that were read


@dataclass(frozen=True)
class ScoredText(Prediction):
    """A text, and the surprisal -log2 p of each of its tokens after all those before it."""

    tokens: tuple[str, ...]
    bits: tuple[float, ...]
    context: int | None = None  # The most tokens from which each one was predicted; None: all before it
    unknown: tuple[int, ...] = ()  # Positions of tokens that are not in the vocabulary
    attention: tuple[tuple[float, ...], ...] | None = None
    """(T, S) weights on the tokens that were read when each one was predicted, the mean of layers and heads; None where
    the network has no attention, or the text is longer than what it reads at once."""
    read: tuple[str, ...] = ()  # The S tokens that were read

    @property
    def perplexity(self) -> float:
        """2 to the mean surprisal."""
        return exp(log(2) * sum(self.bits) / max(1, len(self.bits)))


@dataclass(frozen=True)
class ExaminedWindow(Examined):
    """A window of a split with the surprisals of its tokens."""

    prediction: ScoredText


class LanguageModelingPredictions(WritingPredictions):
    """The continuations that any network for `language_modeling` writes, and the surprisals of texts."""

    name = "language_modeling"
    view: ClassVar[str] = "zoo.visualize.language_modeling.LanguageModelingView"
    length_penalty: ClassVar[float] = 0.0
    spec: LanguageSpec
    seed: int = 1
    """The seed of the tokens that are drawn, so that a text has the same continuation each time."""
    hear: Callable[[str], None] | None = None
    """Gets the pieces of a text as it is written, where a single text is continued without search."""

    def predictions(self, batch: StreamBatch, words: list[Any]) -> list[Any]:
        """The continuations of a batch of prompts, or the scores of a batch of texts; `words` are the texts."""
        if batch.target is not None:
            found = [self._scored(batch, row) for row in range(len(batch))]
            return [self._as_written(text, one) for text, one in zip(words, found, strict=True)]
        return [self._shown(text, nbest) for text, nbest in zip(words, self.predict_step(batch), strict=True)]

    def write_by(
        self, *, tokens: int | None, greedy: bool, beam: tuple[int | None, int | None] | None, **drawn: float
    ) -> None:
        """Continue texts in another way than the run was configured for. Raises ConfigError for values that make no
        sense.

        Args:
            tokens: the number of tokens to write; None: as configured.
            greedy: write the most probable token at every step.
            beam: the size of a beam and the number of its best hypotheses, to search instead of drawing.
            drawn: options of `Sampling`.
        """
        options = self._decoding_options()
        if tokens is not None:
            hold("--tokens", tokens, Count)
            options["max_length"] = (0.0, float(tokens))
        self.options = {**self.options, "decoding": {**self.options["decoding"], **options}}
        if beam is not None:
            self.search(*beam)
        elif greedy:
            self.decode = Greedy(**self._rules())
        elif drawn or tokens is not None:
            kept = options if issubclass(self._decoding(), Sampling) else self._rules()
            self.decode = Sampling(**kept | drawn) if drawn else self._decoding()(**options)

    def predict_step(self, batch: StreamBatch, batch_idx: int = 0) -> list[list[Hypothesis]]:
        device = batch.index.device
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            torch.manual_seed(self.seed)
            if self.hear is None or len(batch) != 1:
                return super().predict_step(batch, batch_idx)
            with listening(self._spoken(batch, self.hear)):
                return super().predict_step(batch, batch_idx)

    def _spoken(self, batch: StreamBatch, hear: Callable[[str], None]) -> Callable[[Tensor], None]:
        """A function of the tokens of each step, which lets `hear` have the text that they add."""
        assert batch.prompt is not None
        ids, said = batch.prompt[0].tolist(), ""

        def add(tokens: Tensor | None = None) -> None:
            nonlocal said
            ids.extend([] if tokens is None else tokens[0].tolist())
            text = self.encoder.text(ids).removeprefix("\n")
            if text.startswith(said) and not text.endswith("\ufffd"):  # else a letter of several bytes is not whole
                hear(text[len(said) :])
                said = text

        add()
        return add

    def _shown(self, text: str, nbest: list[Hypothesis]) -> ContinuationPrediction:
        encoder, prompt = self.encoder, self.encoder.prompt(text)
        read = encoder.text(prompt).removeprefix("\n")
        texts = [encoder.text([*prompt, *one.ids]).removeprefix("\n") for one in nbest]
        best = self._scored(StreamBatch.of_texts([[*prompt, *nbest[0].ids]]).to(self._home()), 0)
        written = slice(len(prompt) - 1, None)
        return ContinuationPrediction(
            prompt=text,
            whole=texts[0],
            continuations=tuple(
                Continued(whole.removeprefix(read), tuple(encoder.shown(one.ids)), one.log_prob, one.score)
                for whole, one in zip(texts, nbest, strict=True)
            ),
            bits=best.bits[written],
            unknown=tuple(encoder.unknown(text)),
            attention=None if best.attention is None else best.attention[written],
            read=best.read,
        )

    @torch.inference_mode()
    def text_attention(self, text: str) -> tuple[list[str], dict[str, Tensor]]:
        """The tokens (T,) that a network reads of a text, and all its attention among them: (L, H, T, T) by name, for L
        layers and H heads."""
        batch = StreamBatch.of_texts([[*self.encoder.prompt(text), LanguageSpec.unknown]]).to(self._home())
        found: dict[str, list[Tensor]] = {}
        for name, weights in self.network(batch).attention.items():
            layers = weights[0] if weights.dim() == 4 else weights
            found.setdefault(name.partition(".")[0], []).append(layers[..., -layers.shape[-2] :])
        tokens = self.encoder.shown(self.encoder.prompt(text))
        return tokens, {name: torch.stack(layers) for name, layers in found.items()}

    def _home(self) -> torch.device:
        return next(self.network.parameters()).device

    def _as_written(self, text: str, scored: ScoredText) -> ScoredText:
        """The scores of a text with its tokens as they are written, unknown ones too."""
        tokens = self.encoder.shown_text(text)
        return replace(scored, tokens=tuple(tokens[len(tokens) - len(scored.bits) :]))

    def _scored(self, batch: StreamBatch, row: int) -> ScoredText:
        """The surprisals of one text, which is read in windows that carry the network's state."""
        assert batch.target is not None and batch.target_mask is not None and batch.target_input is not None
        length = int(batch.target_mask[row].sum())
        read, target = batch.target_input[row, :length], batch.target[row, :length]
        nats, carried, weights = [read.new_empty(0, dtype=torch.double)], None, None
        for at in range(0, length, AT_ONCE):
            window = slice(at, at + AT_ONCE)
            output = self.network(_window(read[window], target[window]), carried, need_weights=length <= AT_ONCE)
            carried, weights = output.carried, mean_attention(output)
            nats.append(surprisals(output, target[window]))
        return self._text(read, target, torch.cat(nats), None if weights is None else weights[0])

    def examine(self, batch: StreamBatch) -> list[ExaminedWindow]:
        """The windows of a batch, read from the state that the windows before left."""
        output, forced = self.window_output(batch), batch.forced
        assert batch.target is not None
        nats = forced.packing.unpack(surprisals(output, batch.true_tokens))
        weights = mean_attention(output)
        found = []
        for b, number in enumerate(batch.index.tolist()):
            length = int(forced.mask[b].sum())
            inside = None if weights is None else weights[b, :length, weights.shape[2] - weights.shape[1] :][:, :length]
            text = self._text(forced.read[b, :length], batch.target[b, :length], nats[b, :length], inside)
            found.append(ExaminedWindow(number, text, None))
        return found

    def _text(self, read: Tensor, target: Tensor, nats: Tensor, weights: Tensor | None) -> ScoredText:
        """The text of tokens `target` (T,) with surprisals (T,), each predicted after one of the tokens `read` (T,), to
        which the weights (T, T) belong."""
        tokens = target.tolist()
        return ScoredText(
            tokens=tuple(self.encoder.shown(tokens)),
            bits=tuple((nats / log(2)).tolist()),
            context=getattr(self.network, "context", None),
            unknown=tuple(place for place, token in enumerate(tokens) if self.encoder.is_unknown(token)),
            attention=None if weights is None else tuple(map(tuple, weights.tolist())),
            read=() if weights is None else tuple(self.encoder.shown(read.tolist())),
        )

    def window_output(self, batch: StreamBatch) -> Output:
        """The output for the next windows of a stream. Without training each of them begins a text."""
        return self.network(batch)


def _window(read: Tensor, target: Tensor) -> StreamBatch:
    """A batch of one window of a text."""
    mask = torch.ones_like(target, dtype=torch.bool)[None]
    index = torch.zeros(1, dtype=torch.long, device=target.device)
    return StreamBatch(index=index, target_input=read[None], target=target[None], target_mask=mask)


def surprisals(output: Output, target: Tensor) -> Tensor:
    """(N,) -log p of each true token, in nats and in double precision."""
    return -output.logits.double().log_softmax(-1).gather(1, target[:, None]).squeeze(1)


def mean_attention(output: Output) -> Tensor | None:
    """(B, T, S) the mean of the attention of all layers and heads; None where there is none."""
    layers = [weights.mean(1) if weights.dim() == 4 else weights for weights in output.attention.values()]
    return torch.stack(layers).mean(0) if layers else None
