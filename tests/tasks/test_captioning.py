"""The task of captioning: what is written of each image, once, against all its references; truth and attention by hand;
what is not known is not logged; predictions as plain data."""

import io
import json

import numpy as np
import pytest
import sacrebleu
import torch
from PIL import Image

from tests.tasks.images import CELLS, GRID, SPEC, captioning, images
from tests.tasks.running import figures
from zoo.metrics import CiderD, Meteor
from zoo.predicting.captions import ExaminedCaption

SAID = ["a red star left of a ball", "the dog is large", "a blue ball and a green star", "there is a dog"]
TRUE = [
    ["a red star left of a ball", "the red star is left of the ball"],
    ["a large dog", "there is a dog", "the dog"],
    ["a green star and a blue ball"],
    ["there is a red ball above a dog", "a ball"],
]
"""The captions of the four images. The first one equals a reference."""


# what is written


def test_each_image_is_written_of_once_and_compared_with_all_its_captions(monkeypatch):
    task = captioning(SAID)
    counts, decode = [], task.decode
    monkeypatch.setattr(
        task, "decode", lambda network, batch, spec: counts.append(len(batch)) or decode(network, batch, spec)
    )
    batch = images(TRUE, order=[3, 0, 7, 5, 1, 2, 4, 6])  # captions of all images one through the other
    found = figures(task, monkeypatch, batch)
    assert counts == [4] and len(batch) == 8
    longest = max(map(len, TRUE))
    columns = [[several[n] if n < len(several) else None for several in TRUE] for n in range(longest)]
    for order in (1, 2, 3, 4):
        bleu = sacrebleu.BLEU(tokenize="none", smooth_method="none", max_ngram_order=order)
        assert found[f"bleu{order}"] == pytest.approx(bleu.corpus_score(SAID, columns).score)
    cider = CiderD()
    cider.update(SAID, TRUE)
    assert found["cider_d"] == pytest.approx(cider.compute().item()) and found["cider_d"] > 1
    assert found["rouge_l"] > 50


def test_both_sides_are_compared_in_words_of_the_treebank(monkeypatch):
    """Capitals, stops and where words are cut do not count, on neither side."""
    batch = images([["The dog isn't red", "A BALL!"], ["A star, left of a ball."]])
    found = figures(captioning(["the dog is red ! .", "a star , left of a ball"]), monkeypatch, batch)
    assert found["bleu1"] == pytest.approx(100 * np.exp(1 - 11 / 10))  # "n't" is all that is missing
    same = figures(captioning(["a ball !", "a star left of a ball ."]), monkeypatch, batch)
    assert same["bleu2"] == pytest.approx(100)


def test_every_figure_of_the_validation_can_be_monitored(monkeypatch):
    task = captioning(SAID)
    found = figures(task, monkeypatch, images(TRUE), stage="val")
    assert found == pytest.approx(figures(captioning(SAID), monkeypatch, images(TRUE)))
    assert task.headline[0] == "bleu4" and set(found) - {"attention_chance"} <= set(task.monitors)


def test_captions_may_be_as_long_as_the_longest_of_the_data():
    """Nothing else follows from an image: [a, b] with tokens of a source in it says nothing."""
    for told in ({}, {"max_length": [2.0, 10]}):
        task = captioning(SAID, decoding={"_target_": "zoo.decoding.Greedy", **told})
        assert task.greedy.rules.max_length == task.decode.rules.max_length == (0.0, SPEC.longest_target)
    short = captioning(SAID, decoding={"_target_": "zoo.decoding.Greedy", "max_length": [0, 3]})
    assert short.greedy.rules.max_length == (0, 3)
    with torch.no_grad():
        assert [best.ids[-1] for best, *_ in short.predict_step(images(TRUE).each_image())] == [SPEC.end] * 4
    short.search(beam_size=2, nbest=2)
    assert short.decode.rules.max_length == (0, 3)


# what is true


def test_the_share_of_true_captions_is_that_of_the_images(monkeypatch):
    things = [
        {"size": "small", "colour": "red", "shape": "star", "centre": [0.2, 0.5], "box": [0.1, 0.4, 0.3, 0.6]},
        {"size": "large", "colour": "blue", "shape": "star", "centre": [0.8, 0.5], "box": [0.7, 0.4, 0.9, 0.6]},
    ]
    said = ["a red star left of a blue star", "a red star above a blue star", "a red star left of a green star"]
    facts = [{"objects": things}] * 3
    batch = images([["a star"]] * 3, facts=facts)
    assert figures(captioning(said), monkeypatch, batch)["true"] == pytest.approx(1 / 3)
    first, second, third = captioning(said).examine(batch)
    assert (first.true, second.true, third.true) == (True, False, False)
    red, blue = (tuple(thing["box"]) for thing in things)
    assert first.places == (None, red, red, None, None, None, blue, blue)
    assert third.places == (None, red, red, None, None, None, None, None)  # the scene lacks a green star


def test_what_the_data_do_not_know_is_not_logged(monkeypatch):
    found = figures(captioning(SAID), monkeypatch, images(TRUE))
    assert not {"true", "attention_recall", "attention_chance", "pointing"} & set(found)
    assert not any(np.isnan(value) for value in found.values())
    (first, *_) = captioning(SAID).examine(images(TRUE))
    assert first.true is None and first.places is None


def test_attention_by_hand(monkeypatch):
    """In "a red star" with its end, "red" has two true cells of six, "star" one."""
    looks = [[[1, 0, 0, 0, 0, 0], [0.1, 0.6, 0.2, 0.1, 0, 0], [0, 0.4, 0.1, 0, 0, 0.5], [0, 0, 0, 0, 0, 1]]]
    alignment = torch.zeros(1, 4, CELLS, dtype=torch.bool)
    alignment[0, 1, [1, 2]] = alignment[0, 2, 1] = True
    batch = images([["a red star"]], alignment=alignment)
    found = figures(captioning(["a red star"], looks), monkeypatch, batch)
    assert found["attention_recall"] == pytest.approx((0.8 + 0.4) / 2)
    assert found["attention_chance"] == pytest.approx((2 / 6 + 1 / 6) / 2)
    assert found["pointing"] == pytest.approx(1 / 2)  # the largest weight of "star" is on cell 5
    even = figures(captioning(["a red star"]), monkeypatch, batch)
    assert [even[name] for name in ("attention_recall", "attention_chance", "pointing")] == pytest.approx([0.25] * 3)


def test_losses_are_those_of_all_captions(monkeypatch):
    task = captioning(SAID)
    batch = images(TRUE)
    found = figures(task, monkeypatch, batch)
    with torch.no_grad():
        log_probs = task(batch).logits.log_softmax(-1)
    nll = -log_probs.gather(1, batch.true_tokens[:, None]).mean().item()
    assert found["loss"] == pytest.approx(nll, rel=1e-5) and found["perplexity"] == pytest.approx(np.exp(nll), rel=1e-5)


def test_nothing_is_counted_of_which_an_image_with_several_captions_has_no_right_value(monkeypatch):
    """A network that reads its own words goes on with its own caption, and finds the others, as right, impossible."""
    task = captioning(SAID)
    monkeypatch.setattr(task, "_free_running", lambda *_: pytest.fail("walks through all captions for nothing"))
    found = figures(task, monkeypatch, images(TRUE))
    assert "perplexity" in found and not {"free_running_perplexity", "alignment_error_rate"} & {*found, *task.monitors}


def test_meteor_is_for_tests_alone_and_where_it_can_be_counted(monkeypatch, caplog):
    monkeypatch.setattr(Meteor, "missing", staticmethod(lambda: None))
    task = captioning(SAID, meteor=True)
    assert "meteor" in task.test_metrics and "meteor" not in task.val_metrics
    assert "test/meteor" in task.signatures() and "meteor" not in task.monitors
    assert "meteor" not in captioning(SAID, meteor=False).test_metrics
    monkeypatch.setattr(Meteor, "missing", staticmethod(lambda: "METEOR is left out: no Java"))
    task = captioning(SAID, meteor=True)
    assert "meteor" not in task.test_metrics and "test/meteor" not in task.signatures()
    with caplog.at_level("INFO"):
        task.on_test_start()
        captioning(SAID, meteor=False).on_test_start()
    assert [record.message for record in caplog.records] == ["METEOR is left out: no Java"]
    assert task.signatures()["test/cider_d"].startswith("tok:ptb|df:references")


# predicting


def test_predictions_are_plain_data():
    looks = [[[0, 0, 0, 1, 0, 0], [0, 0.5, 0, 0, 0, 0.5]]]
    task = captioning(["dog", "a ball"], looks, decoding={"_target_": "zoo.decoding.BeamSearch", "nbest": 2})
    pixels = [torch.full((3, 8, 12), 70 * number, dtype=torch.uint8) for number in (0, 1)]
    batch = images([["a dog"], ["a dog"]], numbers=[0, 1]).each_image()
    with torch.no_grad():
        first, second = task.predictions(batch, pixels)
    assert first.best.words == ("dog",) and first.best.text == "dog" and first.best.finished
    assert first.best.attention[0] == (0, 0, 0, 1, 0, 0) and len(first.best.attention) == 2  # the end has its own
    assert first.grid == GRID and first.picture.name == "0.png" and len(first.captions) == 2
    assert second.best.text == "a ball" and second.best.log_prob == second.best.score < 0
    found = np.asarray(Image.open(io.BytesIO(second.picture.png)))
    assert found.shape == (8, 12, 3) and (found == 70).all()
    plain = json.loads(json.dumps(first.to_dict()))
    assert plain["image"] == "0.png" and plain["grid"] == [2, 3]
    assert plain["captions"][0]["words"] == ["dog"] and plain["captions"][0]["attention"][1][5] == 0.5


def test_images_are_examined_once_with_all_that_the_data_say():
    batch = images(TRUE, order=[7, 0, 1, 2, 3, 4, 5, 6])
    examined = captioning(SAID).examine(batch)
    assert [type(one) for one in examined] == [ExaminedCaption] * 4
    assert [one.index for one in examined] == [0, 1, 2, 3]
    assert examined[1].truth == "a large dog | there is a dog | the dog"
    assert [one.prediction.best.text for one in examined] == SAID
    assert batch.shown == 4 and len(batch.first(2)) == 5
    few = captioning(SAID).examine(batch.first(2))
    assert [one.index for one in few] == [0, 1] and few[1].prediction.best.text == SAID[1]
    assert few[1].truth == examined[1].truth
