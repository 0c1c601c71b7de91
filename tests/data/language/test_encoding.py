"""From text to the ids of a stream and back, for every tokenizer."""

import json

import pytest

from zoo.data.language.encoding import LanguageEncoder, LanguageTextOptions, WholeText
from zoo.errors import DataError, UnusableInput

TEXT = "the cat sat .\nthe dog ran .\n\nthe end\n"


def learned(text=TEXT, **options):
    encoder = LanguageEncoder(LanguageTextOptions(**options))
    encoder.learn([text], "here")
    return encoder


def test_words_and_line_ends():
    """`.`, `end` and so on occur 1 to 3 times; the most frequent come first, equal ones by alphabet."""
    encoder = learned()
    assert encoder.vocabulary.words == ["<unk>", "<eos>", "the", ".", "cat", "dog", "end", "ran", "sat"]
    assert encoder.ids("the cow sat\n").tolist() == [2, 0, 8, 1]
    assert encoder.ids("the cow sat").tolist() == [2, 0, 8]
    assert encoder.spec().vocabulary_size == 9 and encoder.spec().unit == "words"
    assert encoder.ids(TEXT).tolist().count(1) == 4


def test_special_words_of_a_text_are_the_special_tokens():
    """As in the Penn Treebank, whose 10,000 words have `<unk>` among them."""
    encoder = learned("a <unk> b\na b\n")
    assert encoder.vocabulary.words == ["<unk>", "<eos>", "a", "b"]
    assert encoder.ids("a <unk> <eos>").tolist() == [2, 0, 1]


@pytest.mark.parametrize("tokenizer", ["whitespace", "words", "characters", "bytes", "bpe", "unigram"])
def test_a_known_text_comes_back(tokenizer):
    size = 40 if tokenizer in ("bpe", "unigram") else None
    encoder = learned(TEXT * 5, tokenizer=tokenizer, vocabulary_size=size)
    text = "the dog sat.\nthe cat ran" if tokenizer == "words" else "the dog sat .\nthe cat ran"
    assert encoder.text(encoder.ids(text).tolist()) == text
    assert max(encoder.ids(text)) < encoder.size
    again = LanguageEncoder.from_state(json.loads(json.dumps(encoder.state())))
    assert again.ids(text).tolist() == encoder.ids(text).tolist() and again.spec() == encoder.spec()
    assert again.text_options == encoder.text_options


def test_bytes_are_themselves():
    encoder = learned(tokenizer="bytes")
    assert encoder.ids("aé\n").tolist() == [97, 195, 169, 10] and encoder.size == 256
    assert encoder.text([97, 195, 169, 195]) == "aé\ufffd"  # the second letter is cut
    assert encoder.unknown("\0") == [] and not encoder.is_unknown(0)


def test_limits_of_the_vocabulary():
    assert learned(minimum_frequency=2).vocabulary.words == ["<unk>", "<eos>", "the", "."]
    assert len(learned(vocabulary_size=6).vocabulary) == 6
    with pytest.raises(DataError, match="here: no token occurs 9 times in training"):
        learned(minimum_frequency=9)


def test_prompts_begin_after_a_line_end():
    encoder = learned()
    assert encoder.prompt("the cat") == [1, 2, 4]
    batch = encoder(["the cat", ""])
    assert batch.prompt.tolist() == [[1, 2, 4], [1, 0, 0]] and batch.prompt_mask.sum(1).tolist() == [3, 1]
    assert encoder.unknown("the cow") == ["cow"]
    with pytest.raises(UnusableInput, match="nothing to continue"):
        learned(tokenizer="characters").prompt("")


def test_a_whole_text_is_scored_from_its_first_word():
    batch = learned()([WholeText("the cat\n")])
    assert batch.target_input.tolist() == [[1, 2, 4]] and batch.target.tolist() == [[2, 4, 1]]


def test_inherited_words_keep_their_ids():
    encoder, before = learned("new the words\n"), learned()
    encoder.inherit(before)
    assert encoder.vocabulary.words == [*before.vocabulary.words, "new", "words"]
