"""Which symbols came before? One head of self-attention over what was read.

The authors of attention-zoo. 2026. https://example.org/tiny-tagging

"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, NamedTuple, Unpack

import datasets
import pyarrow as pa
import torch
import torch.nn.functional as F
from hydra.utils import instantiate
from matplotlib.figure import Figure
from torch import Tensor, nn
from torchmetrics import MeanMetric, Metric
from torchmetrics.classification import MulticlassAccuracy

from zoo.arguments import Count, Natural
from zoo.attention import GeneralScore, masked_softmax
from zoo.data.batch import Batch, Spec, derived
from zoo.data.inputs import Inputs, ids
from zoo.data.notes import key
from zoo.data.options import LoaderArguments, SampleOptions
from zoo.data.order import Nouns
from zoo.data.parts import Along, Words
from zoo.data.sources import Reading, Source, sample_source
from zoo.data.table_data import TableData
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.options import TokenOptions
from zoo.metrics import AttentionRecall
from zoo.models.output import Output
from zoo.tasks.task import Examined, Prediction, Task, TaskArguments
from zoo.visualize.view import View


@dataclass(frozen=True)
class TaggingSpec(Spec):
    """Sequences of symbols, each symbol with one tag."""

    symbols: int
    """Rows of the embedding, padding (0) included."""
    tags: tuple[str, ...]
    """Names of the tags, in the order of the logits."""

    def inputs(self) -> Inputs:
        return Inputs(TaggingBatch, {"symbols": ids(("batch", "symbols"), self.symbols)})


@dataclass(frozen=True)
class TaggingBatch(Batch):
    """B sequences of at most T symbols."""

    symbols: Tensor
    """(B, T) ids, 0 at padding."""
    tags: Tensor | None = None
    """(B, T) the tag of each symbol; None when predicting."""
    index: Tensor = derived(lambda batch: torch.arange(batch.symbols.shape[0]), sliced=True)
    """(B,) number of each sequence in its split."""
    symbol_mask: Tensor = derived(lambda batch: batch.symbols > 0)
    """(B, T) True at symbols."""

    def __len__(self) -> int:
        return len(self.symbols)


class Beginnings:
    """For so many optimiser `steps` only the first `symbols` of a sequence count."""

    def __init__(self, *, symbols: Count, steps: Natural) -> None:
        self.symbols, self.steps = symbols, steps

    def counted(self, mask: Tensor, step: int) -> Tensor:
        """(B, T) True at the symbols that count at an optimiser step; `mask` is True at all symbols."""
        counted = mask.clone()
        if step < self.steps:
            counted[:, self.symbols :] = False
        return counted


LETTERS = "abcdefghijkl"
TAGS = ("new", "again")


class Tagged(NamedTuple):
    """One generated sequence."""

    symbols: str
    tags: list[int]


def generate(count: int, *, seed: int) -> Iterator[Tagged]:
    """`count` sequences of 2 to 9 letters; number i depends on `seed` and i alone."""
    for index in range(count):
        draw = random.Random(f"repeats {seed} {index}")
        symbols = "".join(draw.choices(LETTERS, k=draw.randint(2, 9)))
        yield Tagged(symbols, [int(letter in symbols[:at]) for at, letter in enumerate(symbols)])


class TaggingEncoder(TableEncoder):
    """Words of letters to batches; all that a prediction needs of the data."""

    options = TokenOptions
    raw = pa.schema({"symbols": pa.list_(pa.string()), "tags": pa.list_(pa.int32())})
    given = ("symbols",)
    parts = (Words("symbols", lengths="symbols"), Along("tags", "symbols", empty=0))
    cuts = False

    def typed(self, one: str) -> dict[str, Any]:
        return {"symbols": list(one)}

    def display(self, one: str) -> list[str]:
        """The symbols of an input."""
        return list(one)

    def tokens(self, table: pa.Table) -> pa.Table:
        return table.append_column("key", pa.array(map(key, table["symbols"].to_pylist())))

    def batch(self, parts: Mapping[str, Any], index: Tensor) -> TaggingBatch:
        return TaggingBatch(parts["symbols"].values, parts.get("tags"), index)


class Repeats(TableData):
    """Generated sequences with their tags."""

    name = "repeats"
    tasks: ClassVar[tuple[str, ...]] = ("tagging",)
    nouns: ClassVar[Nouns] = Nouns("sequences", "symbols")
    encoding = TaggingEncoder
    text_options = TokenOptions
    length_parts = ("symbols",)
    spec: TaggingSpec
    encoder: TaggingEncoder

    def __init__(
        self, *, sample: Mapping[str, Any] | SampleOptions | None = None, **rest: Unpack[LoaderArguments]
    ) -> None:
        super().__init__(**rest)
        self.sample = SampleOptions.of(sample)

    def open_source(self) -> Source:
        return sample_source(generate, self.sample, "sequences")

    def examples(self, rows: Iterator[Tagged], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        for row in rows:
            yield {"symbols": list(row.symbols), "tags": row.tags}

    def set_spec(self, about: Mapping[str, Any]) -> None:
        self.spec = TaggingSpec(symbols=about["vocabulary_size"], tags=TAGS)

    def facts(self, split: datasets.Dataset, encoder: TableEncoder) -> dict[str, Any]:
        tags = Counter(chain.from_iterable(split.with_format(None)["tags"]))
        return {"tags": {name: tags[number] for number, name in enumerate(TAGS)}}

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        return {"symbols": "".join(row["symbols"]), "tags": " ".join(TAGS[tag] for tag in row["tags"])}


class LooksBack(nn.Module):
    """Tags each symbol by what attention finds among those before it."""

    tasks = ("tagging",)
    attends: ClassVar[dict[str, str]] = {"before": "symbol_mask"}

    def __init__(self, spec: TaggingSpec, *, embedding_dim: Count = 16) -> None:
        super().__init__()
        self.embedding = nn.Embedding(spec.symbols, embedding_dim, padding_idx=0)
        self.score = GeneralScore(embedding_dim, embedding_dim)
        self.tags = nn.Linear(2 * embedding_dim, len(spec.tags))

    def forward(self, batch: TaggingBatch) -> Output:
        """Scores (B, T, C), attention `before` (B, T, T)."""
        x = self.embedding(batch.symbols)  # (B, T, E)
        weights = masked_softmax(self.score(x, self.score.prepare(x)), earlier(batch))  # (B, T, T)
        context = weights.to(x.dtype) @ x  # (B, T, E)
        return Output(self.tags(torch.cat([x, context], -1)), {"before": weights})


def earlier(batch: TaggingBatch) -> Tensor:
    """(B, T, T) True where a real symbol (row) may look: at those before it (column)."""
    both = batch.symbol_mask[:, :, None] & batch.symbol_mask[:, None]
    return both.tril(-1)


@dataclass(frozen=True)
class TaggedSequence(Prediction):
    """The symbols of a sequence, their tags, and what was looked at for each."""

    symbols: tuple[str, ...]
    tags: tuple[str, ...]
    attention: tuple[tuple[float, ...], ...]
    """A row for each symbol, on those of the sequence."""


class Tagging(Task):
    """Any network that serves `tagging`."""

    name = "tagging"
    headline = ("accuracy", "attention_recall")
    monitors: ClassVar[dict[str, str]] = {"loss": "min", "accuracy": "max", "attention_recall": "max"}
    groups = ("curriculum",)
    view = "tiny_tagging.TaggingView"
    spec: TaggingSpec | None

    def __init__(self, *, curriculum: dict[str, Any], **rest: Unpack[TaskArguments]) -> None:
        super().__init__(**rest)

    def prepare_training(self) -> None:
        self.curriculum = instantiate(self.hparams["curriculum"])

    def metrics(self) -> dict[str, Metric]:
        assert self.spec is not None
        accuracy = MulticlassAccuracy(len(self.spec.tags), average="micro")
        return {"loss": MeanMetric(), "accuracy": accuracy, "attention_recall": AttentionRecall()}

    def training_step(self, batch: TaggingBatch, batch_idx: int) -> Tensor:
        assert self.network is not None and batch.tags is not None
        output: Output = self.network(batch)
        counted = self.curriculum.counted(batch.symbol_mask, self.global_step)
        total = F.cross_entropy(output.logits[counted].float(), batch.tags[counted], reduction="sum")
        count = counted.sum()
        options = {"prog_bar": True, "on_step": False, "on_epoch": True, "sync_dist": True}
        self.log("train/loss", total.detach() / count, batch_size=int(count), **options)
        return self.global_mean(total, count)

    def evaluate(self, batch: TaggingBatch, stage: str) -> None:
        assert self.network is not None and batch.tags is not None
        output: Output = self.network(batch)
        logits, tags = output.logits[batch.symbol_mask].float(), batch.tags[batch.symbol_mask]
        same = (batch.symbols[:, :, None] == batch.symbols[:, None]).tril(-1) & batch.symbol_mask[:, None]
        values = {
            "loss": (F.cross_entropy(logits, tags), len(tags)),
            "accuracy": (logits, tags),
            "attention_recall": (output.attention["before"].flatten(0, 1), same.flatten(0, 1)),
        }
        for name, parts in values.items():
            self.record(stage, name, *parts)

    def predictions(self, batch: TaggingBatch, words: list[Any]) -> list[TaggedSequence]:
        assert self.network is not None and self.spec is not None
        output: Output = self.network(batch)
        best, weights = output.logits.argmax(-1).tolist(), output.attention["before"].tolist()
        return [
            TaggedSequence(
                tuple(symbols),
                tuple(self.spec.tags[tag] for tag in best[b][: len(symbols)]),
                tuple(tuple(row[: len(symbols)]) for row in weights[b][: len(symbols)]),
            )
            for b, symbols in enumerate(words)
        ]

    def examine(self, batch: TaggingBatch) -> list[Examined]:
        assert self.spec is not None
        rows = zip(batch.symbols, batch.symbol_mask, strict=True)
        words = [self.encoder.vocabulary.decode(row[mask].tolist()) for row, mask in rows]
        truths: list[str | None] = [None] * len(batch)
        if batch.tags is not None:
            tagged = zip(batch.tags, batch.symbol_mask, strict=True)
            truths = [" ".join(self.spec.tags[tag] for tag in row[mask].tolist()) for row, mask in tagged]
        found = zip(batch.index.tolist(), self.predictions(batch, words), truths, strict=True)
        return [Examined(*one) for one in found]


class TaggingView(View):
    """Sequences with a tag for each symbol."""

    noun: ClassVar[str] = "sequence"
    columns: ClassVar[tuple[str, ...]] = ("symbols", "tags")

    def example(self, example: Mapping[str, Any]) -> str:
        symbols: str = example["symbols"]
        return symbols

    def row(self, prediction: TaggedSequence) -> list[Any]:
        return [" ".join(prediction.symbols), " ".join(prediction.tags)]

    def picture(self, prediction: TaggedSequence, examined: Examined | None = None) -> Figure:
        figure = Figure(figsize=(3, 3), layout="constrained")
        axes = figure.add_subplot()
        axes.imshow(prediction.attention, cmap="Blues", vmin=0, vmax=1)
        places = range(len(prediction.symbols))
        axes.set_xticks(places, prediction.symbols)
        axes.set_yticks(places, [" ".join(pair) for pair in zip(prediction.symbols, prediction.tags, strict=True)])
        return figure
