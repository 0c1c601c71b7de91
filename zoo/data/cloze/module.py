"""The base class of all data of cloze questions."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, ClassVar

import datasets
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from torch.utils.data import DataLoader

from zoo.data.cloze.batch import ClozeQuestion, ClozeSpec
from zoo.data.cloze.encoding import BLANK_ID, ClozeEncoder, ClozeTextOptions, shown
from zoo.data.notes import key
from zoo.data.order import Evaluation, Nouns
from zoo.data.sources import Reading, Source
from zoo.data.stored import ROWS, numbers_of, offsets
from zoo.data.table_data import TableData, shortened
from zoo.data.table_encoder import TableEncoder

MISSING = "answer not in the document"
SHOWN_CANDIDATES = 20


class ClozeData(TableData):
    """Documents, each with a query that has a blank, and candidates for it. A batch has documents of similar length;
    `data.loader.max_tokens` counts their words.

    A training question whose answer is not in its document has an infinite loss. It is left out and counted. Such
    questions of validation and test stay, because without them it would be another test.
    """

    tasks: ClassVar[tuple[str, ...]] = ("cloze",)
    nouns: ClassVar[Nouns] = Nouns("questions", "words")
    encoding = ClozeEncoder
    length_parts = ("document",)
    text: ClozeTextOptions
    spec: ClozeSpec
    encoder: ClozeEncoder

    def examples(self, rows: Iterator[ClozeQuestion], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        for question in rows:
            if reading.training and not any(question.answer in sentence for sentence in question.sentences):
                reading.dropped[MISSING] += 1
                continue
            text = shown(question)
            row = text._asdict() | {"key": key([question.sentences, question.query])}
            row["answer"] = text.candidates.index(str(question.answer))
            if question.evidence:
                row["evidence"] = [n in question.evidence for n, words in enumerate(question.sentences) for _ in words]
            yield row

    def set_spec(self, about: Mapping[str, Any]) -> None:
        self.spec = ClozeSpec(vocabulary_size=about["vocabulary_size"], blank=BLANK_ID)

    def facts(self, split: datasets.Dataset, encoder: TableEncoder) -> dict[str, Any]:
        words, first = numbers_of(split, "num_document"), numbers_of(split, "first")
        right = numbers_of(split, "answer") == numbers_of(split, "frequent")
        found = {
            "candidates": round(float(numbers_of(split, "num_candidates").mean()), 2),
            "answers_missing": int((first < 0).sum()),
            "most_frequent_is_right_share": float(right.mean()),
        }
        if len(there := np.flatnonzero(first >= 0)):
            found["first_answer_share"] = float((first[there] / words[there]).mean())
        return found

    def about(self, splits: Mapping[str, datasets.Dataset], facts: Mapping[str, Any]) -> dict[str, Any]:
        notes = [
            f"{name}: the answers of {missing:,} of {facts[name]['questions']:,} questions are not in their documents: "
            "they count as wrong, and the loss leaves them out"
            for name in ("val", "test")
            if (missing := facts[name]["answers_missing"])
        ]
        share = facts["test"]["most_frequent_is_right_share"]
        always = f"test: always choosing the most frequent candidate of the document is right in {share:.1%}"
        return {"notes": [*notes, always]}

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        candidates = row["candidates"]
        return {
            "document": shortened(row["document"]),
            "query": " ".join(row["query"]),
            "candidates": ", ".join(candidates[:SHOWN_CANDIDATES]) + ", ..." * (len(candidates) > SHOWN_CANDIDATES),
            "answer": candidates[row["answer"]],
        }

    # For the re-ranking

    def sentences(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The distinct sentences of the training documents, on which language models are trained."""
        stored = self.part("train").stored.with_format("arrow", columns=["document", "ends"])
        return distinct_sentences(stored.iter(batch_size=ROWS))

    def every_batch(self, split: str) -> DataLoader[Any]:
        """All questions of a split on this process alone, for what one process does for all."""
        part = self.part(split)
        order = Evaluation(part.lengths, **self.loader.limit, nouns=self.nouns)
        return DataLoader(part, batch_sampler=order, **self._loading())


def distinct_sentences(tables: Iterable[pa.Table]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The word ids of all distinct sentences in sequence, and the length of each sentence, from the columns `document`
    and `ends`. The documents of CBT are passages of books that overlap, so that a sentence is in up to twenty of them.
    """
    found, size = dict[bytes, None](), np.dtype(np.int64).itemsize
    for table in tables:
        documents, ends = table["document"].combine_chunks(), table["ends"].combine_chunks()
        words = np.asarray(documents.flatten()).astype(np.int64).tobytes()
        begins = np.repeat(offsets(documents.value_lengths())[:-1], ends.value_lengths())
        limits = (size * (begins + np.asarray(ends.flatten()))).tolist()
        found |= dict.fromkeys(words[begin:end] for begin, end in pairwise([0, *limits]) if begin < end)
    return np.array(np.frombuffer(b"".join(found), np.int64)), np.array([len(one) // size for one in found])
