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
# # What a summary copies
#
# News is full of names that a network has never seen. A network that can only choose words from a list has to write
# *unknown word* for each of them. A pointer-generator ([See et al. 2017](../zoo/models/pointer_generator.py)) has a
# second way: it points at a word of the report and copies it. We train one for about half a minute and look at each
# word of its summaries: was it copied, and from where?

# %%
# %matplotlib inline
import logging
import os
import warnings

warnings.filterwarnings("ignore")

import matplotlib.pyplot as plt
from lightning import Callback, Trainer, seed_everything

import zoo
from zoo.run.checkpoint import Predictor
from zoo.run.compose import compose, plain
from zoo.tasks.summarization import Summarization
from zoo.visualize import view_of

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
SMALL = os.environ.get("ZOO_NOTEBOOKS") == "small"  # the tests run this page with few reports

# %% [markdown]
# ## The reports
#
# The sample has generated reports. Their people, places and numbers are mostly invented for one report, so that the
# vocabulary has few of them. A summary repeats some of the facts; the other sentences name other people and places.

# %%
data = zoo.load_data("summaries", sample={"train": 200, "val": 20, "test": 20} if SMALL else {"train": 4_000})
known = set(data.encoder.vocabulary.words)


def new(text):
    """The words of a text that the vocabulary lacks; it has them in small letters."""
    return [word for word in text.replace(",", "").rstrip(".").split() if word.lower() not in known]


sentences, (summary, *_) = max(data.texts("test")[:20], key=lambda texts: len(new(texts[1][0])))
report = " ".join(sentences)
print(*sentences, "", f"summary: {summary}", sep="\n")

# %%
print(f"the vocabulary has {len(known):,} words; of this summary it lacks", ", ".join(new(summary)))

# %% [markdown]
# ## Training
#
# `python train.py model=pointer_generator data=summaries` does what this cell does, with a larger network and for more
# epochs. While it learns, it writes the summary of the same report again and again.


# %%
class Writes(Callback):
    """Prints the summary of the report at some of the steps."""

    def on_train_batch_end(self, trainer, task, outputs, batch, batch_idx):
        if trainer.global_step in (20, 60, 120, 240):
            (found,) = Predictor(task, data.encoder)([report])
            print(f"step {trainer.global_step:3}, loss {float(outputs['loss']):.2f}: {found.best.text}")
            task.train()


def trained(*overrides):
    """A predictor with a network that was trained as by `python train.py data=summaries OVERRIDES...`."""
    seed_everything(1, verbose=False)
    size = ("model.embedding_dim=64", "model.hidden_dim=64", "model.attention_dim=64")
    settings = compose(["model=pointer_generator", "data=summaries", *size, *overrides])
    groups = ("model", "objective", "optimizer", "scheduler", "decoding")
    made = Summarization(**{group: plain(settings[group]) for group in groups}, monitor="val/loss", mode="min")
    trainer = Trainer(
        max_epochs=1 if SMALL else 3,
        gradient_clip_val=settings.trainer.gradient_clip_val,
        default_root_dir="logs/notebook",
        accelerator="cpu",
        callbacks=[Writes()],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        limit_val_batches=0,
    )
    trainer.fit(made, datamodule=data)
    return Predictor(made, data.encoder)


copier = trained()

# %% [markdown]
# First it learns the form of a summary, then that unknown words have to be copied, and last which of the names to copy.
#
# ## Which words are copied?
#
# A coloured word was copied. Its number leads to its place in the report. The line under a word is $p_{gen}$, the share
# of the vocabulary: full where the network wrote the word from its list, empty where it copied.

# %%
view = view_of(copier.task)
(found,) = copier([report])
figure = view.picture(found)
figure.set_dpi(100)
figure

# %% [markdown]
# The same in numbers. `copied` is the probability that a word was copied, given that it was written: a word that the
# vocabulary *and* the report have can come from both.

# %%
copied = found.best.copied
for word, generate, share, place in zip(
    found.best.tokens[:-1], copied.generate, copied.share, copied.place, strict=False
):
    where = "" if place is None else f"from word {place + 1}, {found.source[place]}"
    print(f"{word:14} p_gen {generate:.2f}   copied {share:.2f}   {where}")

# %% [markdown]
# Over 100 test reports: how large is $p_{gen}$ for words that the vocabulary has, and for those that it lacks?

# %%
shares = {"in the vocabulary": [], "not in it": []}
for one in copier([" ".join(texts) for texts, _ in data.texts("test")[:100]]):
    for word, generate in zip(one.best.tokens, one.best.copied.generate, strict=False):
        shares["in the vocabulary" if word.lower() in known else "not in it"].append(generate)
figure, axes = plt.subplots(figsize=(6, 2.5))
axes.hist(list(shares.values()), bins=20, range=(0, 1), label=list(shares))
axes.set_xlabel("p_gen: the share of the vocabulary")
axes.set_ylabel("written words")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)

# %% [markdown]
# ## Without copying
#
# `model.copy=false` leaves only the list of words. This network attends to the right place of the report, too, but it
# cannot write what it finds there.

# %%
writer = trained("model.copy=false")

# %%
print("with copying:   ", copier([report])[0].best.text)
print("without copying:", writer([report])[0].best.text)

# %% [markdown]
# ## Your own report
#
# Invent a name and a place. The network has never seen them, and copies them all the same. Change the text and run the
# cell again.

# %%
own = "On Friday a new library was opened in Quuxhaven by mayor Anna Zyzzyva. The plans had been drawn by Blorptin."
(found,) = copier([own])
print(found.best.text)
figure = view.picture(found)
figure.set_dpi(100)
figure

# %% [markdown]
# The network has learned from one kind of text. Of another text it makes a report of that kind:

# %%
print(copier(["The cat sat on the mat. It rained all day in Blorpville."])[0].best.text)

# %% [markdown]
# ## Further
#
# - `zoo predict pointer_generator --file report.txt --html summary.html` asks the network that comes along. The page
#   links each copied word to its place.
# - `python train.py model=pointer_generator data=summaries data.path=my.csv` learns from your own texts and summaries.
# - [The guide of summaries](../docs/guides/summarization.md) has all options and metrics, coverage among them.
