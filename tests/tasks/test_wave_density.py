"""The likelihood of sounds: metrics worked by hand, silence, baselines, and sounds that are made."""

from math import log
from types import SimpleNamespace

import torch

from zoo.data.waves.batch import WaveBatch
from zoo.data.waves.mu_law import encode
from zoo.decoding.waves import make_samples
from zoo.predicting.wave_density import silent, surprisal
from zoo.tasks import wave_baselines


def sounds(levels, lengths=None):
    place = torch.arange(levels.shape[1])
    mask = place < torch.tensor(lengths or [levels.shape[1]] * len(levels))[:, None]
    return WaveBatch(levels.to(torch.uint8) * mask, mask)


def test_only_scored_samples_have_a_surprisal():
    batch = sounds(torch.tensor([[1, 0, 2], [2, 2, 0]]), [3, 2])
    batch = WaveBatch(batch.samples, batch.sample_mask, context=torch.tensor([1, 0]))
    scores = torch.tensor([1.0, 2.0, 5.0]).log().expand(2, 3, 3)
    nats = surprisal(scores, batch)
    expected = torch.tensor([[0, log(8), log(8 / 5)], [log(8 / 5), log(8 / 5), 0]])
    torch.testing.assert_close(nats, expected)
    assert batch.units.item() == 4


def test_silence_is_34_decibels_below_the_loudest_part():
    samples = torch.cat([torch.full((100,), 0.5), torch.full((100,), 0.011), torch.full((100,), 0.009)])
    quiet = silent(sounds(encode(samples)[None]), 1000)[0]
    assert not quiet[:195].any() and quiet[205:].all()


def test_samples_follow_the_probabilities_and_the_prompt():
    class Echo:
        """The next sample is the last one plus 1, modulo 5."""

        def start(self, batch):
            return self.step(batch.samples[:, -1], None)

        def step(self, levels, state):
            return torch.nn.functional.one_hot((levels.long() + 1) % 5, 5) * 50.0, None

    made = make_samples(Echo(), sounds(torch.tensor([[3], [1]])), torch.rand(2, 4))
    assert made.tolist() == [[3, 4, 0, 1, 2], [1, 2, 3, 4, 0]]


def test_tables_count_what_follows(monkeypatch):
    """Levels that alternate are certain given the one before; only the first of a sound follows silence."""
    waves = torch.tensor([0, 255] * 50, dtype=torch.uint8)
    monkeypatch.setattr(wave_baselines, "levels_of", lambda data, split: [waves] * 4)
    found = wave_baselines.tables(SimpleNamespace(sizes={"train": 4}))
    assert found["table of the level before"] < 0.1
    assert next(reversed(found.values())) < 0.2


def test_a_linear_prediction_continues_a_tone():
    tone = 0.5 * torch.sin(torch.arange(2000) * 0.3)
    weights = wave_baselines.linear_prediction([encode(tone)])
    found = wave_baselines.predicted(encode(tone), weights)
    assert (found[100:].int() - encode(tone)[100:].int()).abs().float().mean() < 1.5
    assert weights.shape == (wave_baselines.ORDER,)
    assert wave_baselines.before(encode(tone))[:2].tolist() == [128, encode(tone)[0].item()]
