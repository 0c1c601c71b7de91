"""Pairs of a source and a target text: what every parallel corpus shares."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import datasets

from zoo.data.bucketing import POOL
from zoo.data.cache import steps_beside
from zoo.data.options import LoaderOptions, SplitOptions
from zoo.data.order import Nouns, Order
from zoo.data.pairs.encoding import EncodedPairs, PairEncoder, collate_pairs
from zoo.data.pairs.options import PairTextOptions
from zoo.data.pairs.prepare import ENCODER, FORMAT, PAIRS, prepare_pairs
from zoo.data.pairs.spec import PairSpec
from zoo.data.prepared import PreparedData
from zoo.data.rows import counted
from zoo.data.sources import Source
from zoo.data.stored import StoredSplit
from zoo.data.text.vocabulary import BEGIN, END, PADDING, UNKNOWN


class PairData(PreparedData[Source]):
    """Pairs of a source and a target text.

    In training a batch of `batch_size` is a draw from all pairs: with pairs of similar length a step would see
    sentences end at one place alone, and networks learn worse (results/translation.md). One of `max_tokens`, and every
    batch of an evaluation, holds pairs of which both sides are of similar length. `spec.longest_source` and
    `spec.longest_target` are those of all three splits, the end included: training pairs are filtered, those of
    evaluation never are.
    """

    task: ClassVar[str] = "translation"
    nouns: ClassVar[Nouns] = Nouns("pairs", "tokens")
    spec: PairSpec
    encoder: PairEncoder

    def __init__(
        self,
        *,
        text: PairTextOptions,
        languages: tuple[str, str] = ("en", "en"),
        split: SplitOptions | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """No file is touched here.

        Args:
            text: how text becomes tokens, see `PairTextOptions`.
            languages: of the source and of the target, for the rules of words.
            split: shares of the splits that the corpus comes without, see `SplitOptions`.
            loader: how batches are made, see `LoaderOptions`; `max_tokens` counts source and target together.
        """
        super().__init__(
            loader=loader,
        )
        self.text = text
        self.languages = languages
        self.split = split or SplitOptions()

    def _facts(self, source: Source) -> dict[str, Any]:
        options = {"text": vars(self.text), "split": vars(self.split), "languages": list(self.languages)}
        return {"family": "pairs", "format": FORMAT, **options}

    def _write(self, folder: Path, source: Source) -> dict[str, Any]:
        with steps_beside(folder) as steps:
            return prepare_pairs(folder, steps, source, self.text, self.languages, self.split, self.loader.on_bad_row)

    def _read(self, folder: Path, about: Mapping[str, Any]) -> dict[str, StoredSplit]:
        self.encoder = PairEncoder.from_state(json.loads((folder / ENCODER).read_text("utf-8")))
        self.spec = PairSpec(
            source_size=about["source_size"],
            target_size=about["target_size"],
            longest_source=about["longest_source"],
            longest_target=about["longest_target"],
            shared=about["shared"],
            padding=PADDING,
            unknown=UNKNOWN,
            begin=BEGIN,
            end=END,
        )
        stored = datasets.load_from_disk(folder / PAIRS)
        return {
            name: EncodedPairs(part, evaluation=self.overfitting or name != "train")  # it evaluates what it trains on
            for name, part in stored.items()
        }

    def training_order(self, part: StoredSplit) -> Order:
        return self._bucketed(part, POOL if self.loader.max_tokens else 1)

    def describe(self) -> dict[str, Any]:
        about = super().describe()
        both = f"vocabularies of {about['source_size']:,} (source) and {about['target_size']:,} (target) tokens"
        one = f"one vocabulary of {about['source_size']:,} tokens for both sides"
        return about | {"contents": [one if about["shared"] else both]}

    @property
    def _collate(self) -> Callable[[Any], Any]:
        return collate_pairs

    def _summary(self, about: Mapping[str, Any]) -> list[str]:
        splits = about["splits"]
        sizes = ", ".join(f"{name} {part['pairs']:,}" for name, part in splits.items())
        unknown = " and ".join(f"{splits['test'][f'{side}_unknown_rate']:.1%}" for side in ("source", "target"))
        both = f"vocabularies of {about['source_size']:,} and {about['target_size']:,}"
        vocabularies = f"one vocabulary of {about['source_size']:,}" if about["shared"] else both
        lines = [about["source"], f"{sizes} pairs, {vocabularies}, unknown tokens in test {unknown}"]
        for name, part in splits.items():
            if dropped := part["dropped"]:
                lines.append(f"{name}: dropped {sum(dropped.values()):,} pairs: {counted(dropped)}")
        if skipped := about["skipped"]:
            lines.append(f"left out {sum(skipped.values()):,} rows: {counted(skipped)}")
        return lines
