"""Batches of cloze questions: candidates by their spelling, blanks, the state; and the distinct sentences."""

import numpy as np
import pyarrow as pa
import pytest
import torch

from zoo.data.cloze.batch import BLANK, ClozeQuestion, Shown
from zoo.data.cloze.encoding import BLANK_ID, SPECIAL, ClozeEncoder, ClozeTextOptions, occurrences, shown
from zoo.data.cloze.module import distinct_sentences
from zoo.data.text.vocabulary import Vocabulary
from zoo.errors import DataError


def test_occurrences_go_by_the_spelling():
    words = ["Ann", "ann", "Bob", "Ann", ",", "New", "York"]
    assert occurrences(words, ["Bob", "Ann", "New York", "Ann"]) == [1, -1, 0, 1, -1, -1, -1]
    assert occurrences(words, []) == [-1] * 7
    assert occurrences([], ["Ann"]) == []


@pytest.fixture
def encoder():
    return ClozeEncoder(ClozeTextOptions(), [Vocabulary(["the", "Ann", "slept", ".", "Bob"], SPECIAL)])


def test_questions(encoder):
    batch = encoder(["Ann slept. The cat Bob. XXXXX slept. | Ann|Zoe|Bob", "The Ann slept the. XXXXX. | the|Ann"])
    assert batch.document.tolist() == [[4, 5, 6, 1, 1, 7, 6], [1, 4, 5, 3, 6, 0, 0]]
    assert batch.occurrence.tolist() == [[0, -1, -1, -1, -1, 2, -1], [-1, 1, -1, 0, -1, -1, -1]]
    assert batch.candidate_mask.tolist() == [[True, True, True], [True, True, False]]
    assert batch.query.tolist() == [[BLANK_ID, 5, 6], [BLANK_ID, 6, 0]]
    assert batch.answer is None
    assert batch.evidence is None
    assert batch.text[0] == Shown(
        ["Ann", "slept", ".", "The", "cat", "Bob", "."], [BLANK, "slept", "."], ["Ann", "Zoe", "Bob"], [3, 7]
    )


def test_a_question_is_no_other_for_its_answer(encoder):
    question = ClozeQuestion([["Ann"], ["Bob", "slept"]], [BLANK, "slept"], ["Ann", "Bob"], "Bob")
    batch = encoder(question)
    assert batch.answer is None
    assert encoder.display(question) == batch.text[0] == shown(question)
    assert encoder.display("Ann slept. XXXXX slept.").candidates == ["Ann", "slept"]
    assert len(encoder([])) == 0


def test_a_word_like_the_blank_in_a_document_is_unknown_and_the_query_has_the_blank(encoder):
    """Special words have ids, but no word of a text has theirs."""
    lower = ClozeEncoder(ClozeTextOptions(lower=True), [Vocabulary(["ann"], SPECIAL)])
    question = ClozeQuestion([["ANN", "<pad>"]], [BLANK, "Ann"], ["ANN"], None)
    assert lower(question).query.tolist() == [[BLANK_ID, 3]]
    assert lower(question).document.tolist() == [[3, 1]]
    assert lower(question).occurrence.tolist() == [[0, -1]]


def test_nothing_to_choose_from(encoder):
    with pytest.raises(DataError, match=r"'XXXXX slept \.': no candidate is in the document; found: 'Zoe', 'bob'"):
        encoder("Ann slept. Bob too. XXXXX slept. | Zoe|bob")


def test_typed_quotes_and_brackets_are_written_as_the_training_texts_have_them():
    encoder = ClozeEncoder(ClozeTextOptions(), [Vocabulary(["``", "''", "-LRB-", "-RRB-", "Ann"], SPECIAL)])
    batch = encoder('"Ann" "Ann" (Ann). XXXXX.')
    assert batch.document.tolist() == [[3, 7, 4, 3, 7, 4, 5, 7, 6, 1]]
    assert batch.text[0].document[0] == '"'


def test_state_is_plain_and_comes_back(encoder, tmp_path):
    torch.save(encoder.state(), tmp_path / "state.pt")
    again = ClozeEncoder.from_state(torch.load(tmp_path / "state.pt", weights_only=True))
    line = "Ann slept. Bob too. XXXXX slept."
    assert torch.equal(again(line).document, encoder(line).document)
    assert torch.equal(again(line).query, encoder(line).query)
    assert again.text_options == encoder.text_options


def table(*documents):
    """Documents as lists of sentences of word ids."""
    words = [[word for sentence in document for word in sentence] for document in documents]
    ends = [np.cumsum([len(sentence) for sentence in document]).tolist() for document in documents]
    columns = {"document": pa.array(words, pa.list_(pa.int32())), "ends": pa.array(ends, pa.list_(pa.int32()))}
    return pa.table(columns)


def test_distinct_sentences_are_those_that_python_finds():
    """Sentences are repeated in one document and in others, and some sentences and documents are empty."""
    draw = np.random.default_rng(0)
    documents = [
        [draw.integers(0, 4, draw.integers(0, 5)).tolist() for _ in range(draw.integers(0, 6))] for _ in range(300)
    ]
    text, lengths = distinct_sentences([table(*documents[:100]), table(*documents[100:])])
    expected = list(dict.fromkeys(tuple(s) for document in documents for s in document if s))
    assert [tuple(part.tolist()) for part in np.split(text, np.cumsum(lengths)[:-1])] == expected
