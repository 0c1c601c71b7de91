"""The generated strings of tones: their borders, speakers and noise, and the alignment that a diagonal finds."""

from string import ascii_lowercase

import numpy as np
import pytest
import torch

from tests.data.audio.sounds_made import pitch
from tests.data.serving import batches, prepared
from zoo.data.audio.generated import ToneStrings, tone_source
from zoo.data.audio.own import OwnSounds
from zoo.data.audio.samples import tones
from zoo.data.audio.samples.tones import FREQUENCIES, PAIRS, generate
from zoo.data.options import SampleOptions
from zoo.errors import ConfigError, DataError

SIZES = {"train": 40, "val": 5, "test": 60}
LOADER = {"batch_size": 4}


def test_a_sound_depends_on_the_seed_and_its_number():
    some, other = list(generate(5, seed=1)), list(generate(3, seed=1))
    for one, two in zip(some, other, strict=False):
        assert np.array_equal(one.samples, two.samples) and one.symbols == two.symbols and one.times == two.times
    assert not np.array_equal(next(generate(1, seed=2)).samples[:100], some[0].samples[:100])


def test_a_symbol_is_two_tones_between_its_borders():
    """The gaps are as quiet as the noise, and the frequencies are those of the pair, by the factor of the speaker."""
    for one in generate(20, seed=3):
        samples, rate = one.samples / 2**15, tones.RATE
        inside = np.zeros(len(samples), bool)
        factors = []
        for symbol, (begin, end) in zip(one.symbols, one.times, strict=True):
            first, last = round(begin * rate), round(end * rate)
            inside[first:last] = True
            expected = [FREQUENCIES[n] for n in PAIRS[11 * symbol % 28]]
            assert 0.049 < end - begin < 0.626
            if end - begin > 0.2:
                loudest = pitch(samples[first:last], rate)
                nearest = min(expected, key=lambda hertz: abs(loudest - hertz))
                factors.append(loudest / nearest)
        assert np.ptp(factors) < 0.03 and 0.9 < np.mean(factors) < 1.1
        assert 9 < 10 * np.log10(np.square(samples[inside]).mean() / np.square(samples[~inside]).mean()) < 21


def test_strings():
    some = list(generate(300, seed=1, symbols=5, least=2, most=4))
    assert {len(one.symbols) for one in some} == {2, 3, 4}
    assert {symbol for one in some for symbol in one.symbols} == set(range(5))
    assert all(a != b for one in some for a, b in zip(one.symbols, one.symbols[1:], strict=False))
    lasting = np.array([end - begin for one in some for begin, end in one.times])
    assert (lasting > 0.25).mean() == pytest.approx(0.25, abs=0.05)  # a third, unless it was shorter than 0.1 before
    assert lasting.mean() == pytest.approx(0.15 * 1.5, rel=0.05)
    assert len({PAIRS[11 * symbol % 28] for symbol in range(26)}) == 26


def test_words_of_several_letters_are_joined_by_blanks():
    source = tone_source(SampleOptions(train=2, val=1, test=1), 8000, ("yes", "no"), (3, 3))
    row = next(source.splits["train"](None))
    words = row.text.split(" ")
    assert len(words) == 3 and set(words) == {"yes", "no"} and row.name == "train 1"
    assert [row.text[one.first : one.last] for one in row.borders] == words


def test_batches_know_the_borders_and_the_diagonal_often_points_beside_them(cache_dir):
    """Symbol t of T lies around the frame (t + 1/2) / T of S if all symbols last equally long."""
    data = prepared(ToneStrings(sample=SIZES, loader=LOADER))
    assert (data.spec.features, data.spec.hop, data.spec.target_size) == (40, 0.01, 24)
    right = []
    made = list(generate(sum(SIZES.values()), seed=1))[-SIZES["test"] :]
    for batch in batches(data, "test"):
        for b, number in enumerate(batch.index.tolist()):
            length, frames = int(batch.target_mask[b].sum()) - 1, int(batch.frame_mask[b].sum())
            one, about = made[number], batch.about[b]
            assert about.spans == tuple(one.times) and about.sound.samples.tolist() == one.samples.tolist()
            assert about.text == data.encoder.text(batch.target[b]) == "".join(ascii_lowercase[s] for s in one.symbols)
            assert frames == 1 + len(one.samples) // 80
            for t, (begin, end) in enumerate(one.times):
                heard = batch.alignment[b, t].nonzero()[:, 0]
                near = [j for j in range(frames) if begin - 0.0125 + 1e-6 < j * 0.01 < end + 0.0125 - 1e-6]
                assert heard.tolist() == near
                right.append(bool(batch.alignment[b, t, int((t + 0.5) / length * frames)]))
            assert not batch.alignment[b, length:].any()
    assert 0.55 < np.mean(right) < 0.75


def test_tones_as_files_are_data_of_your_own(cache_dir, tmp_path):
    sizes, folder = {"train": 4, "val": 2, "test": 2}, tmp_path / "new" / "folder"
    ours = ToneStrings(sample=sizes)
    assert ours.write(folder) == [folder / "transcripts.csv", *(folder / split for split in sizes)]
    own = prepared(OwnSounds(path=str(folder), spectrogram={"rate": 8000}))
    assert own.sizes == sizes
    for split in ("val", "test"):
        (first,), (second,) = batches(prepared(ours), split), batches(own, split)
        order = [first.index.tolist().index(number) for number in second.index.tolist()]
        assert torch.equal(first.frames[order], second.frames) and torch.equal(first.target[order], second.target)
    with pytest.raises(DataError, match=r"folder: is not empty, and stays as it is"):
        ours.write(folder)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["folder"]


@pytest.mark.parametrize(("options", "key"), [({"symbols": 27}, "symbols"), ({"shortest": 9, "longest": 8}, "longest")])
def test_options_that_do_not_fit_are_refused(options, key):
    with pytest.raises(ConfigError, match=rf"data\.{key}="):
        ToneStrings(**options)
