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
# # Look where it looked
#
# *Show, attend and tell* (Xu et al. 2015) writes a sentence about a picture, and attends to the picture again before
# each word. It is easy to believe that a heat map lies on the right object. Here we can score it: the pictures are
# generated, so that the object of every word, its position, and the truth of the sentence are known.

# %%
import logging
import os
import textwrap
import warnings

warnings.filterwarnings("ignore")

import matplotlib.pyplot as plt
import numpy as np
from hydra.utils import instantiate
from lightning import Trainer, seed_everything
from matplotlib.patches import Rectangle
from PIL import Image, ImageDraw

from zoo.data.images.samples.scenes import generate
from zoo.data.images.truth import cells
from zoo.run.checkpoint import Predictor
from zoo.run.compose import compose, plain
from zoo.tasks.captioning import Captioning
from zoo.visualize import view_of

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
SMALL = os.environ.get("ZOO_NOTEBOOKS") == "small"  # the tests run this page with a few pictures
SIZES = ["data.sample.train=64", "data.sample.val=8", "data.sample.test=16"] if SMALL else []

# %% [markdown]
# ## Pictures with known content
#
# A picture has two to five shapes on a textured ground. A caption names the most central shape and the next, and their
# relative position. All of this can be seen in the picture, so that any other caption is wrong.

# %%
figure, axes = plt.subplots(1, 4, figsize=(10, 2.8))
for axis, scene in zip(axes, generate(4, seed=5), strict=True):
    axis.imshow(scene.pixels, extent=(0, 1, 1, 0))
    for thing in scene.things[:2]:
        left, top, right, bottom = thing.box
        axis.add_patch(Rectangle((left, top), right - left, bottom - top, fill=False, edgecolor="orange"))
    axis.set_title(textwrap.fill(scene.captions[0], 30), fontsize=8)
    axis.axis("off")

# %% [markdown]
# ## The network
#
# A small convolutional network turns the picture into a grid of $8 \times 8$ vectors $a_i$, one for each cell. An LSTM
# writes the caption. Before each word, its state decides which cells to attend to:
#
# $$e_{ti} = u^\top \tanh(P a_i + W h_{t-1}) \qquad \alpha_t = \mathrm{softmax}(e_t) \qquad
#   z_t = \beta_t \sum_i \alpha_{ti}\, a_i$$
#
# The training data do not say where to look: there are only pictures and sentences, and the loss is that of the next
# word. The code is in [show_attend_tell.py](../zoo/models/show_attend_tell.py). We train it as
# `python train.py model=show_attend_tell data=scenes` does.

# %%
data = instantiate(plain(compose(["model=show_attend_tell", "data=scenes", *SIZES]).data))
MEASURES = ("bleu4", "true", "attention_recall", "pointing")


def trained(*words, begin=None):
    """A network trained as by `python train.py data=scenes WORDS...`, from the weights of `begin`, and the test metrics
    of its last weights; a run takes its best."""
    seed_everything(1, verbose=False)
    settings = compose(["data=scenes", *words])
    made = Captioning(
        **{group: plain(settings[group]) for group in ("model", "objective", "decoding", "optimizer", "scheduler")},
        monitor="val/bleu4",
        mode="max",
        meteor=False,
    )
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
    if begin is not None:
        data.setup("fit")
        made.build(data.spec, data.encoder)
        made.prepare_training()
        made.network.load_state_dict(begin.network.state_dict())
    trainer.fit(made, datamodule=data)
    trainer.test(made, datamodule=data, verbose=False)
    return made, {name: value.item() for name, value in trainer.callback_metrics.items()}


def report(name, found):
    """One line of what a network is worth."""
    said = (f"{key} {found[f'test/{key}']:6.3f}" for key in MEASURES if f"test/{key}" in found)
    print(f"{name:10}", *said, sep="   ")


soft, scores = trained("model=show_attend_tell")
report("soft", scores)
_, without = trained("model=show_and_tell")
report("no look", without)

# %% [markdown]
# `true` is the share of captions that are true of their picture. The second network is [its
# predecessor](../zoo/models/show_and_tell.py), trained for the same number of steps, which reads the picture once, as
# one vector. Its sentences look like those of the data, with many right words by BLEU, but hardly one is true.
# `attention_recall` is the mass of attention in the box of the object that a word names. `pointing` is the share of
# words whose largest weight lies in that box; for a random cell this is one in nine.
#
# ## Where it looked
#
# This is a picture of the test set. Bright cells have high attention at that word, and the box is the position of the
# object.

# %%
(one, *_) = soft.eval().examine(next(iter(data.test_dataloader())))
view_of(soft).picture(one.prediction, one)

# %% [markdown]
# Before the network names an object it attends to that object. Where does it attend at the other words? Between the
# two objects it must find their relative position, which depends on both. For the captions of some pictures, we show
# the mass of attention in the box of the first object, in the box of the second, and elsewhere.

# %%
KINDS = ("names the first", "how they stand", "names the second", "the rest")
STAND = {"left", "right", "above", "below", "of", "to", "its", "it"}
batches = list(data.test_dataloader())[:10]
mass = {kind: [] for kind in KINDS}
for batch in batches:
    for one, about in zip(soft.examine(batch), batch.about, strict=True):
        best, (first, second) = one.prediction.best, [thing["box"] for thing in about.facts["objects"][:2]]
        covered = cells([first, second], one.prediction.grid)  # (2, S)
        for word, box, weights in zip(best.words, one.places, best.attention, strict=False):
            named = {tuple(first): KINDS[0], tuple(second): KINDS[2]}.get(box)
            kind = named or (KINDS[1] if word in STAND else KINDS[3])
            inside = covered @ np.array(weights)
            mass[kind].append([*inside, max(0, 1 - inside.sum())])
figure, axis = plt.subplots(figsize=(6, 2.4))
left = np.zeros(len(KINDS))
means = np.array([np.mean(mass[kind] or [[0, 0, 0]], axis=0) for kind in KINDS])
for part, name, colour in zip(
    means.T, ("first", "second", "elsewhere"), ("#1f4e79", "#c8551b", "#d0d0d0"), strict=True
):
    axis.barh(KINDS, part, left=left, color=colour, label=name)
    left += part
axis.invert_yaxis()
axis.set_xlabel("mass of the attention")
axis.legend(frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1))
axis.spines[["top", "right"]].set_visible(False)

# %% [markdown]
# When it writes the relative position it knows the first object, and already attends to the second and its
# surroundings.
#
# ## One place instead of a mean
#
# Soft attention reads a mean of all cells. Hard attention reads one cell $s_t$, drawn from $\alpha_t$. A draw has no
# gradient. Instead, the network learns from the quality of the caption, compared with the average $b$:
#
# $$\nabla \approx \nabla \log p(y \mid s) + \lambda_r \big(\log p(y \mid s) - b\big) \nabla \log p(s)
#   + \lambda_e \nabla H[\alpha]$$
#
# From scratch this is slow; [the results](../results/captions.md) show how slow. From the weights of the soft network
# it takes one more epoch. In the test the network reads only the likeliest cell, as in `python train.py
# model=show_attend_tell data=scenes model.attention=hard start_from=RUN`.

# %%
hard, hard_scores = trained(
    "model=show_attend_tell", "model.attention=hard", "optimizer.lr=1e-3", "trainer.max_epochs=1", begin=soft
)
report("soft", scores)
report("hard", hard_scores)
(one, *_) = hard.eval().examine(batches[0])
view_of(soft).picture(one.prediction, one)

# %% [markdown]
# ## Your own picture
#
# The network reads files, arrays and PIL images. This one is drawn by hand, without texture and with three objects of
# the same kind. Which caption does the network write?

# %%
picture = Image.new("RGB", (96, 96), (60, 60, 66))
draw = ImageDraw.Draw(picture)
draw.ellipse((38, 34, 60, 56), fill=(225, 60, 50))  # red, in the middle
draw.rectangle((8, 40, 24, 56), fill=(70, 110, 235))  # blue, left of it
draw.rectangle((70, 70, 86, 86), fill=(70, 110, 235))
ask = Predictor(soft, data.encoder)
(prediction,) = ask([picture])
view_of(soft).picture(prediction)

# %% [markdown]
# ## Further
#
# - `zoo predict last picture.png --attention looked.png` draws this picture from a run. `--html looked.html` writes a
#   page: move the pointer over a word.
# - `regularizer=doubly_stochastic` is the paper's penalty that pushes the attention to every cell.
#   `model=caption_transformer` and `caption_rnnsearch` write captions with other kinds of attention.
# - `data=captions data.path=FOLDER` reads your own images and a table of captions. The paper's data sets are
#   `flickr8k`, `flickr30k` and `coco`, with experiments such as `experiment=show_attend_tell_flickr8k`.
