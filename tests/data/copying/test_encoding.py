"""Unknown words have columns of their own in each example, and are written as the source has them."""

import pytest
import torch

from zoo.data.copying.encoding import CopyEncoder
from zoo.data.copying.options import CopyTextOptions
from zoo.data.text.vocabulary import END, UNKNOWN, WRITTEN_SPECIAL, Vocabulary

WORDS = ["the", "met", ".", "in"]
FIRST = len(WRITTEN_SPECIAL)
SIZE = FIRST + len(WORDS)


def encoder(**options: object) -> CopyEncoder:
    text = CopyTextOptions(tokenizer="whitespace", **options)
    return CopyEncoder(text, [Vocabulary(WORDS, WRITTEN_SPECIAL)])


ROWS = [
    {"source_texts": ["Zork met Abba .", "abba met the Zork ."], "target_texts": ["Abba met Bilbo .", "Zork met"]},
    {"source_texts": ["in Bilbo"], "target_texts": ["Zork in Bilbo Bilbo"]},
]


def test_each_example_numbers_its_unknown_words_in_the_order_of_the_source():
    batch = encoder().encode(ROWS)
    the, met, stop, within = range(FIRST, SIZE)
    zork, abba = SIZE, SIZE + 1
    assert batch.extended.tolist() == [
        [zork, met, abba, stop, abba, met, the, zork, stop],
        [within, SIZE, 0, 0, 0, 0, 0, 0, 0],
    ]
    assert batch.source.tolist()[0] == [UNKNOWN, met, UNKNOWN, stop, UNKNOWN, met, the, UNKNOWN, stop]
    assert batch.unknown_words == (("Zork", "Abba"), ("Bilbo",))
    # Bilbo is not in the first source, and Zork not in the second
    assert batch.copied.tolist() == [[abba, met, UNKNOWN, stop, END], [UNKNOWN, within, SIZE, SIZE, END]]
    assert batch.target.tolist() == [[UNKNOWN, met, UNKNOWN, stop, END], [UNKNOWN, within, UNKNOWN, UNKNOWN, END]]
    assert batch.sentence.tolist()[0] == [0, 0, 0, 0, 1, 1, 1, 1, 1]
    assert batch.target_texts == (("Abba met Bilbo .", "Zork met"), ("Zork in Bilbo Bilbo",))


def test_an_unknown_word_is_written_as_it_stood():
    one = encoder()
    assert one.text(one.decode([SIZE + 1, FIRST + 1, SIZE, END, 0], ["Zork", "Abba"])) == "Abba met Zork"


def test_inputs_without_targets_give_what_training_gave():
    one = encoder()
    alone, trained = one([row["source_texts"] for row in ROWS]), one.encode(ROWS)
    assert torch.equal(alone.extended, trained.extended)
    assert alone.target is None
    assert alone.unknown_words == trained.unknown_words
    assert one("Zork met").extended.tolist() == [[SIZE, FIRST + 1]]
    assert one("").source_mask.shape == (1, 1)
    assert not one("").source_mask.any()


def test_what_is_longer_is_cut_and_counted():
    one = encoder(max_source=3, max_target=2)
    table = one.tokens(one.table(ROWS))
    assert table["cut"].to_pylist() == [True, True]
    batch = one.encode(ROWS)
    assert batch.source_mask.sum(1).tolist() == [3, 2]
    assert batch.target_mask.sum(1).tolist() == [3, 3]
    assert one.display("Zork met Abba in") == ["Zork", "met", "Abba"]


def test_links_and_facts_of_words_become_those_of_tokens():
    source, target = "Zork met", "met Zork"
    row = {
        "source_texts": [source, "in Abba"],
        "target_texts": [target],
        "source_spans": [0, 4, 5, 8, 9, 11, 12, 16],  # the texts are joined by a line feed
        "target_spans": [0, 3, 4, 8],
        "linked_source": [0, 3],
        "linked_target": [1, 0],
        "stating": [1],
        "distances": [2],
    }
    batch = encoder().encode([row])
    assert batch.alignment[0].nonzero().tolist() == [[0, 3], [1, 0]]
    assert batch.facts.tolist() == [[0, 2, 0]]
    letters = CopyEncoder(
        CopyTextOptions(tokenizer="characters"), [Vocabulary(list("adeiknmort bZA"), WRITTEN_SPECIAL)]
    )
    assert int(letters.encode([row]).alignment.sum()) == 4 * 4 + 3 * 4


def test_a_checkpoint_keeps_the_encoder():
    one = encoder(max_source=7)
    again = CopyEncoder.from_state(one.state())
    assert torch.equal(again.encode(ROWS).extended, one.encode(ROWS).extended)
    assert again.state() == one.state()


@pytest.mark.parametrize("evaluated", [False, True])
def test_training_and_evaluation_store_the_same_ids(evaluated):
    one = encoder()
    table = one.ids(one.tokens(one.table(ROWS)), evaluated)
    assert table["num_source"].to_pylist() == [9, 2]
    assert table["unknown_source"].to_pylist() == [4, 1]
    assert table["source"].to_pylist()[1] == [FIRST + 3, SIZE]
