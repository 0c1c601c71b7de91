"""A third family of text prepares itself with the text room alone: a tokenizer, subwords, a vocabulary, ids."""

from collections import Counter
from functools import partial

import datasets
import numpy as np
import pyarrow as pa
import pytest

from zoo.data.stored import count_words, map_split, values_of
from zoo.data.text.learning import ids_of, learned, vocabulary_of
from zoo.data.text.options import SentenceOptions, TokenOptions
from zoo.data.text.tokenization import RuleTokenizer, SubwordTokenizer, TreebankTokenizer, tokenizer_of
from zoo.data.text.vocabulary import READ_SPECIAL, UNKNOWN, WRITTEN_SPECIAL, Vocabulary
from zoo.errors import DataError

STORY = ["Mary went to the garden.", "She didn't see the football.", "The football is in the garden."]
QUESTION = ["Where is Mary?", "Where is the football?", "Where is the garden?"]


def stories():
    """A split of stories and questions, as a family would have it on the disk."""
    return datasets.Dataset.from_dict({"story": STORY, "question": QUESTION})


def vocabulary(tokenizer, counts, special=READ_SPECIAL, **options):
    return vocabulary_of(tokenizer, lambda: counts, special, where="b.txt", examples="3 training stories", **options)


@pytest.mark.parametrize(
    ("options", "language", "kind", "rules"),
    [
        (TokenOptions(), "en", RuleTokenizer, "en"),
        (SentenceOptions(), "en", TreebankTokenizer, "en"),
        (SentenceOptions(), "en_GB", TreebankTokenizer, "en"),
        (SentenceOptions(), "de_AT", RuleTokenizer, "de"),
        (SentenceOptions(tokenizer="characters"), "en", RuleTokenizer, "en"),
    ],
)
def test_the_tokenizer_follows_the_options_and_the_language(options, language, kind, rules):
    tokenizer = tokenizer_of(options, language)
    assert type(tokenizer) is kind
    assert (tokenizer.kind, tokenizer.language) == (options.tokenizer, rules)


@pytest.mark.parametrize("special", [READ_SPECIAL, WRITTEN_SPECIAL])
@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_subwords_and_special_tokens_together_are_as_many_as_asked_for(kind, special):
    options = TokenOptions(tokenizer=kind)
    tokenizer = learned(options, partial(values_of, stories(), "story", "question"), special, 40)
    found = vocabulary(tokenizer, None, special, minimum_frequency=99, size=1)  # pieces are neither counted nor cut
    assert len(found) == 40 or (kind == "unigram" and len(found) < 40)
    assert found.words[: len(special)] == list(special)
    again = tokenizer_of(options, "en", tokenizer.state())
    assert isinstance(again, SubwordTokenizer)
    assert [again.split(text) for text in STORY] == [tokenizer.split(text) for text in STORY]
    assert UNKNOWN not in found.encode(again.split(STORY[0]).forms)


def test_words_are_counted_from_so_many_on_up_to_a_size():
    counts = Counter({"the": 5, "garden": 3, "football": 3, "Mary": 1})
    words = tokenizer_of(TokenOptions(), "en")
    assert vocabulary(words, counts, minimum_frequency=1, size=None).state() == ["the", "football", "garden", "Mary"]
    assert vocabulary(words, counts, minimum_frequency=2, size=5).state() == ["the", "football", "garden"]
    assert vocabulary(words, counts, WRITTEN_SPECIAL, minimum_frequency=1, size=6).state() == ["the", "football"]
    message = r"^b\.txt: no token occurs 9 times in 3 training stories; data\.text\.minimum_frequency=1 keeps every tok"
    with pytest.raises(DataError, match=message):
        vocabulary(words, counts, minimum_frequency=9, size=None)


@pytest.mark.parametrize("special", [READ_SPECIAL, WRITTEN_SPECIAL])
def test_ids_of_a_column_are_those_of_the_vocabulary(special):
    known = Vocabulary(["garden", "the", "<pad>"], special)
    tokens = ["the", "garden", "nowhere", "<unk>", "<pad>", "the"]
    ids = ids_of(pa.array(tokens), pa.array(known.state()), special)
    assert ids.type == pa.int32()
    assert ids.to_pylist() == known.encode(tokens)


def test_a_family_of_its_own_from_texts_to_ids(tmp_path):
    tokenizer = tokenizer_of(SentenceOptions(), "en")

    def cut(table):
        return pa.table(
            {name: [tokenizer.split(text).forms for text in table[name].to_pylist()] for name in table.column_names}
        )

    tokens = map_split(stories(), cut, tmp_path / "tokens.arrow", "cutting")
    counts = count_words(tokens, "story", "question")
    every = [word for text in [*STORY, *QUESTION] for word in tokenizer.split(text).forms]
    assert counts == Counter(every)
    assert list(values_of(tokens, "story", "question")) == [tokenizer.split(text).forms for text in [*STORY, *QUESTION]]
    known = vocabulary_of(
        tokenizer, lambda: counts, READ_SPECIAL, minimum_frequency=2, size=None, where="b.txt", examples="3 stories"
    )
    ids = np.asarray(ids_of(pa.array(every), pa.array(known.state()), READ_SPECIAL))
    assert (ids == UNKNOWN).sum() == sum(count == 1 for count in counts.values())
