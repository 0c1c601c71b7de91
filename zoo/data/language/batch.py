"""Windows of a stream of tokens, and the facts about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from zoo.arguments import Count
from zoo.data.batch import Spec, WritingBatch, derived
from zoo.data.inputs import Inputs, ids, mask

Unit = Literal["words", "characters", "bytes", "pieces"]


@dataclass(frozen=True)
class LanguageSpec(Spec):
    """A text as one stream of tokens. Token 0 is the unknown one (of bytes: NUL), which a network may read but never
    writes. No token ends a text: a line ends with a token like any other."""

    padding: ClassVar[int] = 0
    begin: ClassVar[int] = 0
    end: ClassVar[None] = None
    unknown: ClassVar[int] = 0

    vocabulary_size: Count
    unit: Unit = "words"

    def inputs(self) -> Inputs:
        prompt = ("batch", "prompt")
        return Inputs(StreamBatch, {"prompt": ids(prompt, self.vocabulary_size), "prompt_mask": mask(prompt)})

    @property
    def target_size(self) -> int:
        """The number of tokens that can follow, which is that of all tokens."""
        return self.vocabulary_size


@dataclass(frozen=True, kw_only=True)
class StreamBatch(WritingBatch):
    """Windows of B columns of a stream, T tokens of each. A column's window continues the one of the batch before.

    In training and evaluation `target_input` (B, T) are the tokens that are read, and `target` (B, T) those that follow
    them. When predicting there are only prompts, which `WritingNetwork.start` reads.
    """

    unit: ClassVar[str] = "tokens"
    without_targets: ClassVar[str] = "let a search of zoo.decoding continue its prompts"

    begin: int = LanguageSpec.begin
    prompt: Tensor | None = None
    """(B, P) the tokens to continue, at least one of each; 0 at padding."""
    prompt_mask: Tensor | None = None
    """(B, P) True at tokens; a prefix of each row."""
    index: Tensor = derived(lambda batch: batch.numbers(), sliced=True)
    """(B,) number of each window in its split."""
    distance: Tensor | None = None
    """(B, T) how many tokens before a target verb its subject is; 0 at other targets. None where the data do not
    know the subjects."""
    rival: Tensor | None = None
    """(B, T) the target verb in the other number; 0 at other targets."""
    least: Tensor | None = None
    """(B, T) the surprisal of each target in nats, for a reader who knows the language: no network can expect less.
    None where the data do not know it."""
    token_bytes: float = 1.0
    """The mean number of bytes of a token of the split."""
    share: float = 1.0
    """T by the length for which the learning rate is meant, where windows have random lengths."""

    def numbers(self) -> Tensor:
        """(B,) the rows of the batch."""
        given = self.prompt if self.target is None else self.target
        if given is None:
            raise ValueError("a batch of a stream has targets or prompts, or says by `index` how many rows it has")
        return torch.arange(given.shape[0], device=given.device)

    def __len__(self) -> int:
        return self.index.shape[0]

    @property
    def units(self) -> Tensor | int:
        return len(self) if self.target_mask is None else self.target_mask.sum()

    @property
    def rate_share(self) -> float:
        return self.share

    @property
    def text_bytes(self) -> Tensor:
        """() the bytes of the targets, if all tokens of the split were equally long."""
        return self.forced.mask.sum() * self.token_bytes

    @property
    def memory_mask(self) -> Tensor:
        """(B, 0): what is written comes from no source."""
        return torch.zeros(len(self), 0, dtype=torch.bool, device=self.index.device)

    content_mask = memory_mask

    @property
    def memory_length(self) -> Tensor:
        """(B,) zeros: a limit [0, n] of the length is n tokens."""
        return torch.zeros(len(self), dtype=torch.long, device=self.index.device)

    @classmethod
    def of_prompts(cls, prompts: Sequence[Sequence[int]]) -> StreamBatch:
        """The batch that continues prompts of ids, at least one of each."""
        tokens, real = _padded(prompts)
        return cls(prompt=tokens, prompt_mask=real)

    @classmethod
    def of_texts(cls, texts: Sequence[Sequence[int]]) -> StreamBatch:
        """Whole texts of ids, whose tokens after the first are predicted."""
        tokens, real = _padded(texts)
        return cls(target_input=tokens[:, :-1], target=tokens[:, 1:], target_mask=real[:, 1:])


def _padded(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Ids and their mask, (B, T) each."""
    lengths = torch.tensor([len(row) for row in rows])
    mask = torch.arange(max(map(len, rows))) < lengths[:, None]
    flat = torch.tensor([token for row in rows for token in row])
    return torch.zeros(mask.shape, dtype=torch.long).masked_scatter(mask, flat), mask
