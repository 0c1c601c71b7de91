"""The transcripts of sounds, with the time of each word."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from torch import Tensor

from zoo.data.audio.batch import AudioBatch, AudioSpec, Sound
from zoo.data.text.tokenization import BLANK
from zoo.decoding import Hypothesis
from zoo.predicting.predicting import Examined, Prediction
from zoo.predicting.writing import WritingPredictions


@dataclass(frozen=True)
class TimedWord:
    """A word of a transcript, and where the network heard it."""

    word: str
    begin: float  # Seconds
    end: float


@dataclass(frozen=True)
class Transcript:
    """One transcript of a sound."""

    text: str
    tokens: tuple[str, ...]  # As they were written, without the end
    log_prob: float  # Sum of the log-probabilities of the tokens and of the end, see `Hypothesis.log_prob`
    score: float  # The number by which the transcripts of a sound are ranked
    finished: bool  # False where the network and the rules allow no further token, not even an end
    attention: tuple[tuple[float, ...], ...] | None
    """(T, U) weights on the U positions of the network's memory, for each token and for the end if it was written.
    None where the network has no attention, or where it is not known which time a position has."""
    stride: float  # Seconds of a position of the memory

    words: tuple[TimedWord, ...]
    """From the first to the last position with the largest weight of one of the word's tokens; empty where `attention`
    is None."""

    @property
    def places(self) -> list[int]:
        """The position with the largest weight for each token."""
        return [row.index(max(row)) for row in (self.attention or ())[: len(self.tokens)]]


@dataclass(frozen=True)
class TranscriptionPrediction(Prediction):
    """The transcripts of one sound: the best first, or in the order in which they were sampled."""

    sound: Sound
    frames: Tensor  # (S, F) the features of the sound, as the network read them
    transcripts: tuple[Transcript, ...]

    @property
    def best(self) -> Transcript:
        return self.transcripts[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as written by `zoo predict --json`, with the name of the sound."""
        written = [asdict(one) for one in self.transcripts]
        return {"sound": self.sound.name, "seconds": round(self.sound.seconds, 4), "transcripts": written}


@dataclass(frozen=True)
class ExaminedTranscription(Examined):
    """A sound of a split, with the written and the true transcript."""

    prediction: TranscriptionPrediction
    spans: tuple[tuple[float, float] | None, ...] | None
    """The true begin and end of each token in seconds, if they are known and the best transcript is the true one."""

    @property
    def right(self) -> bool | None:
        """Whether the best transcript is the true one; None where that is not known."""
        return None if self.truth is None else self.prediction.best.text == self.truth


class TranscriptionPredictions(WritingPredictions):
    """The transcripts that any network for `transcription` writes."""

    name = "transcription"
    view: ClassVar[str] = "zoo.visualize.transcription.TranscriptionView"
    length_penalty = 0.0  # a sound says how long its transcript is
    spec: AudioSpec

    def predictions(self, batch: AudioBatch, words: list[Any]) -> list[TranscriptionPrediction]:
        """The transcripts of each sound, best first; `words` are the sounds as shown."""
        frames = [rows[mask].cpu() for rows, mask in zip(batch.frames, batch.frame_mask, strict=True)]
        return [
            TranscriptionPrediction(sound, features, tuple(map(self._shown, nbest)))
            for sound, features, nbest in zip(words, frames, self.predict_step(batch), strict=True)
        ]

    def examine(self, batch: AudioBatch) -> list[ExaminedTranscription]:
        assert batch.about is not None
        found = []
        predictions = self.predictions(batch, [about.sound for about in batch.about])
        for index, prediction, about in zip(batch.index.tolist(), predictions, batch.about, strict=True):
            truth = self.normal(about.text)
            spans = about.spans if prediction.best.text == truth else None
            found.append(ExaminedTranscription(index, prediction, truth, spans))
        return found

    def normal(self, text: str) -> str:
        """A transcript in the form in which it is written and compared: of the tokens of the data."""
        return self.encoder.text(self.encoder.target_tokenizer.split(text).forms)

    def _shown(self, hypothesis: Hypothesis) -> Transcript:
        tokens, stride = tuple(self.encoder.decode(hypothesis.ids)), (hypothesis.joins or 1) * self.spec.hop
        weights = hypothesis.looks
        words: list[TimedWord] = []
        if weights is not None:
            places = weights.argmax(1).tolist()
            for some in grouped(tokens, self.encoder.text_options.tokenizer):
                at = [places[t] for t in some]
                word = self.encoder.text([tokens[t] for t in some])
                words.append(TimedWord(word, round(min(at) * stride, 4), round((max(at) + 1) * stride, 4)))
        return Transcript(
            text=self.encoder.text(hypothesis.ids),
            tokens=tokens,
            log_prob=hypothesis.log_prob,
            score=hypothesis.score,
            finished=hypothesis.finished,
            attention=None if weights is None else tuple(map(tuple, weights.tolist())),
            stride=stride,
            words=tuple(words),
        )


def grouped(tokens: Sequence[str], tokenizer: str) -> list[list[int]]:
    """The numbers of the tokens of each word: letters between blanks, subwords from one that begins a word to the next,
    or for other tokenizers each token."""
    words: list[list[int]] = []
    new = True
    for number, token in enumerate(tokens):
        if tokenizer == "characters" and not token.strip():
            new = True
            continue
        if new or tokenizer not in ("characters", "bpe", "unigram") or token.startswith(BLANK):
            words.append([])
        words[-1].append(number)
        new = False
    return words
