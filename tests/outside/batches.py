"""Random batches of these families, for the contract's clauses."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import torch
import torch.nn.functional as F
from tiny_listening import SoundBatch, SoundEncoder, SoundSpec
from tiny_pair import RingBatch, RingSpec
from tiny_stream import StreamSpec, WindowBatch
from tiny_tagging import TaggingBatch, TaggingSpec
from torch import Tensor

from tests.families import LONG, Family, Writing, mask_of, precise
from zoo.models.output import Output


class Sequences(Family):
    """Sequences of symbols with a tag each, for `tagging`."""

    spec = TaggingSpec(symbols=9, tags=("new", "again"))
    grids: ClassVar[dict[str, str]] = {"symbols": "symbol_mask", "tags": "symbol_mask"}
    singles = ("index",)

    sizes, nothing, long, targets = (4, 7, 2, 5, 3), (0,), (LONG, 3), ("tags",)

    def of_sizes(self, lengths: Sequence[int], seed: int) -> TaggingBatch:
        generator = torch.Generator().manual_seed(seed)
        mask = mask_of(lengths)
        symbols = torch.randint(1, self.spec.symbols, mask.shape, generator=generator).masked_fill(~mask, 0)
        again = (symbols[:, :, None] == symbols[:, None]).tril(-1).any(-1) & mask
        return TaggingBatch(symbols, again.long())

    def made(self, tensors: dict[str, Tensor], like: TaggingBatch) -> TaggingBatch:
        return replace(like, **tensors)

    def rows(self, batch: TaggingBatch, kind: str, mask: Tensor) -> Tensor:
        return (batch.symbol_mask[:, :, None] & mask[:, None]).tril(-1)

    def scores(self, output: Output, batch: TaggingBatch) -> Tensor:
        return output.logits.masked_fill(~batch.symbol_mask[..., None], 0.0)

    def loss(self, output: Output, batch: TaggingBatch) -> Tensor:
        assert batch.tags is not None
        return F.cross_entropy(precise(output.logits[batch.symbol_mask]), batch.tags[batch.symbol_mask])


class RandomPoints(Family):
    """Points and noise, for `sparring`. Points have no padding."""

    spec = RingSpec(noise=3)
    singles = ("points", "noise", "index")

    def batch(self, seed: int, *, empty: bool = True) -> RingBatch:
        generator = torch.Generator().manual_seed(seed)
        return RingBatch(
            torch.randn(5, 2, generator=generator), torch.randn(5, 3, generator=generator), torch.arange(5)
        )

    def long_batch(self) -> RingBatch:
        return self.batch(2)

    def loss(self, output: Output, batch: RingBatch) -> Tensor:
        true, made = precise(output.logits).unbind(1)
        return (F.softplus(-true) + F.softplus(made)).mean()


class RandomWindows(Family):
    """Windows of random characters, for `language_modelling`."""

    spec = StreamSpec(symbols=6)
    grids: ClassVar[dict[str, str]] = {"read": "mask", "target": "mask"}
    singles = ("index",)
    scribble: ClassVar[dict[str, float]] = {"read": 3}

    sizes, nothing, long, targets = (6, 4, 7, 3, 5), (0,), (LONG, 3), ("target",)

    def of_sizes(self, lengths: Sequence[int], seed: int) -> WindowBatch:
        generator = torch.Generator().manual_seed(seed)
        rows = [torch.randint(1, self.spec.symbols, (length,), generator=generator) for length in lengths]
        return WindowBatch.padded([F.pad(row, (1, 0)) for row in rows])

    def made(self, tensors: dict[str, Tensor], like: WindowBatch) -> WindowBatch:
        return replace(like, **tensors)

    def changed(self, batch: WindowBatch, place: int) -> tuple[WindowBatch, Tensor]:
        rows, read = batch.mask.sum(1) > place + 1, batch.read.clone()
        read[rows, place + 1] = 1 + read[rows, place + 1] % (self.spec.symbols - 1)
        return replace(batch, read=read), rows

    def windows(self, batch: WindowBatch, at: int) -> tuple[WindowBatch, WindowBatch]:
        first, second = (
            replace(batch, **{name: getattr(batch, name)[:, places] for name in ("read", "target", "mask")})
            for places in (slice(at), slice(at, None))
        )
        return first, second

    def scores(self, output: Output, batch: WindowBatch) -> Tensor:
        return output.logits.masked_fill(~batch.mask[..., None], 0.0)

    def loss(self, output: Output, batch: WindowBatch) -> Tensor:
        assert batch.target is not None
        return F.cross_entropy(precise(output.logits[batch.mask]), batch.target[batch.mask])

    def floor(self, batch: WindowBatch) -> float:
        """The conditional entropy of a character given those before it in its row, in nats: rows that begin in the same
        way cannot all be foretold."""
        assert batch.target is not None
        texts = [tuple(row[row > 0].tolist()) for row in batch.target]
        after = Counter(text[: at + 1] for text in texts for at in range(len(text)))
        before = Counter(text[:at] for text in texts for at in range(len(text)))
        return sum(n * math.log(before[text[:-1]] / n) for text, n in after.items()) / sum(after.values())


class Sounds(Writing):
    """Sounds and their tones, for `listening`."""

    spec = SoundSpec(tones=6, longest_target=8)
    encoder = SoundEncoder()
    grids: ClassVar[dict[str, str]] = {"frames": "frame_mask", "target": "target_mask"}
    singles = ("index",)
    scribble: ClassVar[dict[str, float]] = {"frames": 0.7}

    sizes, nothing, long = ((5, 6), (2, 2), (9, 5), (1, 1), (4, 7)), ((0, 2),), ((LONG, 4), (3, 2))

    def of_sizes(self, sizes: Sequence[tuple[int, int]], seed: int) -> SoundBatch:
        frames, targets = zip(*sizes, strict=True)
        draw = torch.Generator().manual_seed(seed)
        sounds = [torch.rand(length, self.spec.tones, generator=draw) for length in frames]
        ids = [torch.randint(4, self.spec.tokens, (length - 1,), generator=draw).tolist() for length in targets]
        return SoundBatch.padded(sounds, [[*row, self.spec.end] for row in ids])

    def readable(self, batch: SoundBatch) -> Tensor:
        return (torch.arange(self.spec.tokens) > self.spec.end).expand(len(batch), -1)
