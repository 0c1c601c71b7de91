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
# begins: in training it gets sounds and texts, and finds the time of each letter by itself. In real speech nobody knows
# these times exactly. Here they are known, because the sounds are generated.

# %%
import os
from string import ascii_lowercase

import jiwer
import matplotlib.pyplot as plt
import numpy as np
from IPython.display import Audio

import zoo
from zoo.data.audio.samples.tones import RATE, generate
from zoo.predicting.transcription import ExaminedTranscription
from zoo.visualize import view_of

SMALL = os.environ.get("ZOO_NOTEBOOKS") == "small"  # the tests run this page with a few sounds
SOUNDS = 20 if SMALL else 400

# %% [markdown]
# ## Letters of two tones
#
# Each of 20 letters is a pair of tones that sound at once. A letter takes between 50 and 250 milliseconds, and a third
# of them two and a half times as long, so that its place in the text does not tell its place in the sound. Every
# speaker is a little higher or lower, and there is noise.


# %%
def sounds(count, seed, least=3, most=8):
    """Generated sounds and their texts."""
    made = list(generate(count, seed=seed, least=least, most=most))
    return made, ["".join(ascii_lowercase[symbol] for symbol in one.symbols) for one in made]


(one, *_), (text, *_) = sounds(1, seed=7)
Audio(one.samples, rate=RATE)

# %% [markdown]
# The network reads a spectrogram: 40 bands, a hundred times a second. The lines are the true borders.

# %%
listen = zoo.load("las")
(heard,) = listen([(one.samples, RATE)])
figure, axis = plt.subplots(figsize=(9, 2.2))
axis.imshow(heard.frames.T, origin="lower", aspect="auto", cmap="Greys", extent=(0, heard.sound.seconds, 0, 40))
for letter, (begin, end) in zip(text, one.times, strict=True):
    axis.axvline(begin, color="#c8551b", linewidth=0.8)
    axis.text((begin + end) / 2, 41, letter, ha="center")
axis.set_xlabel("seconds")
axis.set_ylabel("band")
print("It wrote", heard.best.text)

# %% [markdown]
# ## The network
#
# `zoo.load("las")` is a small network that comes with the zoo, trained for a few minutes by
# `python train.py model=las data=tones`.
#
# Its **listener** is a pyramid of LSTMs that read in both directions. Each layer joins two neighbouring states of the
# layer below, so that the states $h_u$ at the top are few: here one for 40 milliseconds. The **speller** is an LSTM.
# Before each letter its state $s_i$ asks all states of the listener:
#
# $$e_{iu} = \phi(s_i)^\top \psi(h_u) \qquad \alpha_i = \mathrm{softmax}(e_i) \qquad c_i = \sum_u \alpha_{iu} h_u$$
#
# and the next letter follows from $s_i$ and $c_i$. The code is in [las.py](../zoo/models/las.py).
#
# ## Where it listened
#
# Above is the sound, below it a row for each letter, dark where the network listened. The frames show the true times.

# %%
view_of(listen.task).picture(heard, ExaminedTranscription(0, heard, text, tuple(one.times)))

# %% [markdown]
# When in a letter does it listen? For the letters of many texts that it got right, this is the time between the begin
# of the letter and the centre of the state with the largest weight.

# %%
made, texts = sounds(SOUNDS, seed=8)
written = listen([(one.samples, RATE) for one in made])
right = [(one, found.best) for one, text, found in zip(made, texts, written, strict=True) if found.best.text == text]
lags = np.array(
    [
        (place + 0.5) * best.stride - begin
        for one, best in right
        for place, (begin, _) in zip(best.places, one.times, strict=True)
    ]
)
rate = jiwer.cer(texts, [found.best.text for found in written])
print(f"{len(made)} texts, {len(right)} without an error; character error rate {rate:.3f}")
figure, axis = plt.subplots(figsize=(6, 2.2))
axis.hist(1000 * lags, bins=np.arange(-200, 320, 20), color="#1f4e79")
axis.axvline(0, color="#c8551b")
axis.set_xlabel("milliseconds after the begin of the letter")
axis.spines[["top", "right"]].set_visible(False)

# %% [markdown]
# It listens at the border between two letters. The state there has two halves: the LSTM that reads forwards has just
# heard the letter before, which the speller has just written, and the LSTM that reads backwards has just heard all of
# the next letter. One look at this place answers "what comes after the letter that I wrote?".
#
# ## Texts that are longer than in training
#
# The same question has several answers where two letters occur twice, and the longer the text, the more often they do.
# In training no text had more than 8 letters.

# %%
for letters in (5, 10, 15, 20, 30):
    made, texts = sounds(SOUNDS // 10, letters, letters, letters)
    found = [one.best.text for one in listen([(one.samples, RATE) for one in made])]
    print(f"{letters:2} letters   character error rate {jiwer.cer(texts, found):.3f}   {texts[0]} -> {found[0]}")

# %% [markdown]
# The errors are jumps: it writes a letter, finds the place after another equal letter, and leaves out all between them.
# Chorowski et al. (2015) saw the same in longer speech. In their attention the energies also depend on where the
# network looked before: `python train.py model=las data=tones model.location=[10,15]`. [The
# results](../results/speech.md) compare both.
#
# ## Further
#
# - `zoo predict las sound.wav --html page.html` writes a page that plays a sound, with a line that moves along the
#   attention. Click a letter to hear it.
# - `data=fsdd data.source=FOLDER` recognises real digits, alone or joined to strings with known borders.
# - `data=audio data.path=FOLDER` trains with your own sounds and texts. [The guide](../docs/guides/transcription.md)
#   shows how.
