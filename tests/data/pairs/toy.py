"""A tiny generator of pairs with known alignment, as a data set with every option."""

import random
from collections.abc import Iterator
from typing import Any

from zoo.data.options import SampleOptions
from zoo.data.pairs.module import PairData
from zoo.data.pairs.options import PairTextOptions
from zoo.data.pairs.samples import Pair
from zoo.data.pairs.sources import generated_pairs
from zoo.data.sources import Source
from zoo.data.text.tokenization import RuleTokenizer

WORDS = {"der": "the", "Hund": "dog", "sieht": "sees", "Häuser": "big houses", "rot": "red", ",": ",", "nie": ""}
"""Each word and its translation, of one word, of two, or of none."""
SIZES = {"train": 60, "val": 10, "test": 12, "seed": 1}


def generate(count: int, *, seed: int) -> Iterator[Pair]:
    """Sentences of 1 to 9 words in German, the other way round in English."""
    for number in range(count):
        draw = random.Random(f"toy {seed} {number}")
        source = draw.choices(list(WORDS), k=draw.randint(1, 9))
        target, alignment = [], []
        for position, word in reversed(list(enumerate(source))):
            for translated in WORDS[word].split():
                alignment.append((position, len(target)))
                target.append(translated)
        alignment.append((len(source), len(target)))
        yield Pair([*source, "."], [*target, "."], sorted(alignment))


class Toy(PairData):
    """The pairs of `generate`, written as German and English are."""

    name = "toy"

    def __init__(self, *, text: dict[str, Any] | None = None, sample: dict[str, int] | None = None, **options: Any):
        given = PairTextOptions.of({"minimum_frequency": 1, **(text or {})})
        super().__init__(text=given, languages=("de", "en"), **options)
        self.sample = SampleOptions.of({**SIZES, **(sample or {})})

    def open_source(self) -> Source:
        source, target = (RuleTokenizer("words", language, False).join for language in self.languages)
        return generated_pairs(generate, self.sample, "toys", (source, target))
