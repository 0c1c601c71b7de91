"""The view of the cloze task: the candidates for a blank, and the attention to the document and to the query."""

from argparse import Namespace, _ArgumentGroup
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from zoo.data.cloze.batch import BLANK, ClozeQuestion
from zoo.data.cloze.readers import parse_line, read_file
from zoo.errors import ConfigError
from zoo.predicting.classification import AttendedSentence
from zoo.predicting.cloze import FILE, ClozePrediction, ExaminedQuestion, beside
from zoo.printable import shown
from zoo.visualize.blocks import UNKNOWN, WEIGHINGS, Block, Classes, Head, Passage, top_words
from zoo.visualize.drawing import Key
from zoo.visualize.view import AttentionMap, Field, View

CUT = " ..."  # The end of a document that `zoo data` has shortened
WEIGHING = "joint"  # By the share of the attention to the whole document, since candidates share one sum
SENTENCES = Key("sentences", "sentence weight", "The bar before a sentence is the attention of its words together.")
WORDS = Key(
    "words",
    f"word weight ({WEIGHINGS[WEIGHING].title})",
    "The colour behind a word is its attention; point at a word for the numbers. The attention to all places of a "
    "candidate, as a share of that to all candidates, is its probability.",
)
QUERY = Key(long="In the query the colour is how much each word counts.")
EVIDENCE = Key("evidence", "tells the answer")


class ClozeView(View):
    """Questions with a candidate for the blank. Files have one question per line, or blocks in CBT's form."""

    noun = "question"
    columns = ("query", "answer", "probability", "candidates", "top words")
    """`candidates` are sorted by probability; `top words` are the places of the document with most attention."""
    title = "What the network attended to"

    def options(self, group: _ArgumentGroup) -> None:
        again = "judge the best candidates again with the run's language models"
        group.add_argument("--rerank", action="store_true", help=again)
        same = "the same, with the language models that a test left in FILE"
        group.add_argument("--rerank-file", type=Path, metavar="FILE", help=same)

    def prepare(self, predictor: Any, options: Namespace) -> None:
        given: Path | None = options.rerank_file
        if given is not None and not given.is_file():
            left = f"a test with task.rerank=true leaves {FILE} in its folder"
            raise ConfigError(f"--rerank-file {given}: no such file; {left}")
        if options.rerank or given is not None:
            predictor.task.load_reranker(given or beside(predictor.checkpoint))

    def parse(self, line: str) -> ClozeQuestion:
        return parse_line(line)

    def form(self) -> tuple[Field, ...]:
        return Field("document", 5), Field(f"query with {BLANK}")

    def maps(self, predictor: Any, given: Any, prediction: ClozePrediction) -> list[AttentionMap]:
        """Return the attention of each word of the query to the document, where the network has it."""
        if (attention := getattr(predictor.task.network, "query_attention", None)) is None:
            return []
        words = prediction.query.words, prediction.document.words
        return [AttentionMap("query and document words", attention(predictor.encoder([given]))[0], *words)]

    def read_file(self, file: Path) -> list[Any | None]:
        return [*read_file(file)]

    def example(self, example: Mapping[str, Any]) -> str | None:
        """Return the whole sentences of the document that are shown, the query and the candidates in them."""
        document, query = str(example.get("document", "")), example.get("query")
        if document.endswith(CUT):
            document = document.removesuffix(CUT).rpartition(" . ")[0] + " ."
        words = document.split()
        if query is None or len(words) < 2:
            return None
        named = [name for name in str(example.get("candidates", "")).split(", ") if name in words]
        return f"{document} {query}" + f" | {'|'.join(named)}" * bool(named)

    def row(self, prediction: ClozePrediction) -> list[Any]:
        answer, shares = prediction.answer, prediction.probabilities
        likeliest = ", ".join(f"{word} {share:.2f}" for word, share in sorted(shares.items(), key=lambda one: -one[1]))
        query, top = shown(" ".join(prediction.query.words)), shown(top_words(sentences_of(prediction)))
        return [query, shown(answer), round(shares[answer], 4), shown(likeliest), top]

    def blocks(self, prediction: ClozePrediction, examined: ExaminedQuestion | None = None) -> list[Block]:
        answer, own, before = prediction.answer, prediction.reader_answer, prediction.reader_probabilities
        truth, evidence = (examined.truth, examined.evidence) if examined else (None, None)
        classes = Classes(prediction.probabilities, answer, "candidates")
        alone = f"re-ranked; the network alone: {own} {before[own]:.2f}" if own is not None and before else ""
        head = Head.compared(answer, truth, "answer", classes, above="in the blank", under=alone)
        query = query_of(prediction)
        keys = (
            *[SENTENCES, WORDS] * (prediction.document.weights is not None),
            *[QUERY] * (prediction.query.weights is not None),
            *[EVIDENCE] * (evidence is not None),
            *[UNKNOWN] * bool(query.unknown or prediction.document.unknown),
        )
        marked = None if evidence is None else [evidence[begin:end] for begin, end in spans(prediction)]
        return [
            head,
            Passage([query], WEIGHING, title="query", most_lines=6),
            Passage(sentences_of(prediction), WEIGHING, evidence=marked, most_lines=40, keys=keys),
        ]

    def unknown(self, prediction: ClozePrediction) -> list[str]:
        parts = (*sentences_of(prediction), query_of(prediction))
        return [part.words[place] for part in parts for place in part.unknown]


def spans(prediction: ClozePrediction) -> list[tuple[int, int]]:
    """Return where each sentence of the document begins and ends, without empty ones."""
    return [(begin, end) for begin, end in pairwise([0, *prediction.sentence_ends]) if begin < end]


def sentences_of(prediction: ClozePrediction) -> list[AttendedSentence]:
    """Return the sentences of the document. The weight of a sentence is the sum of the weights of its words."""
    found, document = [], prediction.document
    for begin, end in spans(prediction):
        unknown = tuple(place - begin for place in document.unknown if begin <= place < end)
        total, shares = None, None
        if document.weights is not None:
            weights = document.weights[begin:end]
            total = sum(weights)
            shares = tuple(weight / total if total else 0.0 for weight in weights)
        found.append(AttendedSentence(document.words[begin:end], total, shares, unknown))
    return found


def query_of(prediction: ClozePrediction) -> AttendedSentence:
    """Return the query as one sentence. The blank does not count as an unknown word."""
    query = prediction.query
    unknown = tuple(place for place in query.unknown if query.words[place] != BLANK)
    return AttendedSentence(query.words, None, query.weights, unknown)
