"""The task of summarization: ROUGE against all references, and new words, by hand; its baselines and its limits."""

from types import SimpleNamespace

import pytest
import torch
from omegaconf import OmegaConf

from tests.tasks.running import figures, logged
from zoo.data.copying.batch import CopySpec
from zoo.data.summaries.encoding import SummaryEncoder, SummaryTextOptions
from zoo.data.text.vocabulary import END, WRITTEN_SPECIAL, Vocabulary
from zoo.decoding import Hypothesis
from zoo.errors import ConfigError
from zoo.metrics.rouge import KINDS, rouge
from zoo.tasks.summarization import Summarization

WORDS = ["the", "cat", "sat", "on", "mat", "it", "was", "happy", "."]
FIRST = len(WRITTEN_SPECIAL)
SIZE = FIRST + len(WORDS)
SPEC = CopySpec(vocabulary_size=SIZE, longest_source=20, longest_target=7)
ENCODER = SummaryEncoder(SummaryTextOptions(tokenizer="whitespace"), [Vocabulary(WORDS, WRITTEN_SPECIAL)])
ROWS = [
    {"source_texts": ["Zork sat on the mat .", "it was happy ."], "target_texts": ["the cat .", "Zork was happy ."]},
    {"source_texts": ["the cat sat ."], "target_texts": ["the mat sat ."]},
]
WRITTEN = ["Zork sat . it was happy .", "the mat ."]


def task(**options):
    made = Summarization(
        model={
            "_target_": "zoo.models.pointer_generator.PointerGenerator",
            "embedding_dim": 4,
            "hidden_dim": 3,
            "attention_dim": 2,
        },
        objective={"_target_": "zoo.objectives.CrossEntropy"},
        monitor="val/loss",
        mode="min",
        **{"decoding": {"_target_": "zoo.decoding.Greedy"}} | options,
    )
    made.build(SPEC, ENCODER)
    return made.eval()


def ids(text, unknown=("Zork",)):
    """The written tokens of a text with their end."""
    known = ENCODER.vocabulary.encode(text.split())
    columns = {word: SIZE + number for number, word in enumerate(unknown)}
    return (*(columns.get(word, one) for word, one in zip(text.split(), known, strict=True)), END)


def scored(made, monkeypatch, written=WRITTEN):
    found = logged(made, monkeypatch)
    made.score_written("test", ENCODER.encode(ROWS), [Hypothesis(ids(text), 0.0, 0.0, True) for text in written])
    return {name.removeprefix("test/"): metric.compute().item() for name, metric in found.items()}


def test_rouge_of_the_texts_in_sentences_against_the_most_similar_reference(monkeypatch):
    found = scored(task(), monkeypatch)
    lines = [text.replace(" . ", " .\n") for text in WRITTEN]
    every = [rouge(one, row["target_texts"]) for one, row in zip(lines, ROWS, strict=True)]
    assert {kind: found[kind] for kind in KINDS} == pytest.approx({k: 50 * sum(one[k] for one in every) for k in KINDS})
    assert every[0]["rouge_1"] == pytest.approx(2 * 3 / (3 + 5))  # the words of the second reference: 3 of 3 and of 5


def test_new_words_are_those_that_the_article_lacks(monkeypatch):
    found = scored(task(), monkeypatch)
    # only "mat" is new; of the pairs "sat .", "the mat" and "mat ."; ". it" joins two sentences of the article
    assert found["novelty_1"] == pytest.approx(1 / 10)
    assert found["novelty_2"] == pytest.approx(3 / 8)
    assert found["novelty_3"] == pytest.approx(3 / 6)


def test_every_figure_of_the_validation_can_be_monitored(monkeypatch):
    made = task()
    found = figures(made, monkeypatch, ENCODER.encode(ROWS), stage="val")
    assert {*KINDS, "copy_accuracy", "perplexity"} <= set(found) & set(made.monitors)
    assert "free_running_perplexity" not in found
    signatures = made.signatures()
    assert "split:punkt" in signatures["test/rouge_lsum"] and "stem:porter" in signatures["test/rouge_1"]
    assert "stem:none" in task(stemming=False).signatures()["test/rouge_1"]


def test_a_summary_is_as_long_as_the_longest_of_the_data_or_as_given():
    batch = ENCODER([row["source_texts"] for row in ROWS])
    for given, most in (({}, 7), ({"max_length": [0.0, 3]}, 3)):
        made = task(decoding={"_target_": "zoo.decoding.Greedy", **given})
        with torch.no_grad():
            for parameter in made.network.parameters():
                parameter.zero_()
            made.network.vocabulary.bias[FIRST] = 9.0  # "the", for ever
        assert [len(best.ids) for best, *_ in made.predict_step(batch)] == [most, most]


def test_baselines_take_as_many_first_sentences_as_the_summaries_of_the_validation_have():
    articles = [(["the cat sat .", "it was happy .", "the end ."], ["the cat sat . it was happy ."])]
    data = SimpleNamespace(sizes={"test": 1}, texts=lambda split: articles)
    found = task(baselines=True).baselines(data)
    assert list(found) == ["lead-2", "best sentence", "oracle extract"]
    assert found["lead-2"]["rouge_lsum"] == pytest.approx(100) and found["best sentence"]["rouge_1"] < 100
    assert task().baselines(data) == {}
    greedy = {"_target_": "zoo.decoding.Greedy"}
    cfg = OmegaConf.create({"task": {"baselines": True}, "test": False, "decoding": greedy, "objective": {}})
    with pytest.raises(ConfigError, match=r"task.baselines=true adds rows to the table of a test: set test=true"):
        Summarization.check(cfg, SimpleNamespace(attends={"source": "memory_mask"}))
