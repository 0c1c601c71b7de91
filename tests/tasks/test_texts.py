"""Counts of copied words and facts, by hand; predictions with the place of each copied word."""

import pytest
import torch

from tests.tasks.running import figures, logged
from zoo.data.copying.batch import CopySpec
from zoo.data.copying.encoding import CopyEncoder
from zoo.data.copying.options import CopyTextOptions
from zoo.data.text.vocabulary import END, WRITTEN_SPECIAL, Vocabulary
from zoo.decoding import Hypothesis
from zoo.tasks.summarization import Summarization
from zoo.tasks.texts import repeated

WORDS = ["the", "met", "of", "is", "red", "blue", "."]
the, met, of, is_, red, blue, stop = range(len(WRITTEN_SPECIAL), len(WRITTEN_SPECIAL) + len(WORDS))
SIZE = stop + 1
SPEC = CopySpec(vocabulary_size=SIZE, longest_source=20, longest_target=10)
ROWS = [
    {"source_texts": ["Zork met Abba .", "the ship of Zork is red ."], "target_texts": ["Zork met Abba red ."]},
    {"source_texts": ["Bilbo is blue ."], "target_texts": ["Bilbo of Rivendell blue ."]},
]
FACTS = torch.tensor([[0, 0, 0, 2, 0, 0], [0, 0, 0, 1, 0, 0]])
MODEL = {
    "_target_": "zoo.models.pointer_generator.PointerGenerator",
    "embedding_dim": 5,
    "hidden_dim": 4,
    "attention_dim": 3,
}


def task(**options):
    torch.manual_seed(0)
    made = Summarization(
        model=MODEL | options,
        objective={"_target_": "zoo.objectives.CrossEntropy"},
        decoding={"_target_": "zoo.decoding.BeamSearch", "beam_size": 2, "max_length": [0, 6]},
        optimizer={"_target_": "torch.optim.SGD", "lr": 0.1},
        monitor="val/loss",
        mode="min",
    )
    made.build(SPEC, CopyEncoder(CopyTextOptions(tokenizer="whitespace"), [Vocabulary(WORDS, WRITTEN_SPECIAL)]))
    made.prepare_training()
    return made.eval()


def batch(made, rows=ROWS):
    one = made.encoder.encode(rows)
    object.__setattr__(one, "facts", FACTS if rows is ROWS else None)
    return one


def test_copies_and_facts_of_what_was_written(monkeypatch):
    made = task()
    found, one = logged(made, monkeypatch), batch(made)
    zork, abba = SIZE, SIZE + 1
    written = [(zork, met, zork, blue, END), (SIZE, is_, blue)]
    made.score_written("test", one, [Hypothesis(ids, 0.0, 0.0, True) for ids in written])
    # Zork, Abba and Bilbo are wanted; Rivendell is in no source, so that nobody can copy it. Abba was not written
    assert found["test/copy_accuracy"].compute().item() == pytest.approx(2 / 3)
    assert found["test/fact_accuracy"].compute().item() == pytest.approx(1 / 2)  # blue, not red
    means = made.group_means("test", ["facts_by_distance"])["facts_by_distance"]
    assert (means[1].item(), means[2].item()) == (1.0, 0.0)
    assert found["test/copy_rate"].compute().item() == pytest.approx(6 / 7)  # all but the first blue
    assert found["test/length"].compute().item() == pytest.approx(3.5)
    assert abba == SIZE + 1


def test_a_word_that_is_wanted_twice_has_to_be_written_twice(monkeypatch):
    made = task()
    found = logged(made, monkeypatch)
    one = batch(made, [{"source_texts": ["Zork met Zork"], "target_texts": ["Zork met Zork"]}])
    made.score_written("test", one, [Hypothesis((SIZE, met, END), 0.0, 0.0, True)])
    assert found["test/copy_accuracy"].compute().item() == 0.5


def test_the_loss_of_facts_is_that_of_their_tokens(monkeypatch):
    made = task().double()
    one = batch(made)
    value = figures(made, monkeypatch, one)
    with torch.no_grad():
        log_probs = made.network(one).logits
    packed = one.forced.packing
    grid = packed.unpack(log_probs)
    expected = -(grid[0, 3, red] + grid[1, 3, blue]).item() / 2
    assert value["fact_loss"] == pytest.approx(expected)
    count = one.target_mask.sum().item()
    total = -log_probs.gather(1, packed.pack(one.copied)[:, None]).sum().item()
    assert value["loss"] == pytest.approx(total / count)


def test_repeated_trigrams():
    assert repeated([1, 2, 3, 1, 2, 3, 1]) == [False, False, False, True, True]
    assert repeated([1, 2]) == []


def test_unknown_words_are_written_as_the_source_has_them():
    made = task()
    one = batch(made)
    written = [Hypothesis((SIZE, met, SIZE + 1, END), 0.0, 0.0, True), Hypothesis((SIZE, 1, END), 0.0, 0.0, True)]
    assert made.texts(one, written) == ["Zork met Abba", "Bilbo <unk>"]


def test_a_prediction_names_the_place_of_each_copied_word():
    made = task()
    with torch.no_grad():
        made.network.switch.bias.fill_(-20.0)  # everything is copied
    sources = [row["source_texts"] for row in ROWS]
    words = [made.encoder.display(source) for source in sources]
    found = made.predictions(made.encoder(sources), words)
    for prediction, source in zip(found, words, strict=True):
        best = prediction.best
        assert prediction.source == tuple(source)
        for token, place, share, p_gen in zip(
            best.tokens, best.copied.place, best.copied.share, best.copied.generate, strict=True
        ):
            if token == "</s>":
                assert place is None
            else:
                assert source[place] == token
                assert share > 0.99
            assert p_gen < 1e-6
    assert found[0].sentence == (0,) * 4 + (1,) * 7
    assert found[0].unknown == (0, 2, 5, 7)  # ship is unknown, too
    assert [one.copied for one in found[0].written[1:]] == [None] * (len(found[0].written) - 1)


def test_without_copying_a_prediction_names_no_place():
    made = task(copy=False)
    (prediction,) = made.predictions(made.encoder(["Zork met Abba ."]), [["Zork", "met", "Abba", "."]])
    assert prediction.best.copied is None
    assert prediction.best.attention is not None


def test_an_examined_example_has_its_source_and_reference():
    made = task()
    examined = made.examine(made.encoder.encode(ROWS))
    assert examined[0].prediction.source[:4] == ("Zork", "met", "Abba", ".")
    assert [one.truth for one in examined] == ["Zork met Abba red .", "Bilbo of Rivendell blue ."]
