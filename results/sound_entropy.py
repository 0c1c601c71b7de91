"""python results/sound_entropy.py: the entropy of the test sounds of data=chords, given their strokes, in bits per
sample: of those in silence, and of all others. A network is compared with it by `bits_silence` and `bits_sound`.
"""

from itertools import islice

import numpy as np
import torch

import zoo
from zoo.data.waves.batch import WaveBatch
from zoo.data.waves.samples.chords import entropies, generate
from zoo.predicting.wave_density import silent


def main() -> None:
    """Print both means."""
    data = zoo.load_data("chords")
    sizes, rate = data.sample, data.spectrogram.rate
    sounds = generate(sizes.total, seed=sizes.seed, rate=rate, seconds=data.seconds, noise=data.noise)
    found: dict[bool, list[np.ndarray]] = {True: [], False: []}
    for sound in islice(sounds, sizes.train + sizes.val, None):
        levels = torch.from_numpy(sound.levels)[None]
        quiet = silent(WaveBatch(levels, torch.ones_like(levels, dtype=torch.bool)), rate)[0].numpy()
        bits = entropies(sound.clean, data.noise) / np.log(2)
        for silence in found:
            found[silence].append(bits[quiet == silence])
    for silence, name in ((True, "silence"), (False, "sound")):
        print(f"{name}: {np.concatenate(found[silence]).mean():.4f}")


if __name__ == "__main__":
    main()
