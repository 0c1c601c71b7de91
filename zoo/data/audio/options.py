"""The keys of sounds with transcripts: how transcripts become tokens, sounds frames, and what training changes."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Le
from pydantic import Field

from zoo.arguments import Count, NonNegative, Positive
from zoo.data.options import Options
from zoo.data.text.options import Language, TokenOptions

Factor = Annotated[float, Ge(0.5), Le(2)]  # How many times as fast a sound is played
Policy = Literal["LB", "LD", "SM", "SS"]
Numbers = Annotated[list[NonNegative], Field(min_length=5, max_length=5, description="a list [F,mF,T,p,mT] of numbers")]
POLICIES: dict[str, tuple[float, ...]] = {
    "LB": (27, 1, 100, 1.0, 1),
    "LD": (27, 2, 100, 1.0, 2),
    "SM": (15, 2, 70, 0.2, 2),
    "SS": (27, 2, 70, 0.2, 2),
}
"""SpecAugment (Park et al. 2019, https://arxiv.org/abs/1904.08779, table 1), as (F, mF, T, p, mT): up to F of the mel
bands are masked mF times, and up to T frames, or a share p of all frames, mT times. They are made for 80 bands."""


@dataclass(frozen=True)
class TranscriptOptions(TokenOptions):
    """How transcripts become tokens, the tokens ids, and which transcripts are trained on."""

    language: Language = "en"
    """The language whose rules `words` and `spacy` follow."""
    tokenizer: Literal["words", "spacy", "whitespace", "characters", "bpe", "unigram"] = "characters"
    max_length: Count | None = None
    """The most tokens of a training transcript; longer ones are left out. None: all transcripts are kept."""


@dataclass(frozen=True)
class SpectrogramOptions(Options):
    """How a sound of any kind becomes frames: `zoo.data.audio.spectrogram`."""

    group: ClassVar[str] = "spectrogram"

    rate: Annotated[int, Ge(1000)] = 16000
    """Samples per second, to which every sound is resampled."""
    mels: Count = 40
    """Bands of a frame."""
    window: Positive = 25
    """Length of a frame in milliseconds."""
    hop: Positive = 10
    """Milliseconds from the centre of a frame to the next."""
    scale: Literal["htk", "slaney"] = "htk"
    """The mel scale: `htk` with triangles of height 1, as in torchaudio, or `slaney` with triangles of one area, as in
    librosa."""
    fmin: NonNegative = 0
    """The lowest frequency in hertz."""
    fmax: Positive | None = None
    """The highest frequency in hertz; None: half the rate."""
    normalise: Literal["bands", "sound", "none"] = "bands"
    """Mean 0 and standard deviation 1 over a sound, for each band or for all bands together."""
    max_seconds: Positive = 60
    """The longest sound. Longer ones are left out of the training split, and are an error elsewhere."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.window_samples < 2:
            raise self.refusal("window", f"two samples or more, {2000 / self.rate:g} ms at this rate")
        if self.hop_samples < 1:
            raise self.refusal("hop", f"one sample or more, {1000 / self.rate:g} ms at this rate")
        if self.highest > self.rate / 2:
            raise self.refusal("fmax", f"at most half of data.{self.group}.rate, {self.rate / 2:g}")
        if self.fmin >= self.highest:
            raise self.refusal("fmin", f"a frequency below the highest one, {self.highest:g}")

    @property
    def highest(self) -> float:
        """`fmax`, or half the rate."""
        return self.rate / 2 if self.fmax is None else self.fmax

    @property
    def window_samples(self) -> int:
        """Samples of a frame."""
        return round(self.rate * self.window / 1000)

    @property
    def hop_samples(self) -> int:
        """Samples from the centre of a frame to the next."""
        return round(self.rate * self.hop / 1000)

    @property
    def seconds(self) -> float:
        """Seconds from the centre of a frame to the next."""
        return self.hop_samples / self.rate


@dataclass(frozen=True)
class AugmentOptions(Options):
    """How training changes a sound in each epoch: `zoo.data.audio.spectrogram`."""

    group: ClassVar[str] = "augment"

    speed: tuple[Factor, ...] = (1.0,)
    """Factors of the speed, which are drawn with equal probability. Time and pitch change together."""
    masks: Policy | Numbers | None = None
    """SpecAugment without its time warp: the name of a policy, or its numbers [F,mF,T,p,mT], see `POLICIES`."""

    @property
    def varies(self) -> bool:
        """Whether a sound changes from epoch to epoch."""
        return self.masks is not None or tuple(self.speed) not in ((), (1.0,))
