"""Pairs of texts to batches, and ids back to texts."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from torch import Tensor

from zoo.data.notes import key
from zoo.data.pairs.batch import PairBatch
from zoo.data.pairs.options import PairTextOptions
from zoo.data.parts import Numbers, Shown, Words
from zoo.data.table_encoder import WritingEncoder
from zoo.data.text.links import alignment, covering
from zoo.data.text.tokenization import Tokenizer
from zoo.data.text.vocabulary import BEGIN, END, WRITTEN_SPECIAL, Vocabulary

SIDES = ("source", "target")
NUMBERS = pa.list_(pa.int32())
LINKS = ("source_spans", "target_spans", "linked_source", "linked_target")
"""The alignment of words: the begin and the end of each word in the text, in sequence, and the numbers of linked
words."""
REFERENCES = ("referring", "referent")
"""The numbers of source words that refer to other source words, and the numbers of those."""


def _side(name: str) -> Words:
    return Words(
        name,
        vocabulary=name,
        special=WRITTEN_SPECIAL,
        lengths=f"{name}_tokens",
        unknown=f"{name}_unknown_rate",
        unit=f"a training {name}",
    )


class PairEncoder(WritingEncoder):
    """Sources, with or without their targets, to batches."""

    takes = "a source text"
    options = PairTextOptions
    raw = pa.schema(
        {**{f"{side}_text": pa.string() for side in SIDES}, **dict.fromkeys((*LINKS, *REFERENCES), NUMBERS)}
    )
    given = ("source_text",)
    parts = (
        *map(_side, SIDES),
        *(Numbers(f"aligned_{side}", training=False) for side in SIDES),
        *(Numbers(f"{name}_tokens", training=False) for name in REFERENCES),
        *(Shown(f"{side}_text", training=True) for side in SIDES),
    )
    texts = "{}_text"
    target = "target"
    text_options: PairTextOptions

    def __init__(
        self,
        text: PairTextOptions,
        vocabularies: Sequence[Vocabulary] = (),
        subwords: Sequence[str | None] = (),
        *,
        languages: Sequence[str] = ("en", "en"),
    ) -> None:
        """`languages` are those of the source and the target; the rest as in `TableEncoder`."""
        self.languages = (languages[0], languages[1])
        self.joint = text.joint
        super().__init__(text, vocabularies, subwords)

    def extra_state(self) -> dict[str, Any]:
        return {"languages": list(self.languages)}

    def language(self, part: Words) -> str:
        return self.languages[SIDES.index(part.name)]

    def vocabulary_name(self, part: Words) -> str:
        return "shared" if self.joint else part.name

    def size(self, name: str) -> int | None:
        return self.text_options.sizes[SIDES.index(name) if name in SIDES else 0]

    def typed(self, one: str) -> dict[str, Any]:
        return {"source_text": one}

    def __call__(self, texts: str | Sequence[str], references: Sequence[str] | None = None) -> PairBatch:
        """A batch of sources, and of their translations if `references` are given. A source may have any length; one
        without tokens is only its end."""
        texts = [texts] if isinstance(texts, str) else texts
        if references is None:
            return super().__call__(texts)
        pairs = zip(texts, references, strict=True)
        return self.encode([{"source_text": source, "target_text": target} for source, target in pairs])

    def tokens(self, table: pa.Table) -> pa.Table:
        """Cut both texts into tokens, and turn links and references of words into those of tokens."""
        given = [side for side in SIDES if f"{side}_text" in table.column_names]
        columns: dict[str, Any] = {f"{side}_text": table[f"{side}_text"] for side in given}
        texts = [table[f"{side}_text"].to_pylist() for side in given]
        for side, every in zip(given, texts, strict=True):
            forms = [self.tokenizers[side].split(text).forms for text in every]
            columns[side] = pa.array(forms, pa.list_(pa.string()))
        if "linked_source" in table.column_names:
            links = [links_of_tokens(row, [self.tokenizers[side] for side in SIDES]) for row in table.to_pylist()]
            for number, side in enumerate(SIDES):
                columns[f"aligned_{side}"] = pa.array([[link[number] for link in row] for row in links], NUMBERS)
        if "referent" in table.column_names:
            pairs = [references_of_tokens(row, self.tokenizers["source"]) for row in table.to_pylist()]
            for number, name in enumerate(REFERENCES):
                columns[f"{name}_tokens"] = pa.array([[pair[number] for pair in row] for row in pairs], NUMBERS)
        columns["key"] = pa.array(map(key, zip(*texts, strict=True)), pa.int64())
        return pa.table(columns)

    def batch(self, parts: Mapping[str, Any], index: Tensor) -> PairBatch:
        source, (ids, mask) = parts["source"], parts.get("target", (None, None))
        linked = references = None
        if "aligned_source" in parts:
            linked = alignment(parts["target"], source, parts["aligned_target"], parts["aligned_source"])
        if "referent_tokens" in parts:
            references = alignment(source, source, *(parts[f"{name}_tokens"] for name in REFERENCES))
        texts: dict[str, Any] = {f"{side}_text": parts.get(f"{side}_text") for side in SIDES}
        return PairBatch(
            *source,
            target=ids,
            target_mask=mask,
            begin=BEGIN,
            index=index,
            alignment=linked,
            references=references,
            **texts,
        )

    def display(self, one: str) -> list[str]:
        """The written tokens of a source, and its end, in the order of the columns of attention."""
        return [*self.tokenizers["source"].split(one).shown, WRITTEN_SPECIAL[END]]


def links_of_tokens(row: Mapping[str, Any], tokenizers: Sequence[Tokenizer]) -> list[tuple[int, int]]:
    """(source token, target token) for each link of words and the tokens that share a letter with these words."""
    parts = [
        covering(row[f"{side}_spans"], tokenizer.spans(row[f"{side}_text"]))
        for side, tokenizer in zip(SIDES, tokenizers, strict=True)
    ]
    links = zip(row["linked_source"], row["linked_target"], strict=True)
    return sorted({(s, t) for source, target in links for s in parts[0][source] for t in parts[1][target]})


def references_of_tokens(row: Mapping[str, Any], tokenizer: Tokenizer) -> list[tuple[int, int]]:
    """(referring source token, token that it refers to) for each reference of words and the tokens of these words."""
    tokens = covering(row["source_spans"], tokenizer.spans(row["source_text"]))
    pairs = zip(row["referring"], row["referent"], strict=True)
    return [(one, other) for word, noun in pairs for one in tokens[word] for other in tokens[noun]]
