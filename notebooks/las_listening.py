# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # How it listens
#
# *Listen, attend and spell* (Chan et al. 2016) writes letter by letter what it hears. Nobody tells it when a letter
# begins: it gets a sound and a text, and finds the time of each letter by itself. In real speech nobody knows these
# times exactly either. Here they are known, because the sounds are generated.

# %%
import logging
import os
import warnings

warnings.filterwarnings("ignore")

import matplotlib.pyplot as plt
import numpy as np
from hydra.utils import instantiate
from IPython.display import Audio
from lightning import Trainer, seed_everything

from zoo.run.compose import compose, plain
from zoo.tasks.transcription import Transcription
from zoo.visualize import view_of

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
SMALL = os.environ.get("ZOO_NOTEBOOKS") == "small"  # the tests run this page with a few sounds
SIZES = ["data.sample.train=40", "data.sample.val=8", "data.sample.test=16"] if SMALL else []


def opened(*words):
    """The data of `python train.py model=las data=tones WORDS...`."""
    found = instantiate(plain(compose(["model=las", "data=tones", *SIZES, *words]).data))
    found.prepare_data()
    found.setup()
    return found


# %% [markdown]
# ## Letters of two tones
#
# Each of 16 letters is a pair of tones that sound at once. A letter takes between 50 and 250 milliseconds, and a third
# of them two and a half times as long, so that its place in the text does not tell its place in the sound. Every
# speaker is a little higher or lower, and there is noise. The network reads a spectrogram: 40 bands, a hundred times a
# second.

# %%
data = opened()
batch = next(iter(data.test_dataloader()))
about = batch.about[0]
figure, axis = plt.subplots(figsize=(9, 2.2))
frames = batch.frames[0][batch.frame_mask[0]]
axis.imshow(frames.T, origin="lower", aspect="auto", cmap="Greys", extent=(0, about.sound.seconds, 0, 40))
for letter, (begin, end) in zip(about.text, about.spans, strict=True):
    axis.axvline(begin, color="#c8551b", linewidth=0.8)
    axis.text((begin + end) / 2, 41, letter, ha="center")
axis.set_xlabel("seconds")
axis.set_ylabel("band")
Audio(about.sound.samples.numpy(), rate=about.sound.rate)

# %% [markdown]
# ## The network
#
# The **listener** is a pyramid of LSTMs that read in both directions. Each layer joins two neighbouring states of the
# layer below, so that the states $h_u$ at its top are few. The **speller** is an LSTM. Before each letter its state
# $s_i$ asks all states of the listener:
#
# $$e_{iu} = \phi(s_i)^\top \psi(h_u) \qquad \alpha_i = \mathrm{softmax}(e_i) \qquad c_i = \sum_u \alpha_{iu} h_u$$
#
# and the next letter follows from $s_i$ and $c_i$. The code is in [las.py](../zoo/models/las.py). We train it as
# `python train.py model=las data=tones` does.

# %%
MEASURES = ("cer", "exact_match", "attention_recall", "pointing", "monotone")


def trained(*words):
    """A network trained as by `python train.py data=tones WORDS...`, and the test metrics of its last weights; a run
    takes its best."""
    seed_everything(1, verbose=False)
    settings = compose(["data=tones", *words])
    groups = ("model", "objective", "decoding", "optimizer", "scheduler")
    made = Transcription(**{group: plain(settings[group]) for group in groups}, monitor="val/cer", mode="min")
    trainer = Trainer(
        max_epochs=1 if SMALL else settings.trainer.max_epochs,
        gradient_clip_val=settings.trainer.gradient_clip_val,
        limit_val_batches=0,
        default_root_dir="logs/notebook",
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(made, datamodule=data)
    return made, scores(made, data)


def scores(made, of):
    """The test metrics of a network on some data."""
    trainer = Trainer(accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.test(made, datamodule=of, verbose=False)
    return {name: value.item() for name, value in trainer.callback_metrics.items()}


def report(name, found):
    """One line of what a network is worth."""
    print(f"{name:10}", *(f"{key} {found[f'test/{key}']:6.3f}" for key in MEASURES), sep="   ")


content, found = trained("model=las")
report("content", found)

# %% [markdown]
# `cer` counts the wrong letters per letter, and `exact_match` the texts without an error. `pointing` is the share of
# letters whose largest weight lies in the true time of the letter, and `monotone` the share of steps that do not go
# back in time.
#
# ## Where it listened
#
# Above is the sound, below it a row for each letter, dark where the network listened. The frames show the true times.

# %%
examined = [one for batch in data.test_dataloader() for one in content.eval().examine(batch)]
shown = next((one for one in examined if one.right), examined[0])
view_of(content).picture(shown.prediction, shown)

# %% [markdown]
# When in a letter does it listen? For every letter of the texts that are right, this is the time between the begin of
# the letter and the centre of the state with the largest weight.


# %%
def lags(some):
    """Seconds from the begin of each letter to the centre of the state with its largest weight."""
    return np.array(
        [
            (place + 0.5) * one.prediction.best.stride - span[0]
            for one in some
            if one.spans and one.prediction.best.places
            for place, span in zip(one.prediction.best.places, one.spans, strict=False)
            if span
        ]
    )


figure, axis = plt.subplots(figsize=(6, 2.2))
axis.hist(1000 * lags(examined), bins=np.arange(-200, 420, 20), color="#1f4e79")
axis.axvline(0, color="#c8551b")
axis.set_xlabel("milliseconds after the begin of the letter")
axis.spines[["top", "right"]].set_visible(False)

# %% [markdown]
# It listens at the border between two letters. That is no accident. The state there has two halves: the LSTM that
# reads forwards has just heard the letter before, which the speller has just written, and the LSTM that reads backwards
# has just heard all of the next letter. One weight at this place answers "what comes after the letter that I wrote?".
#
# ## Longer texts than in training
#
# Attention by content must find its place in the sound from the states alone. Chorowski et al. (2015) let it see where
# it was before: the weights of the last letter, convolved with a few filters, are part of the energies. Both networks
# were trained with texts of 4 to 12 letters. What do they write of longer ones?

# %%
located, found = trained("model=las", "model.location=[10,15]")
report("content", scores(content, data))
report("location", found)
for letters in (16, 24, 32):
    longer = opened(f"data.shortest={letters}", f"data.longest={letters}", "data.sample.train=1", "data.sample.test=60")
    rates = (scores(made, longer)["test/cer"] for made in (content, located))
    print(f"{letters} letters: character error rate", *(f"{rate:.3f}" for rate in rates), sep="   ")

# %% [markdown]
# ## Further
#
# - `zoo predict last sound.wav --html page.html` writes a page that plays your sound, with a line that moves along the
#   attention. Click a letter to hear it.
# - `data=fsdd data.source=FOLDER` recognises real digits, alone or joined to strings with known borders.
# - `data=audio data.path=FOLDER` reads your own sounds and texts. [The guide](../docs/guides/transcription.md) shows
#   how.
