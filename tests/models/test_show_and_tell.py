"""The equations of Show and Tell as slow loops, and images that are encoded once."""

import pytest
import torch

from tests.models.cells import (
    ENCODER,
    PIXELS,
    SMALL,
    SPEC,
    assert_made_once,
    batch_of,
    captions_of,
)
from tests.models.equations import (
    DOUBLE,
    exactly,
    linear,
    lstm,
)
from tests.models.variants import VARIANTS
from zoo.models import ShowAndTell

BATCH = batch_of()
EQUATIONS = DROPPING = [{}, *VARIANTS["show_and_tell"]]


def model_of(spec=SPEC, encoder=ENCODER, **settings):
    torch.manual_seed(0)
    sizes = {"embedding_dim": 4, "hidden_dim": 5}
    return exactly(ShowAndTell(spec, encoder=encoder, **sizes | settings), biases=True)


def slow(model, cells, read, keep=1.0):
    """Scores (T, V) of one caption. `keep` multiplies where dropout acts."""
    seen = keep * (model.image.weight @ (sum(cells) / len(cells)))
    m = c = torch.zeros(model.lstm.hidden_size, dtype=DOUBLE)
    if not model.at_every_step:
        m, c = lstm(model.lstm, seen, m, c)  # (10)
    scores = []
    for token in read:
        word = keep * model.embedding.weight[token]
        m, c = lstm(model.lstm, torch.cat([word, seen]) if model.at_every_step else word, m, c)  # (11), (12)
        scores.append(linear(model.vocabulary, keep * m))
    return torch.stack(scores), None


def rows(model, batch, keep=1.0):
    return [slow(model, *caption, keep) for caption in captions_of(batch)]


@pytest.mark.parametrize("feed", ["once", "every_step"])
def test_an_image_is_encoded_once_however_many_captions_it_has(feed):
    model = model_of(PIXELS, SMALL, feed=feed)
    assert_made_once(model, [model.encoder, model.image], steps=True)
