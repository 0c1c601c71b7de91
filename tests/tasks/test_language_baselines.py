"""The n-gram baseline of language models, against the same model asked line by line."""

import numpy as np
import pytest

from zoo.reranking.kneser_ney import KneserNey
from zoo.tasks.language_baselines import kneser_ney

END = 1


@pytest.fixture
def streams():
    draw = np.random.default_rng(0)
    train, test = (draw.choice([END, 2, 3, 4, 5], size, p=[0.2, 0.3, 0.2, 0.2, 0.1]) for size in (400, 41))
    train[-1] = test[-1] = END
    return train, test


def lines(ids):
    found, line = [], []
    for token in ids.tolist():
        if token == END:
            found.append(line)
            line = []
        else:
            line.append(token)
    return found


def test_its_loss_is_that_of_each_line_by_itself(streams):
    train, test = streams
    words = lines(train)
    flat = np.array([token for line in words for token in line])
    model = KneserNey.train(flat, np.array([len(line) for line in words]), 6, order=5)
    nats = [-value for line in lines(test) for value in model.log_probs(np.array([line], np.int64).reshape(1, -1))[0]]
    found = kneser_ney(train, {"ids": test}, 6, line_end=END, token_bytes=2.0)
    assert found["loss"] == pytest.approx(np.mean(nats[1:]))
    assert found["bits_per_byte"] == pytest.approx(np.mean(nats[1:]) / np.log(2) / 2)
    assert set(found) == {"loss", "bits_per_byte"}


def test_agreement_compares_each_verb_with_its_rival_in_the_same_line(streams):
    train, test = streams
    distance, rival = np.zeros(len(test), np.uint8), np.zeros(len(test), np.int32)
    verbs = np.flatnonzero(np.isin(test, [2, 3]))[1:]
    distance[verbs], rival[verbs] = np.where(test[verbs] == 2, 1, 4), 5 - test[verbs]
    found = kneser_ney(train, {"ids": test, "distance": distance, "rival": rival}, 6, line_end=END, token_bytes=1.0)
    right = []
    for place in verbs:
        other = test.copy()
        other[place] = rival[place]
        begin = int(np.flatnonzero(test[:place] == END)[-1]) + 1 if END in test[:place] else 0
        words = lines(train)
        flat = np.array([token for line in words for token in line])
        model = KneserNey.train(flat, np.array([len(line) for line in words]), 6, order=5)
        end = place + int(np.flatnonzero(test[place:] == END)[0])
        one, two = (model.log_probs(ids[None, begin:end])[0, place - begin] for ids in (test, other))
        right.append(one > two)
    assert found["agreement"] == pytest.approx(np.mean(right))
    far = distance[verbs]
    for number in (1, 4):
        assert found[f"agreement_{number}"] == pytest.approx(np.mean(np.array(right)[far == number]))


def test_a_text_without_line_ends_is_one_line(streams):
    train, test = streams
    whole = KneserNey.train(train, np.array([len(train)]), 6, order=5).log_probs(test[None])[0]
    found = kneser_ney(train, {"ids": test}, 6, line_end=None, token_bytes=1.0)
    assert found["loss"] == pytest.approx(-whole[1 : len(test)].mean())
