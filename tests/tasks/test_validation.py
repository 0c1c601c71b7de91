"""Validation scores greedy decoding, and the attention beside equal weights on the visible positions."""

import pytest
import torch

from tests.tasks.running import logged
from tests.tasks.test_translation import MODEL, SPEC, batch, encoder
from zoo.decoding import Greedy
from zoo.tasks import Translation

LUONG = {"_target_": "zoo.models.luong.Luong", "embedding_dim": 5, "hidden_dim": 4, "num_layers": 1}


def task(model, **decoding):
    made = Translation(
        model=model,
        objective={"_target_": "zoo.objectives.CrossEntropy"},
        decoding={"_target_": "zoo.decoding.Greedy", **decoding},
        monitor="val/loss",
        mode="min",
    )
    made.build(SPEC, encoder())
    generator = torch.Generator().manual_seed(1)
    for parameter in made.network.parameters():
        torch.nn.init.normal_(parameter, generator=generator)
    return made.eval()


@pytest.mark.parametrize("search", ["BeamSearch", "Sampling"])
@torch.no_grad()
def test_validation_decodes_greedily_and_the_test_as_configured(monkeypatch, search):
    translation = task(MODEL, _target_=f"zoo.decoding.{search}", max_length=[0.0, 5.0])
    logged(translation, monkeypatch)
    one, seen = batch(range(5)), {}
    monkeypatch.setattr(translation, "score_written", lambda stage, _, found: seen.update({stage: found}))
    translation.validation_step(one, 0)
    torch.manual_seed(0)
    translation.test_step(one, 0)
    torch.manual_seed(0)
    expected = {"val": Greedy(max_length=(0.0, 5.0)), "test": translation.decode}
    for stage, decode in expected.items():
        assert [best.ids for best in seen[stage]] == [best.ids for best, *_ in decode(translation.network, one, SPEC)]
    assert [best.ids for best in seen["val"]] != [best.ids for best in seen["test"]]  # else this could not tell


@pytest.mark.parametrize(("model", "ends_seen"), [(LUONG, 0), (MODEL, 1)], ids=["luong", "rnnsearch"])
def test_chance_is_equal_weights_on_what_the_network_may_attend(monkeypatch, model, ends_seen):
    """`ein mann rennt .` -> `a man runs .` has 4 links, `hund .` -> `dog .` has 2: word by word, the ends have none.
    Luong's decoder does not see the source's end."""
    translation = task(model)
    found = logged(translation, monkeypatch)
    links = torch.zeros(2, 5, 5, dtype=torch.bool)
    links[0, range(4), range(4)] = True
    links[1, range(2), range(2)] = True
    with torch.no_grad():
        translation.validation_step(batch([0, 2], links), 0)
    expected = (4 / (4 + ends_seen) + 2 / (2 + ends_seen)) / 6
    assert found["val/attention_chance"].compute().item() == pytest.approx(expected)
