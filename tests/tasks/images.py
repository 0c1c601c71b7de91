"""A network with a fixed caption for each image, images for it, and the task around it."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from zoo.data.captions.options import CaptionTextOptions, PictureOptions
from zoo.data.images.batch import ImageBatch, ImageDescription, ImageSpec
from zoo.data.images.encoding import ImageCaptionEncoder
from zoo.data.parts import Padded, padded
from zoo.data.text.vocabulary import END, WRITTEN_SPECIAL, Vocabulary
from zoo.layers.state import State, Step
from zoo.models.output import Output
from zoo.objectives.feeding import walk
from zoo.tasks.captioning import Captioning

GRID = (2, 3)
CELLS = 6
WORDS = "a an the red blue green star ball dog left right of above is and there small large , ! ."
TEXT = CaptionTextOptions(tokenizer="whitespace", punctuation=True)
ENCODER = ImageCaptionEncoder(
    TEXT, [Vocabulary(WORDS.split(), WRITTEN_SPECIAL)], picture=PictureOptions(size=[8, 12]), grid=GRID
)
SPEC = ImageSpec(channels=3, height=8, width=12, target_size=len(ENCODER.vocabulary), longest_target=9, grid=GRID)


def _rows(ids: Sequence[Sequence[int]]) -> Padded:
    """Sequences of ids, each with its end."""
    flat = np.array([number for row in ids for number in row], np.int64)
    return padded(flat, [np.array([len(row) for row in ids], np.int64)], END)


class Says(nn.Module):
    """Writes a fixed caption for each image, with fixed attention at each step. The first pixel of an image holds the
    number of the caption."""

    looks: Tensor
    tasks = ("captioning",)
    attends: ClassVar[Mapping[str, str]] = {"source": "memory_mask"}

    def __init__(
        self, spec: ImageSpec, *, captions: Sequence[str], looks: Sequence[Sequence[Sequence[float]]] | None = None
    ) -> None:
        """`captions` by number; `looks` (captions, T, S), None: even; each step has two heads, which look the same."""
        super().__init__()
        ids, mask = _rows([ENCODER.vocabulary.encode(ENCODER.words(caption)) for caption in captions])
        steps = spec.longest_target + 1
        script = torch.full((len(captions), steps), spec.end)
        script[:, : ids.shape[1]] = torch.where(mask, ids, spec.end)
        logits = torch.full((*script.shape, spec.target_size), -9.0)
        self.logits = nn.Parameter(logits.scatter(2, script[..., None], 9.0))
        even = torch.full((len(captions), steps, spec.cells), 1 / spec.cells)
        for number, rows in enumerate(looks or ()):
            even[number, : len(rows)] = torch.tensor(rows)
        self.register_buffer("looks", even)

    def start(self, batch: ImageBatch) -> State:
        number = batch.image[batch.picture, 0, 0, 0].long()
        return State({"number": number}, {"time": torch.zeros(len(batch), 1, dtype=torch.long)})

    def step(self, tokens: Tensor, state: State) -> Step:
        time = state.hypotheses["time"].expand(tokens.shape[:2])
        number = state.memory["number"][:, None].expand_as(time)
        at = time.clamp(max=self.logits.shape[1] - 1)
        weights = self.looks[number, at][:, :, None].expand(-1, -1, 2, -1)
        log_probs = self.logits[number, at].log_softmax(-1)
        return Step(log_probs, State(state.memory, {"time": time + 1}), {"source": weights})

    def forward(self, batch: ImageBatch, *, need_weights: bool = True) -> Output:
        return walk(self, batch, lambda _, truth: truth, need_weights=need_weights)


def images(
    captions: Sequence[Sequence[str]],
    *,
    numbers: Sequence[int] | None = None,
    facts: Sequence[Any] | None = None,
    alignment: Tensor | None = None,
    order: Sequence[int] | None = None,
) -> ImageBatch:
    """Images with their captions in `order`. Image i has the number i for `Says`, or `numbers[i]`."""
    numbers = list(range(len(captions))) if numbers is None else list(numbers)
    pixels = torch.zeros(len(captions), 3, 8, 12, dtype=torch.uint8)
    pixels[:, 0, 0, 0] = torch.tensor(numbers, dtype=torch.uint8)
    rows = [(picture, caption) for picture, several in enumerate(captions) for caption in several]
    rows = rows if order is None else [rows[number] for number in order]
    picture = torch.tensor([picture for picture, _ in rows])
    ids = [ENCODER.vocabulary.encode(ENCODER.words(caption)) for _, caption in rows]
    about = zip(numbers, captions, facts or [None] * len(captions), strict=True)
    return ImageBatch(
        pixels,
        GRID,
        **dict(zip(("target", "target_mask"), _rows(ids), strict=True)),
        picture=picture,
        index=torch.tensor(numbers)[picture],
        alignment=alignment,
        about=tuple(ImageDescription(f"{number}.png", tuple(several), fact) for number, several, fact in about),
    )


def captioning(captions: Sequence[str], looks: Any = None, **options: Any) -> Captioning:
    """A new task around a network that says `captions`; without METEOR, wherever its program is installed."""
    task = Captioning(
        model={"_target_": "tests.tasks.images.Says", "captions": list(captions), "looks": looks},
        objective={"_target_": "zoo.objectives.CrossEntropy"},
        decoding=options.pop("decoding", {"_target_": "zoo.decoding.Greedy"}),
        monitor="val/bleu4",
        mode="max",
        **{"meteor": False} | options,
    )
    task.build(SPEC, ENCODER)
    return task.eval()
