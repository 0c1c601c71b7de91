"""The base class of data of sources and the texts to be written from them."""

from collections.abc import Mapping
from typing import Any, ClassVar

import datasets

from zoo.data.copying.batch import CopySpec
from zoo.data.copying.encoding import CopyEncoder
from zoo.data.order import POOL, Order
from zoo.data.stored import StoredSplit, numbers_of
from zoo.data.table_data import TableData
from zoo.data.table_encoder import TableEncoder

SIDES = ("source", "target")


class CopyData(TableData):
    """Sources and texts to write. A family defines `examples`, which gives the columns of `CopyEncoder.raw`.

    Batches of training have sources of similar lengths, drawn from a pool of batches. `spec.longest_source` and
    `spec.longest_target` cover all splits.
    """

    encoding: ClassVar[type[CopyEncoder]] = CopyEncoder
    length_parts: ClassVar[tuple[str, ...]] = SIDES
    between: ClassVar[str] = " "  # What separates the texts of a source where it is shown in one line
    text: Any
    spec: CopySpec
    encoder: CopyEncoder

    def facts(self, split: datasets.Dataset, encoder: TableEncoder) -> dict[str, Any]:
        """The shares of tokens that `data.text.max_source` and `max_target` removed, where they removed any."""
        found = {}
        for side in SIDES:
            lost, kept = (int(numbers_of(split, f"{name}_{side}").sum()) for name in ("lost", "num"))
            if lost:
                found[f"{side}_cut_share"] = lost / (lost + kept)
        return found

    def about(self, splits: Mapping[str, datasets.Dataset], facts: Mapping[str, Any]) -> dict[str, Any]:
        most = {side: max(int(numbers_of(part, f"num_{side}").max()) for part in splits.values()) for side in SIDES}
        return {"longest_source": most["source"], "longest_target": most["target"] + 1}  # the end

    def spec_fields(self, about: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of the spec, from the description of the prepared data."""
        sizes = {name: about[name] for name in ("longest_source", "longest_target")}
        return {"vocabulary_size": len(self.encoder.vocabulary), **sizes}

    def set_spec(self, about: Mapping[str, Any]) -> None:
        self.spec = CopySpec(**self.spec_fields(about))

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        return {"article": self.between.join(row["source_texts"]), "summary": " ".join(row["target_texts"][0].split())}

    def training_order(self, part: StoredSplit) -> Order:
        return self._bucketed(part, POOL)
