"""Prepared pairs: batches, alignments of tokens of any kind, filters, vocabularies, description."""

import logging
from collections import Counter
from datetime import date
from itertools import product

import numpy as np
import pytest
import torch

from tests.data.pairs.toy import SIZES, Toy, generate
from tests.data.serving import batches, prepared, served
from zoo.data.pairs.batch import PairBatch
from zoo.data.pairs.generated import Copy, Dates, Reverse, Sort
from zoo.data.text.links import covering
from zoo.errors import DataError


def toys(split):
    """The generated pairs of a split."""
    train, val = SIZES["train"], SIZES["val"]
    first, last = {"train": (0, train), "val": (train, train + val), "test": (train + val, None)}[split]
    return list(generate(train + val + SIZES["test"], seed=1))[first:last]


def test_every_pair_once_with_its_two_sides(cache_dir):
    data = prepared(Toy(loader={"batch_size": 7}, text={"lower": False}))
    assert data.tasks == ("translation",)
    assert data.vectors() is None
    assert data.sizes == {name: SIZES[name] for name in ("train", "val", "test")}
    assert len(data.predict_dataloader()) == len(data.test_dataloader())
    decode = data.encoder.known.vocabularies["source"].decode
    for split in data.sizes:
        rows = served(data, split, "source", "source_mask", "target")
        for pair, (source, mask, target) in zip(toys(split), rows, strict=True):
            assert decode(source[mask].tolist()) == [*pair.source, "</s>"]
            assert data.encoder.decode(target) == pair.target
        for batch in batches(data, split):
            assert isinstance(batch, PairBatch) and len(batch) <= 7
            assert torch.equal(batch.target_input[:, 1:], batch.target[:, :-1])
            assert (batch.target_input[:, 0] == data.spec.begin).all()
            assert (batch.source_text is None) == (batch.alignment is None) == (split == "train")


def test_the_spec_covers_all_splits(cache_dir):
    data = prepared(Toy())
    spec = data.spec
    words = [pair for split in ("train", "val", "test") for pair in toys(split)]
    assert spec.longest_source == max(len(pair.source) for pair in words) + 1
    assert spec.longest_target == max(len(pair.target) for pair in words) + 1
    assert (spec.padding, spec.unknown, spec.begin, spec.end) == (0, 1, 2, 3)
    assert spec.source_size == len(data.encoder.known.vocabularies["source"])
    every = [batch for split in data.sizes for batch in batches(data, split)]
    assert max(batch.source.shape[1] for batch in every) == spec.longest_source
    assert max(batch.target.shape[1] for batch in every) == spec.longest_target


@pytest.mark.parametrize("tokenizer", ["bpe", "unigram", "characters", "whitespace"])
def test_alignment_moves_to_tokens_of_any_kind(cache_dir, tokenizer):
    """A link of two words becomes one of every two tokens that have letters of them."""
    data = prepared(Toy(text={"tokenizer": tokenizer, "vocabulary_size": 40}))
    cut = 0

    def words_of(side, words, text):
        """The words that each token has letters of."""
        owner, at = {}, 0  # letter of the text -> its word
        for position, word in enumerate(words):
            at = text.index(word, at)
            owner |= dict.fromkeys(range(at, at + len(word)), position)
            at += len(word)
        tokens = data.encoder.tokenizers[side].spans(text)
        return [{owner[letter] for letter in range(*token) if letter in owner} for token in tokens]

    for pair, (*texts, links) in zip(
        toys("test"), served(data, "test", "source_text", "target_text", "alignment"), strict=True
    ):
        source, target = words_of("source", pair.source, texts[0]), words_of("target", pair.target, texts[1])
        expected = {
            (t, s)
            for (t, of_target), (s, of_source) in product(enumerate(target), enumerate(source))
            if any(link in pair.alignment for link in product(of_source, of_target))
        }
        assert set(map(tuple, links.nonzero().tolist())) == expected
        cut += len(source) != len(pair.source)
    assert cut > 5  # here tokens are not words


def test_a_token_without_a_letter_covers_no_word():
    assert covering([0, 3, 4, 7], [(0, 3), (4, 5), (5, 5), (5, 7)]) == [[0], [1, 3]]


# batches


def test_a_batch_of_so_many_pairs_is_a_draw_and_one_of_so_many_tokens_is_not(cache_dir):
    """Targets have 2 to some 16 tokens. A drawn batch of 30 spans most of them, a sorted one a few."""

    def spans(**limit):
        data = prepared(Toy(loader=limit, sample={"train": 3000}))
        targets = data.part("train").lengths[:, 1]
        return [np.ptp(targets[batch]) for batch in data.train_dataloader().batch_sampler.global_batches()]

    assert np.median(spans(batch_size=30)) > 8
    assert np.median(spans(max_tokens=30 * 20)) <= 2


# filters


def filtered(text, **sample):
    data = prepared(Toy(text=text, sample=sample))
    return data, data.describe()["splits"]["train"].get("dropped", {})


def test_long_and_lopsided_pairs_are_dropped_from_training_alone(cache_dir, caplog):
    pairs = toys("train")
    with caplog.at_level(logging.INFO, "zoo"):
        data, dropped = filtered({"max_length": 8, "max_ratio": 1.2})
    long = [pair for pair in pairs if max(len(pair.source), len(pair.target)) > 8]
    rest = [pair for pair in pairs if pair not in long]
    lopsided = [p for p in rest if max(len(p.source), len(p.target)) > 1.2 * min(len(p.source), len(p.target))]
    assert len(long) > 5
    assert len(lopsided) > 2
    assert dropped == {
        "longer than 8 tokens": len(long),
        "more than 1.2 times as long as the other side": len(lopsided),
    }
    assert data.sizes == {"train": 60 - len(long) - len(lopsided), "val": 10, "test": 12}
    assert f"toy: train: left out {len(long)} longer than 8 tokens, {len(lopsided)} more" in caplog.text
    kept = [pair for pair in rest if pair not in lopsided]
    for pair, target in zip(kept, served(data, "train", "target"), strict=True):
        assert data.encoder.decode(target) == [word.lower() for word in pair.target]
    assert max(len(pair.source) for pair in toys("test")) + 1 == data.spec.longest_source > 9
    assert not any("dropped" in data.describe()["splits"][name] for name in ("val", "test"))


def test_nothing_left_to_train_on(cache_dir):
    with pytest.raises(DataError, match=r"the sample: no pairs are left .*60 longer than 1 tokens.*max_length, max_ra"):
        filtered({"max_length": 1})


def test_vocabularies_are_the_training_splits(cache_dir):
    data = prepared(Toy(text={"minimum_frequency": 30, "max_length": 9}))
    kept = [p for p in toys("train") if max(len(p.source), len(p.target)) <= 9]
    for side, words in (("source", [p.source for p in kept]), ("target", [p.target for p in kept])):
        counts = Counter(word.lower() for sentence in words for word in sentence)
        expected = sorted((w for w in counts if counts[w] >= 30), key=lambda w: (-counts[w], w))
        assert data.encoder.known.vocabularies[side].state() == expected
        assert 0 < len(expected) < len(counts)
        test = [word.lower() for p in toys("test") for word in getattr(p, side)]
        unknown = np.mean([word not in expected for word in test])
        assert data.describe()["splits"]["test"][f"{side}_unknown_rate"] == pytest.approx(unknown)
    few = prepared(Toy(text={"minimum_frequency": 30, "max_length": 9, "vocabulary_size": 6})).encoder
    for side in ("source", "target"):
        assert few.known.vocabularies[side].state() == data.encoder.known.vocabularies[side].state()[:2]
    uneven = prepared(Toy(text={"minimum_frequency": 30, "max_length": 9, "vocabulary_size": [6, 7]})).spec
    assert (uneven.source_size, uneven.target_size) == (6, 7)
    joint = prepared(Toy(text={"minimum_frequency": 30, "max_length": 9, "joint": True}))
    both = Counter(w.lower() for p in kept for w in [*p.source, *p.target])
    assert set(joint.encoder.known.vocabularies["source"].state()) == {word for word in both if both[word] >= 30}
    assert joint.spec.shared
    assert joint.spec.source_size == joint.spec.target_size


# description


def test_description(cache_dir):
    facts = prepared(Toy()).describe()
    assert facts["source"] == "sample: 82 generated toys, seed 1"
    assert facts["languages"] == ["de", "en"]
    train, first = facts["splits"]["train"], facts["examples"][0]
    assert train["source_tokens"]["max"] == max(len(pair.source) for pair in toys("train"))
    assert train["target_unknown_rate"] == 0
    assert first["source_tokens"] == " ".join(toys("train")[0].source).lower()
    assert first["source_text"].replace(" ", "") == "".join(toys("train")[0].source)


# generators


@pytest.mark.parametrize(("cls", "order"), [(Copy, lambda x: x), (Reverse, lambda x: x[::-1]), (Sort, sorted)])
def test_symbols(cache_dir, cls, order):
    data = prepared(cls(sample={"train": 300, "val": 20, "test": 30}))
    assert data.name == cls.__name__.lower()
    assert data.spec.shared
    for source, target, ids in served(data, "test", "source_text", "target_text", "target"):
        assert target.split() == order(source.split()) and data.encoder.text(ids) == target


def test_dates(cache_dir):
    data = prepared(Dates(sample={"train": 400, "val": 20, "test": 30}))
    assert not data.spec.shared
    for source, target, ids in served(data, "test", "source_text", "target_text", "target"):
        assert date.fromisoformat(target).isoformat() == target == data.encoder.text(ids)
        assert data.encoder.display(source) == [*source, "</s>"]
