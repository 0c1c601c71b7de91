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
# # Which pixels decide the next one
#
# *Gated PixelCNN* (van den Oord et al. 2016b) gives the probability of each pixel of a picture, after all pixels before
# it. Change one of these pixels, and the probability of the next one may change. This page measures how much, and for
# which pixels. It begins with what a network *can* see, and ends with what a trained one *looks at*.

# %%
import os

import matplotlib.pyplot as plt
import numpy as np
import torch

import zoo
from zoo.data.pictures.batch import PictureBatch, PictureSpec
from zoo.data.pictures.samples import glyphs
from zoo.models import GatedPixelCNN, PixelCNN
from zoo.predicting.density import DensityPredictions

SMALL = os.environ.get("ZOO_NOTEBOOKS") == "small"  # the tests run this page with fewer pictures
PICTURES = 4 if SMALL else 40

# %% [markdown]
# ## What a network can see
#
# A stack of masked convolutions sees the pixels above and to the left. But it has a blind spot: pixels above and far to
# the right, which no path through the masks reaches. The gated network has two stacks, and reaches every earlier pixel.
# Both networks below are untrained: what they *can* see depends on their form alone.


# %%
def field(network, spec, row, column):
    """How much each pixel changes the distribution of one pixel."""
    task = DensityPredictions()
    task.network, task.spec = network.eval(), spec
    image = torch.randint(0, spec.levels, (4, 1, spec.height, spec.width)).byte()
    return task.influence(PictureBatch(image), row, column)


torch.manual_seed(0)
spec = PictureSpec(channels=1, height=16, width=16, levels=2)
networks = {
    "PixelCNN": PixelCNN(spec, hidden_dim=16, num_layers=8, head_dim=16),
    "Gated PixelCNN": GatedPixelCNN(spec, hidden_dim=16, num_layers=9, head_dim=16),
}
figure, axes = plt.subplots(1, 2, figsize=(8, 4))
for axis, (name, network) in zip(axes, networks.items(), strict=True):
    seen = field(network, spec, 8, 6) > 0
    axis.imshow(seen, cmap="Blues", vmax=2)
    axis.plot(6, 8, "s", color="darkorange")
    axis.set_title(f"{name}: {seen.sum()} of {8 * 16 + 6} earlier pixels")
    axis.axis("off")

# %% [markdown]
# ## What a trained network looks at
#
# The included network has learned letters and digits of 12 x 12 pixels. For each place of a few pictures, the picture
# below shows how much a change of another pixel changes the log-probability of the one in the frame.

# %%
task = zoo.load("gated_pixelcnn").task
made = [one.pixels for one in glyphs.generate(PICTURES, seed=11)]
batch = zoo.load("gated_pixelcnn").encoder(made)
places = [(2, 6), (4, 6), (6, 6), (8, 6)]
figure, axes = plt.subplots(1, len(places), figsize=(12, 3))
for axis, (row, column) in zip(axes, places, strict=True):
    influence = task.influence(batch, row, column)
    axis.imshow(influence**0.5, cmap="Blues")
    axis.plot(column, row, "s", color="darkorange")
    axis.set_title(f"row {row + 1}")
    axis.axis("off")

# %% [markdown]
# ## How far it looks
#
# The mean influence by distance. It falls, but it is still large at six pixels: the top of a character shows how wide
# it is, and so where its lower strokes are.


# %%
def by_distance(task, batch, row, column):
    """The mean influence of the earlier pixels at each distance, in pixels."""
    influence = task.influence(batch, row, column)
    y, x = np.indices(influence.shape)
    before = (y < row) | ((y == row) & (x < column))
    distance = np.maximum(abs(y - row), abs(x - column))
    return [influence[before & (distance == far)].mean() for far in range(1, 7)]


curves = {f"row {row + 1}": by_distance(task, batch, row, 6) for row in (4, 6, 8, 10)}
for name, curve in curves.items():
    plt.plot(range(1, 7), curve, marker="o", label=name)
plt.xlabel("distance in pixels")
plt.ylabel("change of the log-probability, in nats")
plt.legend()

# %% [markdown]
# ## Where the bits are
#
# The surprisal of a pixel is what its value adds to the nats of the picture. It is large where the character could
# still be another one, and nearly zero where the pixels before leave no choice.

# %%
figure, axes = plt.subplots(2, 6, figsize=(12, 4))
shown = made[:6] if len(made) >= 6 else [*made, *made[:2]]
for column, one in enumerate(zoo.load("gated_pixelcnn")(shown)):
    axes[0, column].imshow(one.pixels[..., 0], cmap="gray")
    axes[1, column].imshow(one.bits, cmap="Blues", vmax=3)
    axes[1, column].set_title(f"{one.nats:.1f} nats")
    axes[0, column].axis("off")
    axes[1, column].axis("off")

entropy = glyphs.entropy(12, glyphs.CHARACTERS, False, 1)
print(f"The entropy of this distribution is {entropy:.2f} nats, the least that any network can have on average.")
