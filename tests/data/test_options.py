"""Groups of keys in Python code. Wrong values on the command line are in tests/run/test_messages.py."""

import pytest

from zoo.data.documents.encoding import DocumentTextOptions
from zoo.data.options import LoaderOptions, SampleOptions
from zoo.errors import ConfigError


@pytest.mark.parametrize(
    ("cls", "options", "message"),
    [
        (LoaderOptions, {"batchsize": 3}, "data.loader.batchsize: unknown key; did you mean data.loader.batch_size?"),
        (LoaderOptions, {"batch_size": "8"}, "data.loader.batch_size=8: expected a whole number from 1 on, found '8'"),
        (LoaderOptions, 8, "data.loader=8: expected a group of keys, found 8"),
        (DocumentTextOptions, {"zzz": 3}, "data.text.zzz: unknown key; available: language, lower"),
    ],
)
def test_wrong_options(cls, options, message):
    with pytest.raises(ConfigError) as error:
        cls.of(options)
    assert str(error.value).startswith(message)


def test_options_given_in_code_are_held_against_their_types_too():
    with pytest.raises(ConfigError, match=r"data.sample.train=0: expected a whole number from 1 on"):
        SampleOptions(train=0)


def test_the_limit_of_a_batch():
    assert LoaderOptions().limit == {"batch_size": 64}
    assert LoaderOptions(max_tokens=100).limit == {"max_tokens": 100}
