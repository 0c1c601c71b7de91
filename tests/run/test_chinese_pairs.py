"""Pairs of your own whose target language has no blanks: BLEU is counted by a tokeniser that cuts it."""

import csv
import itertools

import pytest
import sacrebleu

from tests.run.programs import TINY_PAIRS, launch, result

WHO = {"i": "我", "you": "你", "he": "他", "we": "我们", "they": "他们"}
DO = {"like": "喜欢", "see": "看见", "know": "认识", "draw": "画"}
WHAT = {"cats": "猫", "dogs": "狗", "books": "书", "birds": "鸟", "horses": "马"}


def test_bleu_is_counted_by_the_rules_of_the_target_language(tmp_path):
    pairs = [
        (f"{who} {do} {what} .", f"{WHO[who]}{DO[do]}{WHAT[what]}。")
        for who, do, what in itertools.product(WHO, DO, WHAT)
    ]
    lines = "".join(f"{english}\t{chinese}\n" for english, chinese in pairs)
    (tmp_path / "pairs.tsv").write_text(lines, encoding="utf-8")
    words = [word for word in TINY_PAIRS if not word.startswith(("data=", "data.sample"))]
    own = ["data=parallel", "data.path=pairs.tsv", "data.text.target_language=zh", "data.text.tokenizer=characters"]
    assert launch([*words, *own, "trainer.max_epochs=1", "decoding=greedy", "hydra.run.dir=run"], tmp_path) == 0
    facts = result(tmp_path / "run")
    assert "tok:zh" in facts["signatures"]["test/bleu"]
    assert "test/token_bleu" not in facts["metrics"]
    with (tmp_path / "run/predictions.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    texts = [row["translation"] for row in rows], [[row["reference"] for row in rows]]
    assert len(rows) == facts["sizes"]["test"]  # the table holds all that was tested
    right = sacrebleu.corpus_bleu(*texts, lowercase=True, tokenize="zh").score
    assert facts["metrics"]["test/bleu"] == pytest.approx(right)
    assert abs(sacrebleu.corpus_bleu(*texts, lowercase=True).score - right) > 0.1
