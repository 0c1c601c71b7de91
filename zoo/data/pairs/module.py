"""Pairs of a source and a target text: what every parallel corpus shares."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import datasets

from zoo.data.bucketing import Nouns
from zoo.data.options import SplitOptions
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
    any_length: ClassVar[bool] = True
    spec: PairSpec
    encoder: PairEncoder

    def __init__(
        self,
        *,
        text: PairTextOptions,
        languages: tuple[str, str] = ("en", "en"),
        split: SplitOptions | None = None,
        batch_size: int = 64,
        max_tokens: int | None = None,
        num_workers: int = 0,
        on_bad_row: str = "error",
        cache_dir: str | None = None,
        seed: int = 0,
    ) -> None:
        """No file is touched here.

        Args:
            text: how text becomes tokens, see `PairTextOptions`.
            languages: of the source and of the target, for the rules of words.
            split: shares of the splits that the corpus comes without, see `SplitOptions`.
            batch_size: pairs in a batch, of any length, over all processes.
            max_tokens: tokens in a batch of pairs of similar length, source and target together, over all processes;
                takes the place of batch_size. The rest as in `PreparedData`.
        """
        super().__init__(
            batch_size=batch_size,
            max_tokens=max_tokens,
            num_workers=num_workers,
            on_bad_row=on_bad_row,
            cache_dir=cache_dir,
            seed=seed,
        )
        self.text = text
        self.languages = languages
        self.split = split or SplitOptions()

    def _facts(self, source: Source) -> dict[str, Any]:
        options = {"text": vars(self.text), "split": vars(self.split), "languages": list(self.languages)}
        return {"family": "pairs", "format": FORMAT, **options}

    def _write(self, folder: Path, source: Source) -> dict[str, Any]:
        return prepare_pairs(folder, source, self.text, self.languages, self.split, self.on_bad_row)

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
        overfits = bool(getattr(self.trainer, "overfit_batches", 0))  # and so evaluates what it trains on
        return {name: EncodedPairs(part, evaluation=overfits or name != "train") for name, part in stored.items()}

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
