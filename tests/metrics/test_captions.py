"""Metrics of captions: the values of coco-caption and NLTK, numbers by hand, and parts of a corpus.

The metrics of two real ranks are compared in tests/run/test_captioning_run.py.
"""

import io
import json
import math
import random
import shutil
import sys
from collections import Counter
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import corpus_bleu

import zoo.metrics.captions as module
from tests.run.programs import ROOT
from zoo.errors import ZooError
from zoo.metrics import CaptionBLEU, CiderD, DocumentFrequency, Meteor, RougeL
from zoo.metrics.captions import common_subsequence, rouge_l
from zoo.metrics.cider import cider_d

WORDS = ("a", "the", "dog", "cat", "man", "runs", "sits", "über", "on", "in", "red", "blue", "ball", "grass", "café")


def corpus(images=30, seed=0):
    """Hypotheses that share most of their words with one of 1 to 5 references."""
    draw = random.Random(seed)
    references = [
        [" ".join(draw.choices(WORDS, k=draw.randint(2, 12))) for _ in range(draw.randint(1, 5))] for _ in range(images)
    ]
    hypotheses = [
        " ".join(draw.choice(WORDS) if draw.random() < 0.2 else word for word in draw.choice(several).split())
        for several in references
    ]
    return hypotheses, references


def metrics():
    return {"bleu4": CaptionBLEU(4), "bleu1": CaptionBLEU(1), "rouge_l": RougeL(), "cider_d": CiderD()}


@pytest.fixture(scope="module")
def reference():
    """The scores of twelve captions by pycocoevalcap."""
    file = ROOT.parent / "shared" / "refs" / "caption_metrics.json"
    if not file.exists():
        pytest.skip("no reference values beside the clone (../shared/refs/caption_metrics.json)")
    return json.loads(file.read_text("utf-8"))


def scored(metric, hypotheses, references):
    metric.update(hypotheses, references)
    return metric.compute().item()


def split(reference):
    return [row["hyp"] for row in reference["corpus"]], [row["refs"] for row in reference["corpus"]]


def test_bleu_is_that_of_coco_caption(reference):
    hypotheses, references = split(reference)
    for order in (1, 2, 3, 4):
        found = scored(CaptionBLEU(order), hypotheses, references)
        assert found == pytest.approx(100 * reference["bleu"][order - 1], rel=1e-9)  # it adds 1e-9 to each count


def test_rouge_and_cider_of_each_caption_are_those_of_coco_caption(reference):
    pairs = zip(*split(reference), strict=True)
    words = [(ours.split(), [text.split() for text in several]) for ours, several in pairs]
    assert [rouge_l(*pair) for pair in words] == pytest.approx(reference["rouge_l_each"], rel=1e-14)
    theirs = [several for _, several in words]
    each = cider_d([ours for ours, _ in words], range(len(words)), theirs, DocumentFrequency(theirs))
    assert each.tolist() == pytest.approx(reference["cider_d_each"], rel=1e-13)


def test_bleu_is_nltks():
    hypotheses, references = corpus(60)
    for order in (1, 2, 3, 4):
        theirs = [[text.split() for text in several] for several in references]
        # NLTK counts an n-gram in a sentence that is too short for any
        long = [n for n, text in enumerate(hypotheses) if len(text.split()) >= order]
        right = corpus_bleu([theirs[n] for n in long], [hypotheses[n].split() for n in long], [1 / order] * order)
        found = scored(CaptionBLEU(order), [hypotheses[n] for n in long], [references[n] for n in long])
        assert found == pytest.approx(100 * right, rel=1e-12)
        assert 20 < found < 95


def test_the_shorter_of_two_equally_near_references_gives_the_length():
    """8 words between 9 and 7: no brevity penalty, in either order."""
    eight = "a b c d e f g h"
    for several in ([eight + " i", "a b c d e f g"], ["a b c d e f g", eight + " i"]):
        assert scored(CaptionBLEU(4), [eight], [several]) == pytest.approx(100)
    assert scored(CaptionBLEU(1), [eight], [[eight + " i"]]) == pytest.approx(100 * math.exp(1 - 9 / 8))


def test_bleu_by_hand():
    """a a b of 3 words beside "a b": precisions 2/3 and 1/2, not too short; then nothing matches three."""
    for order, right in ((1, 2 / 3), (2, math.sqrt(1 / 3)), (3, 0)):
        assert scored(CaptionBLEU(order), ["a a b"], [["a b"]]) == pytest.approx(100 * right)


def test_bleu_of_all_orders_counts_a_batch_once(monkeypatch):
    calls = Counter()
    extract = module.BLEU._extract_corpus_statistics
    monkeypatch.setattr(module.BLEU, "_extract_corpus_statistics", lambda *a: (calls.update(["batch"]), extract(*a))[1])
    found = [CaptionBLEU(order) for order in (1, 2, 3, 4)]
    for metric in found:
        metric.update(*corpus(5, seed=3))
    for metric in found:
        metric.update(*corpus(5, seed=4))
    assert calls == {"batch": 2}


@given(st.lists(st.sampled_from("abc"), max_size=9), st.lists(st.sampled_from("abcd"), max_size=9))
def test_the_longest_common_subsequence_is_that_of_the_table(one, other):
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, ours in enumerate(one):
        for j, theirs in enumerate(other):
            table[i + 1][j + 1] = table[i][j] + 1 if ours == theirs else max(table[i][j + 1], table[i + 1][j])
    assert common_subsequence(one, other) == table[-1][-1]


def test_rouge_by_hand():
    """a b c d: the first reference gives precision 2/4, the second recall 1, of 1 word; F with beta squared 1.44."""
    right = 2.44 * 0.5 * 1 / (1 + 1.44 * 0.5)
    assert rouge_l(["a", "b", "c", "d"], [["b", "x", "d", "y"], ["c"]]) == pytest.approx(right)
    assert rouge_l([], [["a"]]) == rouge_l(["a"], [["b"]]) == rouge_l(["a"], [[]]) == 0
    assert scored(RougeL(), ["a b c d", "x"], [["b x d y", "c"], ["x"]]) == pytest.approx(50 * (1 + right))


def naive_cider(hypotheses, references):
    """The definition, one n-gram after the other; documents are the images."""

    def grams(text):
        words = text.split()
        return Counter(tuple(words[i : i + n]) for n in (1, 2, 3, 4) for i in range(len(words) - n + 1))

    within = Counter(gram for several in references for gram in {g for text in several for g in grams(text)})

    def vector(text, n):
        rare = {g: math.log(len(references) / max(within[g], 1)) for g in grams(text)}
        return {g: count * rare[g] for g, count in grams(text).items() if len(g) == n}

    def alike(ours, theirs):
        total = 0.0
        for n in (1, 2, 3, 4):
            a, b = vector(ours, n), vector(theirs, n)
            size = math.hypot(*a.values()) * math.hypot(*b.values())
            total += sum(min(a[g], b[g]) * b[g] for g in a.keys() & b.keys()) / size if size else 0
        bigrams = [max(len(text.split()) - 1, 0) for text in (ours, theirs)]
        return total / 4 * math.exp(-((bigrams[0] - bigrams[1]) ** 2) / 72)

    pairs = zip(hypotheses, references, strict=True)
    return [10 * sum(alike(ours, text) for text in several) / len(several) for ours, several in pairs]


@pytest.mark.parametrize("images", [2, 30])
def test_cider_is_its_definition(images):
    hypotheses, references = corpus(images, seed=images)
    right = naive_cider(hypotheses, references)
    assert scored(CiderD(), hypotheses, references) == pytest.approx(sum(right) / images, rel=1e-12)


def test_copies_and_short_captions():
    one, other = "a red ball lies here", "two dogs run over grass"
    far = ["x y z w", "u v"]
    assert scored(CiderD(), [one, "x y z w"], [[one], far]) == pytest.approx((10 + 5) / 2)  # of n unlike 10 / n
    assert scored(CiderD(), [one, "u v"], [[one, other], ["u v"]]) == pytest.approx((5 + 5) / 2)  # 2 orders of 4
    assert scored(CiderD(), ["", "u v"], [[""], ["u v"]]) == pytest.approx(2.5)


def test_frequencies_of_other_captions():
    """ "a" is in all of four documents, "b" in two, "c" in none, which counts as one: rarities 0, log 2, log 4."""
    table = DocumentFrequency([[["a", "b"], ["b"]], [["a", "b", "a"]], [["a"]], [["x"], ["a"]]])
    hypothesis, reference = ["a", "b", "c"], ["c", "b", "a", "b"]
    ours, theirs = (1, 2), (2, 2)  # (b, c) in units of log 2
    unigrams = (min(1, 2) * 2 + 2 * 2) / (math.hypot(*ours) * math.hypot(*theirs))
    # a b is in two documents, all other bigrams in none
    bigrams = 1 * 1 / (math.hypot(1, 2) * math.hypot(2, 2, 1))
    right = 10 * (unigrams + bigrams) / 4 * math.exp(-1 / 72)
    assert cider_d([hypothesis], [0], [[reference]], table).tolist() == [pytest.approx(right)]
    assert scored(CiderD(table), ["a b c"], [["c b a b"]]) == pytest.approx(right)


def test_an_unknown_word_does_not_make_another_ngram():
    """Tokens a, b, c are 0, 1, 2 and an unknown one is 3: the pair (a, 3) has the number of (b, a)."""
    table = DocumentFrequency([[["a", "b", "a"]], [["a", "b", "a"]], [["c"]]])
    assert [part.tolist() for part in table(2, np.array([1, 0, -1]), np.array([0, 3, 4]))] == [[1, -1, -1], [2, 1, 1]]


@pytest.mark.parametrize("name", metrics())
def test_uneven_batches_give_what_all_at_once_gives(name):
    hypotheses, references = corpus()
    whole, parts = metrics()[name], metrics()[name]
    whole.update(hypotheses, references)
    for start, end in ((0, 1), (1, 23), (23, 23), (23, 30)):
        parts.update([text.split() for text in hypotheses[start:end]], references[start:end])  # lists as well
    assert parts.compute().item() == pytest.approx(whole.compute().item(), rel=1e-14)
    parts.reset()
    parts.update([], [])
    assert math.isnan(parts.compute().item())
    assert scored(parts, hypotheses[:3], references[:3]) == scored(metrics()[name], hypotheses[:3], references[:3])


@pytest.mark.parametrize("metric", [*metrics().values(), Meteor()], ids=[*metrics(), "meteor"])
def test_wrong_numbers_of_references_raise(metric):
    with pytest.raises(ValueError, match="2 hypotheses, but references of 1 images"):
        metric.update(["a", "b"], [["a"]])
    with pytest.raises(ValueError, match="hypothesis 1: expected a list of references with one at least"):
        metric.update(["a", "b"], [["a"], []])
    with pytest.raises(ValueError, match="hypothesis 0: expected a list of references"):
        metric.update(["a"], ["a"])


def test_impossible_orders_and_frequencies_raise():
    with pytest.raises(ValueError, match="order=5: expected 1 to 4"):
        CaptionBLEU(5)
    with pytest.raises(ValueError, match="no document"):
        DocumentFrequency([])
    with pytest.raises(ValueError, match="hypothesis 1 has no reference"):
        cider_d([["a"], ["a"]], [0, 1], [[["a"]], []], DocumentFrequency([[["a"]]]))


@pytest.fixture
def java(monkeypatch):
    """In place of pycocoevalcap and Java: a scorer whose score is the number of images; the processes it had."""
    processes = []

    class Scorer:
        def __init__(self):
            streams = {name: io.BytesIO(b"one\nout of memory\n") for name in ("stdin", "stdout", "stderr")}
            self.meteor_p = SimpleNamespace(kill=lambda: None, wait=lambda: processes.append(streams), **streams)

        def compute_score(self, gts, res):
            if res[0] == ["break off"]:
                raise BrokenPipeError
            assert gts[0] == ["a cat", "the cat"] and res[0] == ["a cat"]
            return len(gts) / 100, []

    place = ModuleType("pycocoevalcap.meteor.meteor")
    place.Meteor = Scorer
    monkeypatch.setitem(sys.modules, "pycocoevalcap.meteor.meteor", place)
    monkeypatch.setattr(module, "find_spec", lambda name: place)
    monkeypatch.setattr(module.shutil, "which", lambda name: "/bin/java")
    return processes


def test_meteor_ends_its_program(java):
    assert Meteor.missing() is None
    assert scored(Meteor(), ["a cat", ["x"]], [["a cat", "the cat"], ["y"]]) == pytest.approx(2)
    metric = Meteor()
    metric.update(["break off"], [["x"]])
    with pytest.raises(ZooError, match="failed: out of memory; it needs 2 GB"):
        metric.compute()
    assert len(java) == 2
    assert all(stream.closed for streams in java for stream in streams.values())


@pytest.mark.parametrize(("rank", "error"), [(0, None), (1, None), (0, ZooError("no memory"))])
def test_only_the_first_rank_runs_meteor(monkeypatch, rank, error):
    ran, sent = [], []

    def meteor(rows):
        ran.append(rows)
        if error:
            raise error
        return 7.0

    monkeypatch.setattr(module, "meteor", meteor)
    monkeypatch.setattr(module.dist, "get_rank", lambda: rank)
    monkeypatch.setattr(module.dist, "broadcast", lambda score, source: sent.append((score.item(), source)))
    metric = Meteor()
    metric.update(["a cat"], [["the cat", "a dog"]])
    metric._is_synced = True
    with pytest.raises(ZooError, match="no memory") if error else nullcontext():
        Meteor.compute(metric)  # without torchmetrics' own synchronisation
    assert ran == ([[["a cat", "the cat", "a dog"]]] if rank == 0 else [])
    expected = 7.0 if rank == 0 and not error else math.nan
    assert sent == [(pytest.approx(expected, nan_ok=True), 0)]  # also after an error, since the others wait


def test_meteor_is_left_out_without_java_or_the_package(java, monkeypatch):
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    assert "Java" in Meteor.missing()
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert "pip install 'attention-zoo[captions]'" in Meteor.missing()
    with pytest.raises(ZooError, match="METEOR is left out"):
        scored(Meteor(), ["a"], [["a"]])
    assert math.isnan(scored(Meteor(), [], []))  # without a caption it asks for nothing


@pytest.mark.slow
def test_meteor_is_that_of_coco_caption(reference):
    pytest.importorskip("pycocoevalcap", reason="pycocoevalcap is not installed")
    if shutil.which("java") is None:
        pytest.skip("no Java")
    assert scored(Meteor(), *split(reference)) == pytest.approx(100 * reference["meteor"], rel=1e-9)
