"""Facts about every generator of a sample: example i depends only on the arguments and on i."""

import random
from functools import partial
from itertools import islice

import pytest

from zoo.data.cloze.samples import stories
from zoo.data.documents.imdb import generate_polar
from zoo.data.documents.samples import news, reviews
from zoo.data.pairs.samples import dates, symbols, translations

GENERATORS = {
    "reviews": reviews.generate,
    "polar": generate_polar,
    "news": news.generate,
    "stories": stories.generate,
    "translations": translations.generate,
    "dates": dates.generate,
    **{order: partial(symbols.generate, order=order) for order in symbols.ORDERS},
}


@pytest.mark.parametrize("name", GENERATORS)
def test_an_example_depends_on_the_seed_and_its_number_alone(name):
    generate, state = GENERATORS[name], random.getstate()
    many = list(generate(60, seed=3))
    assert list(generate(20, seed=3)) == many[:20]
    rows, other = generate(60, seed=3), generate(60, seed=9)
    assert [(next(rows), next(other))[0] for _ in range(60)] == many  # two at once do not disturb each other
    others = list(islice(generate(60, seed=4), 60))
    assert sum(one == another for one, another in zip(many, others, strict=True)) < 5
    assert random.getstate() == state
