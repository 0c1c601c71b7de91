"""Groups of keys: what is refused, and the line that says so."""

import pytest

from zoo.data.options import LoaderOptions, SampleOptions, SplitOptions
from zoo.data.pairs.options import PairTextOptions
from zoo.data.text.options import TextOptions
from zoo.errors import ConfigError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "data.loader.batch_size=0: a whole number from 1 on is expected"),
        ({"batch_size": True}, "data.loader.batch_size=True: a whole number from 1 on is expected"),
        ({"batch_size": "8"}, "data.loader.batch_size='8': a whole number from 1 on is expected"),
        ({"max_tokens": 1.5}, "data.loader.max_tokens=1.5: a whole number from 1 on or null is expected"),
        ({"num_workers": -1}, "data.loader.num_workers=-1: a whole number from 0 on is expected"),
        ({"on_bad_row": "ignore"}, "data.loader.on_bad_row='ignore': error or skip is expected"),
        ({"cache_dir": 3}, "data.loader.cache_dir=3: text or null is expected"),
        ({"batchsize": 3}, "data.loader.batchsize: no such key; did you mean data.loader.batch_size?"),
        (8, "data.loader: a group of keys is expected, found 8"),
    ],
)
def test_wrong_loader_options(options, message):
    with pytest.raises(ConfigError) as error:
        LoaderOptions.of(options)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("cls", "options", "message"),
    [
        (TextOptions, {"lower": "yes"}, "data.text.lower='yes': true or false is expected"),
        (TextOptions, {"sentences": "dots"}, "data.text.sentences='dots': punkt or lines is expected"),
        (TextOptions, {"language": "deutsch ("}, "data.text.language='deutsch (': the code of a language, such as de,"),
        (SplitOptions, {"val": 1}, "data.split.val=1: a share between 0 and 1 is expected"),
        (SplitOptions, {"val": "a.csv"}, "data.split.val='a.csv': a share between 0 and 1 is expected"),
        (SampleOptions, {"seed": -1}, "data.sample.seed=-1: a whole number from 0 on is expected"),
        (
            PairTextOptions,
            {"vocabulary_size": 5},
            "data.text.vocabulary_size=5: a whole number from 6 on, for separate vocabularies a list [source,target]",
        ),
    ],
)
def test_wrong_options_of_other_groups(cls, options, message):
    with pytest.raises(ConfigError) as error:
        cls.of(options)
    assert str(error.value).startswith(message)


def test_options_given_in_code_are_held_against_their_types_too():
    with pytest.raises(ConfigError, match=r"data.sample.train=0: a whole number from 1 on"):
        SampleOptions(train=0)


def test_the_limit_of_a_batch():
    assert LoaderOptions().limit == {"batch_size": 64}
    assert LoaderOptions(max_tokens=100).limit == {"max_tokens": 100}
