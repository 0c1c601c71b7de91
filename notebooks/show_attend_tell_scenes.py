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
# *Show, attend and tell* (Xu et al. 2015) writes a sentence about a picture, and before each word it looks at the
# picture again. That a heat map lies on the right thing is easily believed. Here it can be scored: the pictures are
# generated, and it is known which object every word names, where that is, and whether the sentence is true.

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

from zoo.data.images import boxes
from zoo.data.images.samples.scenes import generate
from zoo.run.checkpoint import Predictor
from zoo.run.compose import compose, plain
from zoo.tasks.captioning import Captioning
from zoo.visualize.captioning_picture import caption_figure

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
SMALL = os.environ.get("ZOO_NOTEBOOKS") == "small"  # the tests run this page with a few pictures
SIZES = ["data.sample.train=64", "data.sample.val=8", "data.sample.test=16"] if SMALL else []

# %% [markdown]
# ## Pictures of which everything is known
#
# Two to five shapes on a textured ground. A caption speaks of the most central one and of the next, and says how they
# stand to each other: all of that can be seen, so that whoever writes something else is wrong.

# %%
figure, axes = plt.subplots(1, 4, figsize=(10, 2.8))
for axis, scene in zip(axes, generate(4, seed=5), strict=True):
    axis.imshow(scene.pixels, extent=(0, 1, 1, 0))
    for thing in scene.things[:2]:
        left, top, right, bottom = thing.box
        axis.add_patch(Rectangle((left, top), right - left, bottom - top, fill=False, edgecolor="orange"))
    axis.set_title(textwrap.fill(scene.captions[0].text, 30), fontsize=8)
    axis.axis("off")

# %% [markdown]
# ## The network
#
# A small convolutional network turns the picture into a grid of $8 \times 8$ vectors $a_i$, one for each cell. An LSTM
# writes, and before each word its state asks which cells to look at:
#
# $$e_{ti} = u^\top \tanh(P a_i + W h_{t-1}) \qquad \alpha_t = \mathrm{softmax}(e_t) \qquad
#   z_t = \beta_t \sum_i \alpha_{ti}\, a_i$$
#
# Nobody tells it where to look: there are pictures and sentences, and the loss is that of the next word. That is
# [show_attend_tell.py](../zoo/models/show_attend_tell.py), trained as by
# `python train.py model=show_attend_tell data=scenes`.

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
# `true` is the share of the captions that are true of their picture. The second network is
# [its predecessor](../zoo/models/show_and_tell.py), trained for as many steps: it sees the picture once, as one vector.
# It writes sentences as they are in the data, with a fair number of the right words in BLEU, and hardly one that is
# true. `attention_recall` is the mass of attention in the box of the object that a word names, `pointing` how often the
# cell with the largest weight lies in it; a cell drawn by chance does so in one case of nine.
#
# ## Where it looked
#
# A picture of the test set. Bright is what it looked at when it wrote the word, the box is where the object is.

# %%
(one, *_) = soft.eval().examine(next(iter(data.test_dataloader())))
caption_figure(one.prediction, one)

# %% [markdown]
# Before it names an object it looks at that one. Where does it look at the other words? Between the two it has to
# find out how they stand, and that is a matter of both. For all that it writes of some pictures: the mass of the
# attention in the box of the first object of the caption, in that of the second, and elsewhere.

# %%
KINDS = ("names the first", "how they stand", "names the second", "the rest")
STAND = {"left", "right", "above", "below", "of", "to", "its", "it"}
batches = list(data.test_dataloader())[:10]
mass = {kind: [] for kind in KINDS}
for batch in batches:
    for one, about in zip(soft.examine(batch), batch.about, strict=True):
        best, (first, second) = one.prediction.best, [thing["box"] for thing in about.facts["objects"][:2]]
        cells = boxes.cells([first, second], one.prediction.grid)  # (2, S)
        for word, box, weights in zip(best.words, one.boxes, best.attention, strict=False):
            named = {tuple(first): KINDS[0], tuple(second): KINDS[2]}.get(box)
            kind = named or (KINDS[1] if word in STAND else KINDS[3])
            inside = cells @ np.array(weights)
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
# When it writes how they stand it knows the first one, and looks at the second already, and around.
#
# ## One place instead of a mean
#
# Soft attention reads a mean of all cells. Hard attention looks at one cell $s_t$, drawn from $\alpha_t$. A draw has no
# gradient; what is learned from is how well the caption came out, compared with what captions cost on average, $b$:
#
# $$\nabla \approx \nabla \log p(y \mid s) + \lambda_r \big(\log p(y \mid s) - b\big) \nabla \log p(s)
#   + \lambda_e \nabla H[\alpha]$$
#
# From nothing this is slow, and [the results](../results/captions.md) say how slow. From the weights of the soft one it
# takes one more epoch; in the test the network reads the likeliest cell alone, as by
# `python train.py model=show_attend_tell data=scenes model.attention=hard start_from=RUN`.

# %%
hard, hard_scores = trained(
    "model=show_attend_tell", "model.attention=hard", "optimizer.lr=1e-3", "trainer.max_epochs=1", begin=soft
)
report("soft", scores)
report("hard", hard_scores)
(one, *_) = hard.eval().examine(batches[0])
caption_figure(one.prediction, one)

# %% [markdown]
# ## A picture of your own
#
# The network takes files, arrays and PIL images. Here is one that is drawn by hand, with no texture and three things of
# the same kind; what does it say of it?

# %%
picture = Image.new("RGB", (96, 96), (60, 60, 66))
draw = ImageDraw.Draw(picture)
draw.ellipse((38, 34, 60, 56), fill=(225, 60, 50))  # red, in the middle
draw.rectangle((8, 40, 24, 56), fill=(70, 110, 235))  # blue, left of it
draw.rectangle((70, 70, 86, 86), fill=(70, 110, 235))
ask = Predictor(soft, data.encoder)
(prediction,) = ask([picture])
caption_figure(prediction)

# %% [markdown]
# ## Further
#
# - `zoo predict last picture.png --attention looked.png` draws this picture from a run, `--html looked.html` makes a
#   page of it: hold the pointer over a word.
# - `regularizer=doubly_stochastic` is the paper's penalty that asks the attention to visit every cell, and
#   `model=caption_transformer` and `caption_rnnsearch` caption with attention of other kinds.
# - `data=captions data.path=FOLDER` reads images and a table of captions of your own; `flickr8k`, `flickr30k`, `coco`
#   with `experiment=show_attend_tell_flickr8k` are the paper's.
