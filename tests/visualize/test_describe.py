"""A data set on the terminal."""

from io import StringIO

from rich.console import Console

from tests.data.pairs.toy import Toy, prepared
from zoo.data.documents.yelp import Yelp
from zoo.visualize.classification import ClassificationView
from zoo.visualize.translation import TranslationView


def shown(view, data):
    console = Console(file=StringIO(), width=140)
    console.print(view.description("mine", data.source_description, data.describe()))
    return console.file.getvalue()


def test_pairs(cache_dir):
    data = prepared(Toy(text={"max_length": 8, "max_ratio": 1.2}))
    text = shown(TranslationView(), data)
    assert "mine: sample: 82 generated toys, seed 1" in text
    assert f"vocabularies of {data.spec.source_size} (source) and {data.spec.target_size} (target) tokens" in text
    facts = data.describe()["splits"]["train"]
    rows = {line.split("│")[1].strip(): line for line in text.splitlines() if line.count("│") == 7}
    assert f"{facts['pairs']}" in rows["train"]
    dropped = facts["dropped"]
    assert f"{dropped['longer than 8 tokens']} longer than 8 tokens" in rows["train"]
    assert "none" in rows["test"]
    assert f"tokens a training target: mean {facts['target_tokens']['mean']}" in text
    example = data.describe()["examples"][0]
    side_by_side = next(line for line in text.splitlines() if example["source_text"] in line)
    assert example["target_text"] in side_by_side


def test_one_vocabulary(cache_dir):
    data = prepared(Toy(text={"joint": True}))
    assert f"one vocabulary of {data.spec.source_size} tokens for both sides" in shown(TranslationView(), data)


def test_documents(cache_dir):
    data = prepared(Yelp(sample={"train": 30, "val": 10, "test": 10}, text={"minimum_frequency": 1}))
    text = shown(ClassificationView(), data)
    assert "mine: sample: 50 generated reviews, seed 1" in text
    assert "sentences a training document: mean" in text
    assert "5 classes" in text
