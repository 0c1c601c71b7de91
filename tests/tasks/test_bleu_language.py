"""Which tokeniser BLEU is counted by, as the target language and the tokens of the run ask for it."""

import logging

import pytest

from tests.tasks.test_translation import MODEL, SPEC, encoder
from zoo.data.pairs.encoding import PairEncoder
from zoo.metrics import text
from zoo.tasks import Translation


def built(language, tokenizer="whitespace"):
    task = Translation(
        model=MODEL,
        objective={"_target_": "zoo.objectives.CrossEntropy"},
        decoding={"_target_": "zoo.decoding.Greedy"},
        monitor="val/loss",
        mode="min",
    )
    made = encoder(tokenizer)
    vocabularies = list(made.by_name.values())
    task.build(SPEC, PairEncoder(made.text_options, vocabularies, languages=("en", language)))
    return task


@pytest.mark.parametrize(
    ("language", "tokenizer", "bleu", "token_bleu"),
    [
        ("de", "whitespace", "tok:13a", True),
        ("de", "characters", None, False),
        ("zh", "whitespace", "tok:zh", True),
        ("zh", "characters", "tok:zh", False),
        ("th", "characters", "tok:char", False),
    ],
)
def test_signature(language, tokenizer, bleu, token_bleu):
    signatures = built(language, tokenizer).signatures()
    assert ("test/bleu" in signatures) == ("test/chrf" in signatures) == (bleu is not None)
    assert bleu is None or bleu in signatures["test/bleu"].split("|")
    assert ("test/token_bleu" in signatures) == token_bleu


def test_characters_in_place_of_a_tokenizer_that_is_not_installed_are_said_once(monkeypatch, caplog):
    monkeypatch.setattr(text, "find_spec", lambda name: None)
    with caplog.at_level(logging.INFO, logger="zoo"):
        task = built("ja")
    (line,) = caplog.messages
    assert "BLEU of ja is computed in characters" in line
    assert "pip install 'sacrebleu[ja]'" in line
    assert "tok:char" in task.signatures()["test/bleu"]
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="zoo"):
        built("zh"), built("de")
    assert not caplog.messages
