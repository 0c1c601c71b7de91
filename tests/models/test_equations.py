"""Networks that write, against the papers' equations as slow loops: `rows` of each network's own tests."""

import pytest

from tests.families import family_of
from tests.models import test_caption_rnnsearch as caption_rnnsearch
from tests.models import test_encoder_decoder as encoder_decoder
from tests.models import test_luong as luong
from tests.models import test_rnnsearch as rnnsearch
from tests.models import test_seq2seq_lstm as seq2seq_lstm
from tests.models import test_show_and_tell as show_and_tell
from tests.models import test_show_attend_tell as show_attend_tell
from tests.models.equations import assert_drops, assert_equals_the_equations, halve

MODULES = [caption_rnnsearch, encoder_decoder, luong, rnnsearch, seq2seq_lstm, show_and_tell, show_attend_tell]


def ways(key):
    """Each network with each of the settings that its tests name."""
    return [
        pytest.param(module, way, id=f"{module.__name__.rpartition('test_')[2]}-{way}")
        for module in MODULES
        for way in getattr(module, key, [{}])
    ]


@pytest.mark.parametrize(("module", "way"), ways("EQUATIONS"))
def test_equals_the_equations(module, way):
    model, batch = module.model_of(**way), module.BATCH
    assert_equals_the_equations(model, batch, module.rows(model, batch))


@pytest.mark.parametrize(("module", "way"), ways("DROPPING"))
def test_dropout_acts_where_the_loops_have_it_in_training_alone(module, way, monkeypatch):
    halve(monkeypatch)
    model, plain, batch = module.model_of(dropout=0.5, **way), module.model_of(dropout=0.0, **way), module.BATCH
    without_targets = family_of(model.tasks[0]).without_targets(batch)
    assert_drops(model, plain, batch, module.rows(model, batch, keep=0.5), without_targets)
