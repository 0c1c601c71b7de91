"""Groups of keys: what is refused, and the line that says so."""

import pytest

from zoo.data.documents.encoding import DocumentTextOptions
from zoo.data.options import LoaderOptions, SampleOptions, SplitOptions
from zoo.data.pairs.options import PairTextOptions
from zoo.errors import ConfigError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "data.loader.batch_size=0: expected a whole number from 1 on, found 0"),
        ({"batch_size": True}, "data.loader.batch_size=true: expected a whole number from 1 on, found true"),
        ({"batch_size": "8"}, "data.loader.batch_size=8: expected a whole number from 1 on, found '8'"),
        ({"max_tokens": 1.5}, "data.loader.max_tokens=1.5: expected a whole number from 1 on or null, found 1.5"),
        ({"num_workers": -1}, "data.loader.num_workers=-1: expected a whole number from 0 on, found -1"),
        (
            {"on_bad_row": "skipp"},
            "data.loader.on_bad_row=skipp: expected error or skip, found 'skipp'; did you mean 'skip'?",
        ),
        ({"on_bad_row": "ignore"}, "data.loader.on_bad_row=ignore: expected error or skip, found 'ignore'"),
        ({"cache_dir": 3}, "data.loader.cache_dir=3: expected text or null, found 3"),
        ({"batchsize": 3}, "data.loader.batchsize: unknown key; did you mean data.loader.batch_size?"),
        (8, "data.loader=8: expected a group of keys, found 8"),
    ],
)
def test_wrong_loader_options(options, message):
    with pytest.raises(ConfigError) as error:
        LoaderOptions.of(options)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("cls", "options", "message"),
    [
        (DocumentTextOptions, {"lower": "yes"}, "data.text.lower=yes: expected true or false, found 'yes'"),
        (DocumentTextOptions, {"sentences": "dots"}, "data.text.sentences=dots: expected punkt or lines, found 'dots'"),
        (
            DocumentTextOptions,
            {"language": "deutsch ("},
            "data.text.language=deutsch (: expected the code of a language, such as de, found 'deutsch ('",
        ),
        (DocumentTextOptions, {"max_words": 0}, "data.text.max_words=0: expected a whole number from 1 on, found 0"),
        (DocumentTextOptions, {"zzz": 3}, "data.text.zzz: unknown key; available: language, lower"),
        (SplitOptions, {"val": 1}, "data.split.val=1: expected a share between 0 and 1, found 1"),
        (SplitOptions, {"val": "a.csv"}, "data.split.val=a.csv: expected a share between 0 and 1, found 'a.csv'"),
        (SampleOptions, {"seed": -1}, "data.sample.seed=-1: expected a whole number from 0 on, found -1"),
        (
            PairTextOptions,
            {"vocabulary_size": 5},
            "data.text.vocabulary_size=5: expected a whole number from 6 on, for separate vocabularies a list",
        ),
    ],
)
def test_wrong_options_of_other_groups(cls, options, message):
    with pytest.raises(ConfigError) as error:
        cls.of(options)
    assert str(error.value).startswith(message)


def test_options_given_in_code_are_held_against_their_types_too():
    with pytest.raises(ConfigError, match=r"data.sample.train=0: expected a whole number from 1 on"):
        SampleOptions(train=0)


def test_the_limit_of_a_batch():
    assert LoaderOptions().limit == {"batch_size": 64}
    assert LoaderOptions(max_tokens=100).limit == {"max_tokens": 100}
