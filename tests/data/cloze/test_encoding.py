"""Padding, occurrences and evidence of a batch against a slow loop; questions at prediction."""

import datasets
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.data.cloze.batch import ClozeBatch
from zoo.data.cloze.encoding import BLANK_ID, SPECIAL, ClozeEncoder, occurrences, shown
from zoo.data.cloze.options import ClozeTextOptions
from zoo.data.cloze.question import BLANK, ClozeQuestion, Shown
from zoo.data.stored import StoredSplit
from zoo.data.text.vocabulary import Vocabulary
from zoo.errors import DataError

WORD = st.integers(1, 30)
QUESTIONS = st.lists(
    st.tuples(st.lists(WORD, max_size=9), st.lists(WORD, min_size=1, max_size=5), st.integers(1, 4), st.integers(0, 3)),
    min_size=1,
    max_size=6,
)
"""Documents, queries, numbers of candidates, answers; of a word the candidate that it is follows from its id."""


def candidate(word, count):
    return word % 7 if word % 7 < count else -1


def slow_batch(questions, numbers):
    """The batch by loops."""
    width = max(1, *(len(document) for document, *_ in questions))
    query_width = max(len(query) for _, query, *_ in questions)
    most = max(count for *_, count, _ in questions)
    size = len(questions)
    document, mask = torch.zeros(size, width, dtype=torch.long), torch.zeros(size, width, dtype=torch.bool)
    occurrence, evidence = torch.full((size, width), -1), torch.zeros(size, width, dtype=torch.bool)
    query, query_mask = torch.zeros(size, query_width, dtype=torch.long), torch.zeros(size, query_width).bool()
    candidates = torch.zeros(size, most, dtype=torch.bool)
    for b, (words, asked, count, _) in enumerate(questions):
        for at, word in enumerate(words):
            document[b, at], mask[b, at], occurrence[b, at] = word, True, candidate(word, count)
            evidence[b, at] = word % 3 == 0
        for at, word in enumerate(asked):
            query[b, at], query_mask[b, at] = word, True
        for number in range(count):
            candidates[b, number] = True
    answer = torch.tensor([answer for *_, answer in questions])
    index = torch.tensor(numbers)
    return ClozeBatch.of(
        document, mask, query, query_mask, candidates, occurrence, answer, index=index, evidence=evidence
    )


def stored(questions):
    columns = {
        "document": [document for document, *_ in questions],
        "query": [query for _, query, *_ in questions],
        "occurrence": [[candidate(word, count) for word in document] for document, _, count, _ in questions],
        "evidence": [[word % 3 == 0 for word in document] for document, *_ in questions],
        "num_candidates": [count for *_, count, _ in questions],
        "answer": [answer for *_, answer in questions],
        "num_words": [len(document) for document, *_ in questions],
    }
    lists = dict.fromkeys(("document", "query", "occurrence"), datasets.List(datasets.Value("int32")))
    numbers = dict.fromkeys(("num_candidates", "answer", "num_words"), datasets.Value("int32"))
    features = {**lists, "evidence": datasets.List(datasets.Value("bool")), **numbers}
    found = datasets.Dataset.from_dict(columns, features=datasets.Features(features))
    return StoredSplit(found, [part.name for part in ClozeEncoder.parts], columns["num_words"])


def collate(rows):
    return ClozeEncoder(ClozeTextOptions(), [Vocabulary([], SPECIAL)]).collate(rows)


@settings(max_examples=80)
@given(QUESTIONS, st.data())
def test_collate_equals_a_slow_loop(questions, data):
    numbers = data.draw(st.lists(st.integers(0, len(questions) - 1), min_size=1, max_size=8))
    part = stored(questions)
    batch = collate(part.__getitems__(numbers))
    expected = slow_batch([questions[n] for n in numbers], numbers)
    names = ("document", "query", "occurrence", "answer", "evidence", "index")
    for name in (*names, "document_mask", "query_mask", "candidate_mask"):
        found, right = getattr(batch, name), getattr(expected, name)
        assert found.dtype == right.dtype, name
        assert torch.equal(found, right), name
    assert batch.text is None
    assert part.lengths.tolist() == [len(document) for document, *_ in questions]


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
    plain = ClozeEncoder(ClozeTextOptions(), [Vocabulary(['"', "(", ")", "Ann", "``", "''"], SPECIAL)])
    assert plain('"Ann" (Ann). XXXXX.').document.tolist() == [[3, 6, 3, 4, 6, 5, 1]]


def test_state_is_plain_and_comes_back(encoder, tmp_path):
    torch.save(encoder.state(), tmp_path / "state.pt")
    again = ClozeEncoder.from_state(torch.load(tmp_path / "state.pt", weights_only=True))
    line = "Ann slept. Bob too. XXXXX slept."
    assert torch.equal(again(line).document, encoder(line).document)
    assert torch.equal(again(line).query, encoder(line).query)
    assert again.text_options == encoder.text_options
