"""The five kinds of data of bits, small."""

from typing import Any

from zoo.data.bits.associative_recall import Recall
from zoo.data.bits.copy_bits import CopyBits
from zoo.data.bits.dynamic_ngrams import Ngrams
from zoo.data.bits.priority_sort import PrioritySorts
from zoo.data.bits.repeat_copy import RepeatCopies
from zoo.data.bits.stream import BitStream

KINDS = (CopyBits, RepeatCopies, Recall, Ngrams, PrioritySorts)


def stream(kind: type[BitStream] = CopyBits, **options: Any) -> BitStream:
    """Data of a kind, ready; `batch_size`, `workers` and `seed` are of its loader."""
    loader = {"batch_size": options.pop("batch_size", 4), "num_workers": options.pop("workers", 0)}
    loader["seed"] = options.pop("seed", 1)
    sample = {"train": 24, "val": 5, "test": 3, "seed": 4, **options.pop("sample", {})}
    made = kind(sample=sample, loader=loader, **options)
    made.setup()
    return made


def first(data: BitStream, split: str, count: int) -> list[Any]:
    """The first sequences of a split, also from the stream after its size."""
    part = data.part(split)
    return [part.make(part.seed, number) for number in range(count)]
