"""The base class of all data of pairs of a source and a target text."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Unpack

import datasets
import numpy as np
from numpy.typing import NDArray

from zoo.data.order import POOL, Nouns, Order
from zoo.data.pairs.batch import PairSpec
from zoo.data.pairs.encoding import SIDES, PairEncoder
from zoo.data.pairs.options import PairTextOptions
from zoo.data.pairs.sources import PairRow
from zoo.data.sources import Reading, Source
from zoo.data.stored import StoredSplit, numbers_of
from zoo.data.table_data import TableArguments, TableData


class PairData(TableData):
    """Pairs of a source and a target text.

    A training batch of `batch_size` is drawn from all pairs: with pairs of similar length, all sentences of a step
    would end at one position, and networks learn worse (results/translation.md). A batch of `max_tokens`, which counts
    source and target together, and every batch of an evaluation have pairs whose sides have similar lengths.
    `spec.longest_source` and `spec.longest_target` cover all three splits and include the end. Only training pairs are
    filtered.
    """

    tasks: ClassVar[tuple[str, ...]] = ("translation",)
    nouns: ClassVar[Nouns] = Nouns("pairs", "tokens")
    encoding = PairEncoder
    length_parts = SIDES
    filter_keys = "data.text.max_length, max_ratio"
    text: PairTextOptions
    spec: PairSpec
    encoder: PairEncoder

    def __init__(self, *, languages: Sequence[str] = ("en", "en"), **rest: Unpack[TableArguments]) -> None:
        """`languages` are those of the source and the target, for the rules of words; the rest as in `TableData`."""
        super().__init__(**rest)
        self.languages = (languages[0], languages[1])

    def _facts(self, source: Source) -> dict[str, Any]:
        return super()._facts(source) | {"languages": list(self.languages)}

    def new_encoder(self) -> PairEncoder:
        return self.encoding(self.text, languages=self.languages)

    def examples(self, rows: Iterator[PairRow], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        """Pairs with a blank side, which are usual in training files, are counted there; in other splits they are bad
        rows. A NUL byte is a bad row in any split."""
        for row in rows:
            nul = [place for text, place in zip(row[:2], row.places, strict=True) if "\0" in text]
            blank = [number for number, text in enumerate(row[:2]) if not text.strip()]
            if nul:
                reading.bad(nul[0], "NUL byte", "the file is binary or damaged")
            elif blank and reading.training:
                reading.dropped["empty"] += 1
            elif blank:
                reading.bad(row.places[blank[0]], "no text", f"the {SIDES[blank[0]]} is empty")
            else:
                yield {"source_text": row.source, "target_text": row.target, **row.links}

    def left_out(self, train: datasets.Dataset, lengths: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.bool_]]:
        both = np.stack([lengths[side] for side in SIDES])
        short, long = both.min(0), both.max(0)
        found = {"empty": short == 0}
        if (most := self.text.max_length) is not None:
            found[f"longer than {most} tokens"] = long > most
        if (ratio := self.text.max_ratio) is not None:
            found[f"more than {ratio} times as long as the other side"] = long > ratio * short
        return found

    def about(self, splits: Mapping[str, datasets.Dataset], facts: Mapping[str, Any]) -> dict[str, Any]:
        most = {side: max(int(numbers_of(part, f"num_{side}").max()) for part in splits.values()) for side in SIDES}
        longest = {f"longest_{side}": length + 1 for side, length in most.items()}  # the end
        return {"languages": list(self.languages), "shared": self.text.joint, **longest}

    def set_spec(self, about: Mapping[str, Any]) -> None:
        sizes = {f"{side}_size": len(self.encoder.known.vocabularies[side]) for side in SIDES}
        longest = {f"longest_{side}": about[f"longest_{side}"] for side in SIDES}
        self.spec = PairSpec(**sizes, **longest, shared=about["shared"])

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        texts = {f"{side}_text": row[f"{side}_text"] for side in SIDES}
        return texts | {f"{side}_tokens": " ".join(row[side]) for side in SIDES}

    def contents(self, about: Mapping[str, Any]) -> list[str]:
        if about["shared"]:
            return [f"one vocabulary of {about['vocabulary_size']:,} tokens for both sides"]
        source, target = (f"{about[f'{side}_size']:,} ({side})" for side in SIDES)
        return [f"vocabularies of {source} and {target} tokens"]

    def training_order(self, part: StoredSplit) -> Order:
        return self._bucketed(part, POOL if self.loader.max_tokens else 1)
