"""Notes on data with which a score would deceive: one line each, for the log and `zoo data`."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zoo.data.text.options import UNSPACED_ADVICE

CHARACTERS = "text without blanks between words needs data.text.tokenizer=characters"


def key(parts: Sequence[Any]) -> int:
    """A number that is the same for equal examples."""
    hashed = [blake2b(part).digest() if isinstance(part, bytes) else part for part in parts]  # bytes may be many
    return int.from_bytes(blake2b(repr(hashed).encode(), digest_size=8).digest(), "big", signed=True)


def repeated(keys: Mapping[str, NDArray[np.int64]], noun: str) -> list[str]:
    """Notes on examples of validation and test that are also in an earlier split; `keys` (N,) of each split."""
    notes = []
    for name, earlier in (("val", ("train",)), ("test", ("train", "val"))):
        for other in (split for split in earlier if split in keys):
            same, count = int(np.isin(keys[name], keys[other]).sum()), len(keys[name])
            share, verb = "all" if same == count > 1 else f"{same:,} of", "is" if same == 1 else "are"
            known = f"{name}: {share} {count:,} {noun} {verb} in {other} too"
            if same == count and other == "train":
                known += ": a score on them shows nothing about new ones"
            if same:
                notes.append(known)
    return notes


def majority(classes: Mapping[str, int], noun: str) -> list[str]:
    """A note on a class that is so large that a network may learn to predict nothing else. `noun` names the examples,
    in the plural."""
    name = max(classes, key=classes.__getitem__)
    share = classes[name] / sum(classes.values())
    if share < (1 + 1 / len(classes)) / 2:
        return []
    return [f"{share:.0%} of the training {noun} are of class {name!r}: always predicting it is right as often"]


def uncut(what: str, mean: float, tokenizer: str, advice: str = UNSPACED_ADVICE) -> list[str]:
    """A note on texts that the tokenizer did not cut; `mean` is the mean number of tokens of `what`."""
    if mean >= 1.5:
        return []
    found = f"{what} has {mean:.1f} words on average: data.text.tokenizer={tokenizer} does not cut this text"
    return [f"{found}; {advice}"]


def mostly_unknown(rate: float) -> list[str]:
    """A note on a vocabulary that has few words of its own training text; `rate` is the share of unknown ones."""
    if rate < 0.5:
        return []
    return [f"{rate:.0%} of the training words are unknown: data.text.minimum_frequency=1 keeps them all"]
