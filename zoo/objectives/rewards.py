"""Rewards of hypotheses, for a decoder to learn from: BLEU, CIDEr-D and the length of a tour."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from sacrebleu.metrics import BLEU
from torch import Tensor

from zoo.errors import ConfigError
from zoo.metrics.cider import DocumentFrequency, cider_d
from zoo.objectives.loss import Supervised


class Reward(Protocol):
    """Any callable that returns the reward of each hypothesis, compared with the reference of the same number. Ids are
    given without begin, end and padding. `batch` has the examples, with equally many hypotheses each, in sequence. A
    reward may use all that it holds, such as further references or the points of a tour."""

    def __call__(self, hypotheses: list[list[int]], references: list[list[int]], batch: Supervised) -> list[float]: ...


class SentenceBLEU:
    """BLEU of single sentences, 0 to 1, by sacrebleu on tokens as they are.

    Orders longer than the hypothesis do not count (effective order), and the i-th order without a match counts as
    1 / 2^i matches (exp smoothing). Otherwise the reward of nearly every sample would be 0.
    """

    def __init__(self) -> None:
        self.bleu = BLEU(tokenize="none", effective_order=True)

    def __call__(self, hypotheses: list[list[int]], references: list[list[int]], batch: Supervised) -> list[float]:
        pairs = zip(hypotheses, references, strict=True)
        return [self.bleu.sentence_score(_words(ours), [_words(theirs)]).score / 100 for ours, theirs in pairs]


def _words(ids: list[int]) -> str:
    return " ".join(map(str, ids))


class CiderReward:
    """CIDEr-D of each hypothesis beside all training captions of its image, 0 to 10, in ids.

    The end is a token like any other, in hypotheses and captions. Without it the reward ignores where a caption stops,
    and captions come to end in "a" or "with a". All training captions decide how rare an n-gram is.

    Steven J. Rennie, Etienne Marcheret, Youssef Mroueh, Jerret Ross, Vaibhava Goel. Self-critical Sequence Training for
    Image Captioning. CVPR 2017. https://arxiv.org/abs/1612.00563
    """

    def __init__(self) -> None:
        self.end: int | None = None
        self.frequency: DocumentFrequency | None = None
        # the captions of all images in sequence: half a million of them need little memory
        self.tokens: NDArray[np.int32]
        self.captions: NDArray[np.int64]
        """Where each caption begins, and the end of the last."""
        self.images: NDArray[np.int64]
        """The first caption of each image, and their number."""

    def check(self, spec: Any) -> None:
        """Takes the end from the data's spec."""
        self.end = int(spec.end)

    def read(self, references: Iterable[Sequence[Sequence[int]]]) -> None:
        """All captions of each training image, in the order of the images' numbers, ids without begin and end."""
        assert self.end is not None, "check() comes first"
        tokens: list[int] = []
        captions, images = [0], [0]
        for several in references:
            for caption in several:
                tokens += [*caption, self.end]
                captions.append(len(tokens))
            images.append(len(captions) - 1)
        self.tokens = np.array(tokens, np.int32)
        self.captions, self.images = np.array(captions), np.array(images)
        self.frequency = DocumentFrequency(self._of(number) for number in range(len(images) - 1))

    def _of(self, image: int) -> list[list[int]]:
        """The captions of an image with their ends."""
        first, last = self.images[image : image + 2]
        begins = self.captions[first : last + 1].tolist()
        return [self.tokens[begin:end].tolist() for begin, end in pairwise(begins)]

    def __call__(self, hypotheses: list[list[int]], references: list[list[int]], batch: Any) -> list[float]:
        """`batch` has `index` (B,), the numbers of the images in the training split. Several rows may show one image,
        and each row has equally many hypotheses. The captions of each image are counted once."""
        assert self.frequency is not None, "read() comes first"
        rows = np.asarray(batch.index.tolist(), np.int64)
        numbers, image = np.unique(rows, return_inverse=True)
        places = np.repeat(image, len(hypotheses) // max(len(rows), 1))
        ended = [[*hypothesis, self.end] for hypothesis in hypotheses]
        captions = [self._of(number) for number in numbers.tolist()]
        return cider_d(ended, places.tolist(), captions, self.frequency).tolist()


class TourLength:
    """Minus the length of the closed tour through all points of a set, in the batch's coordinates, where every set lies
    in the unit square.

    So a network can learn tours without targets (Bello et al. 2016, https://arxiv.org/abs/1611.09940). Without
    task.constraint=tour it can write sequences that do not visit every point once. Their reward is minus one diagonal
    of the square per point: no tour is as long.
    """

    tasks = ("pointing",)  # Tasks in which a tour can be written
    first = 3  # The token of the first point, which `check` reads from the data's spec

    def check(self, spec: Any) -> None:
        """Raises ConfigError for data without tours."""
        goal = getattr(spec, "goal", None)
        if goal != "tour":
            found = f"those of {type(spec).__name__}" if goal is None else f"goal={goal}"
            raise ConfigError(
                f"the reward is the length of a tour, the data are {found}: use data=tsp, or data=points "
                "data.goal=tour, or another objective"
            )
        self.first = spec.first

    def __call__(self, hypotheses: list[list[int]], references: list[list[int]], batch: Any) -> list[float]:
        """`batch` has `points` (B, n, W) and `point_mask` (B, n). Each set has equally many hypotheses."""
        points, counts = batch.points.cpu().double(), batch.point_mask.sum(1).tolist()
        share = len(hypotheses) // max(len(counts), 1)
        rewards = [-count * points.shape[2] ** 0.5 for count in counts for _ in range(share)]
        by_length: dict[int, list[int]] = {}
        for row, tokens in enumerate(hypotheses):
            count = counts[row // share]
            if len(tokens) == count and sorted(tokens) == list(range(self.first, self.first + count)):
                by_length.setdefault(count, []).append(row)
        for rows in by_length.values():
            tours = torch.tensor([hypotheses[row] for row in rows]) - self.first  # (R, n)
            sets = torch.tensor([row // share for row in rows])
            for row, length in zip(rows, lengths(points[sets[:, None], tours]).tolist(), strict=True):
                rewards[row] = -length
        return rewards


def lengths(tours: Tensor) -> Tensor:
    """(R, n, W) points in the order in which they are visited -> (R,) the way through them and back to the first."""
    return (tours - tours.roll(-1, 1)).norm(dim=2).sum(1)
