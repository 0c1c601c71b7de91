"""The sentences that language models are trained on: each different one once, in the order of the documents."""

import numpy as np
import pyarrow as pa

from zoo.data.cloze.module import distinct_sentences


def table(*documents):
    """Documents as lists of sentences of word ids."""
    words = [[word for sentence in document for word in sentence] for document in documents]
    ends = [np.cumsum([len(sentence) for sentence in document]).tolist() for document in documents]
    columns = {"document": pa.array(words, pa.list_(pa.int32())), "ends": pa.array(ends, pa.list_(pa.int32()))}
    return pa.table(columns)


def cut(text, lengths):
    return [part.tolist() for part in np.split(text, np.cumsum(lengths)[:-1])]


def test_a_sentence_of_several_documents_is_there_once():
    first = table([[3, 4], [5], [6, 7, 8]], [[5], [6, 7, 8], [3, 4]])
    second = table([[6, 7, 8], [9, 9]], [[4, 3]])
    text, lengths = distinct_sentences([first, second])
    assert cut(text, lengths) == [[3, 4], [5], [6, 7, 8], [9, 9], [4, 3]]


def test_order_length_and_repetition_tell_sentences_apart():
    sentences = [[1, 2], [2, 1], [1, 2, 0], [0, 1, 2], [1, 1], [1], [1, 1, 1], [0], [0, 0]]
    text, lengths = distinct_sentences([table(sentences)])
    assert cut(text, lengths) == sentences


def test_empty_sentences_and_documents_are_left_out():
    text, lengths = distinct_sentences([table([[], [3, 4], []], [], [[5]])])
    assert cut(text, lengths) == [[3, 4], [5]]


def test_many_random_sentences_are_those_that_python_finds():
    draw = np.random.default_rng(0)
    documents = [
        [draw.integers(0, 4, draw.integers(0, 5)).tolist() for _ in range(draw.integers(0, 6))] for _ in range(300)
    ]
    found = distinct_sentences([table(*documents[:100]), table(*documents[100:])])
    expected = list(dict.fromkeys(tuple(s) for document in documents for s in document if s))
    assert list(map(tuple, cut(*found))) == expected
