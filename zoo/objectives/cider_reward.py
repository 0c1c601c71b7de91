"""CIDEr-D of samples: the reward of a network that learns to write captions as people do (Rennie et al. 2017)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zoo.metrics.cider import DocumentFrequency, cider_d


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
