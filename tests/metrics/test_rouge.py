"""ROUGE by hand, of several references, and of parts of a corpus."""

import json
import math
import random
import subprocess
import sys

import pytest

from zoo.metrics.rouge import KINDS, Rouge, rouge

WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "was", "happy", "to", "see", "it", "running", "runs"]
CAT = "the cat sat on the mat .\nit was happy ."
TURNED = "it was happy .\nthe cat sat on a mat ."


def scored(kind, summaries, references, **options):
    metric = Rouge(kind, **options)
    metric.update(summaries, references)
    return metric.compute().item()


def test_the_three_longest_common_subsequences_differ():
    """The reference has 9 words. 8 of them, and 5 of 8 pairs of neighbours, are in the summary. A common subsequence
    has one sentence of 5 words; by sentences all 8 words are found."""
    found = {kind: scored(kind, [TURNED], [[CAT]], stemming=False) for kind in KINDS}
    expected = {"rouge_1": 8 / 9, "rouge_2": 5 / 8, "rouge_l": 5 / 9, "rouge_lsum": 8 / 9}
    assert found == pytest.approx({kind: 100 * score for kind, score in expected.items()})
    whole = scored("rouge_lsum", [TURNED.replace("\n", " ")], [[CAT.replace("\n", " ")]], stemming=False)
    assert whole == pytest.approx(100 * 5 / 9)


def test_the_reference_with_the_highest_rouge_1_gives_all_scores():
    """The second reference has more of the words, and the first one more of their order."""
    references = ["the cat sat", "mat happy a on sat cat the"]
    summary = "the cat sat on a happy mat"
    assert rouge(summary, references)["rouge_1"] == pytest.approx(1)
    assert rouge(summary, references)["rouge_2"] == 0 < rouge(summary, references[:1])["rouge_2"]
    assert rouge(summary, references) == rouge(summary, references[1:])


def test_stems_are_equal_only_with_stemming():
    assert scored("rouge_1", ["running"], [["runs"]], stemming=True) == 100
    assert scored("rouge_1", ["running"], [["runs"]], stemming=False) == 0


def test_parts_of_a_corpus_sum_to_the_whole():
    draw = random.Random(0)

    def text():
        return " ".join(draw.choices(WORDS, k=draw.randint(0, 9)))

    summaries = [text() for _ in range(23)]
    references = [[text() for _ in range(draw.randint(1, 3))] for _ in summaries]
    for kind in KINDS:
        parts = Rouge(kind)
        for start, end in ((0, 1), (1, 1), (1, 20), (20, 23)):
            parts.update(summaries[start:end], references[start:end])
        mean = sum(rouge(*pair)[kind] for pair in zip(summaries, references, strict=True)) / 23
        assert parts.compute().item() == pytest.approx(100 * mean) == scored(kind, summaries, references)


def test_it_is_not_defined_without_a_word_to_find():
    assert math.isnan(scored("rouge_1", ["a"], [["猫"]]))
    assert scored("rouge_2", [""], [["a b"]]) == 0
    for wrong in ([["a"]], ["a", "b"], [["a"], []]):
        with pytest.raises(ValueError, match=r"references of 1 texts|with one at least"):
            Rouge("rouge_1").update(["a", "b"], wrong)
    with pytest.raises(ValueError, match=r"kind='rougeL': expected one of rouge_1"):
        Rouge("rougeL")


def test_signatures_name_what_must_be_equal():
    assert Rouge("rouge_l").signature == "refs:best-rouge1|score:f1|case:lower|tok:a-z0-9|stem:porter|version:0.1.2"
    assert "|stem:none|split:punkt|" in Rouge("rouge_lsum", stemming=False, splitting="punkt").signature


def test_the_baselines_of_scitldr(shared_data):
    """The published rule gives 31.29, 11.42 and 24.08 to the first sentence of an abstract."""
    file = shared_data / "scitldr" / "test.jsonl"
    if not file.is_file():
        pytest.skip("no SciTLDR beside the clone (../shared/data/scitldr)")
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    firsts, references = [row["source"][0] for row in rows], [row["target"] for row in rows]
    found = {kind: scored(kind, firsts, references) for kind in ("rouge_1", "rouge_2", "rouge_l")}
    assert found == pytest.approx({"rouge_1": 31.29, "rouge_2": 11.42, "rouge_l": 24.08}, abs=0.005)


def test_logging_that_is_set_up_again_closes_no_stream():
    """absl, which rouge-score imports, closes the stream that its handler has, unless it is the process's own."""
    program = (
        "import io, logging, sys\n"
        "sys.stderr = before = io.StringIO()\n"
        "import zoo.metrics.rouge\n"
        "sys.stderr = io.StringIO()\n"
        "from absl.logging import get_absl_handler\n"
        "get_absl_handler().close()\n"
        "print(before.closed)\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
