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
# # A machine learns to copy, and what its heads do
#
# The task: read some vectors of bits, and write them again. A recurrent network can learn this for the lengths in its
# training, by keeping everything in its state. A neural Turing machine has an external memory, with a read head and a
# write head. From examples alone it learns the program that a programmer would write: *go to the next row, write; at
# the delimiter go back to the start; go to the next row, read*. Such a program works for every length.

# %%
import logging
import os
import warnings

warnings.filterwarnings("ignore")

import matplotlib.pyplot as plt
import numpy as np
from hydra.utils import instantiate
from lightning import Callback, Trainer, seed_everything

from zoo.run.checkpoint import Predictor
from zoo.run.compose import compose, plain
from zoo.tasks.algorithmic import Algorithmic
from zoo.visualize import view_of

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
SMALL = os.environ.get("ZOO_NOTEBOOKS") == "small"  # the tests run this page with a few sequences
SIZES = ["data.sample.train=64", "data.sample.val=16", "data.sample.test=4"] if SMALL else []

# %% [markdown]
# ## Inputs and targets
#
# The input is one to twenty vectors of eight random bits, one per time step, then a delimiter on a separate channel,
# then zeros. During the zeros the machine must write. The stream is endless: no two training sequences are equal.

# %%
data = instantiate(plain(compose(["model=ntm", "data=copy_bits", *SIZES]).data))
data.setup("fit")
example = data.part("val")[0].examples[0]
figure, axes = plt.subplots(2, 1, figsize=(7, 2.4), sharex=True)
for axis, values, name in zip(axes, (example.inputs, example.targets), ("read", "to be written"), strict=True):
    axis.imshow(values.T, cmap="Greys", aspect="auto", interpolation="nearest", vmin=0, vmax=1)
    axis.set_ylabel(name, rotation=0, ha="right", va="center")
    axis.set_yticks([])
_ = axes[-1].set_xlabel("time")

# %% [markdown]
# ## The machine
#
# The controller is an LSTM. At every step it gives each head a key $k$, a strength $\beta$, a gate $g$, a distribution
# $s$ over shifts by $-1$, $0$ and $1$ rows, and a sharpness $\gamma$. The head finds its position in the memory $M$ by
# content, or from its last position, or by both:
#
# $$w^c = \mathrm{softmax}_i\big(\beta \cos(k, M_i)\big) \quad
#   w^g = g\, w^c + (1 - g)\, w_{t-1} \quad
#   \tilde w = w^g * s \quad
#   w_i = \tilde w_i^\gamma \big/ \textstyle\sum_j \tilde w_j^\gamma$$
#
# Then it reads $r = \sum_i w_i M_i$, or writes $M_i \leftarrow M_i (1 - w_i e) + w_i a$. Everything is
# differentiable, so that the machine learns all of it from wrong bits. The code is in [ntm.py](../zoo/models/ntm.py)
# and [addressing.py](../zoo/attention/addressing.py). We train it as `python train.py model=ntm data=copy_bits` does.


# %%
class Curve(Callback):
    """Keeps the bits a sequence of each validation."""

    def __init__(self):
        self.sequences, self.bits = [], []

    def on_validation_end(self, trainer, task):
        if not trainer.sanity_checking:
            self.sequences.append(trainer.global_step * data.loader.batch_size)
            self.bits.append(trainer.callback_metrics["val/bits_per_sequence"].item())


def trained(*words):
    """A network trained as by `python train.py data=copy_bits WORDS...`, its curve, and the test metrics of its last
    weights; a run takes its best."""
    seed_everything(1, verbose=False)
    settings = compose(["data=copy_bits", *words])
    made = Algorithmic(
        **{group: plain(settings[group]) for group in ("model", "optimizer", "scheduler")},
        monitor="val/bits_per_sequence",
        mode="min",
    )
    curve = Curve()
    trainer = Trainer(
        max_epochs=1 if SMALL else settings.trainer.max_epochs,
        gradient_clip_val=settings.trainer.gradient_clip_val,
        val_check_interval=0.125,
        default_root_dir="logs/notebook",
        callbacks=[curve],
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(made, datamodule=data)
    trainer.test(made, datamodule=data, verbose=False)
    return made, curve, {key.removeprefix("test/"): value.item() for key, value in trainer.callback_metrics.items()}


task, curve, scores = trained("model=ntm")
_, plain_curve, plain_scores = trained("model=stacked_lstm", "optimizer.lr=1e-3")
figure, axes = plt.subplots(figsize=(6, 3))
axes.plot(curve.sequences, curve.bits, label="neural Turing machine")
axes.plot(plain_curve.sequences, plain_curve.bits, label="three LSTM layers")
axes.set_xlabel("sequences of training")
axes.set_ylabel("bits a sequence")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)

# %% [markdown]
# Guessing costs 84 bits per sequence. The machine stays there for some thousand sequences. Then it finds the program,
# and the wrong bits fall to zero within a thousand more.
#
# ## What its heads do
#
# The picture shows a new sequence, from left to right. Below the bits, it shows the position of each head in the
# memory at every step. While the machine reads the vectors, the write head moves from row to row. At the delimiter
# the read head is at the first written row, and then it follows the same path.

# %%
ask = Predictor(task, data.encoder)
(prediction,) = ask(["10110010 01010101 11110000 00001111 10000001 01111110 11001100 00110011 10101010 11100111"])
view_of(task).picture(prediction)

# %% [markdown]
# How far does each head move from one step to the next? Rows are cyclic: the last row is next to the first.

# %%
for name, steps in (("write", slice(0, 10)), ("read", slice(11, 21))):
    place = prediction.memory[name][0].argmax(-1)[steps]  # the row that each step looks at most
    size = prediction.memory[name].shape[-1]
    moves = (np.diff(place) + size // 2) % size - size // 2
    print(f"{name:5} rows {place.tolist()}  moves {moves.tolist()}")

# %% [markdown]
# ## Longer than it ever saw
#
# Training has at most 20 vectors. The test has sequences of 20, 30, 50 and 120 vectors; the last have 960 bits. The
# mean number of wrong bits per sequence:

# %%
print("vectors        ", "".join(f"{name.removeprefix('length'):>9}" for name in data.spec.groups))
for label, found in (("machine", scores), ("LSTM layers", plain_scores)):
    print(f"{label:15}", "".join(f"{found[f'error_bits_{name}']:9.2f}" for name in data.spec.groups))

# %% [markdown]
# ## Further
#
# - `data=repeat_copy`, `associative_recall`, `dynamic_ngrams` and `priority_sort` are the other tasks of the paper.
#   `model=dnc` is its successor, which tracks free rows and the order in which rows were written.
# - `model.controller=feedforward` has no state besides the memory. Others use `model.first_weighting=learned` and
#   `model.memory_start=random`; [the results](../results/algorithms.md) show how well they work.
# - `zoo predict last "10110010 01010101" --attention heads.png` draws the picture above.
