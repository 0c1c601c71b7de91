# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What a tree sees that a bag does not
#
# *Bad* is negative, *not bad* is not, and *not bad at all* is praise. *Not (bad and dull)* differs from *(not bad)
# and dull*. A bag of words cannot distinguish them, and a network that reads the words in order must find the
# structure by itself. A recursive network gets the structure: it follows the parse of a sentence upwards, computes
# the vector of each phrase from its parts, and classifies every phrase.

# %%
import logging
import os
import warnings

warnings.filterwarnings("ignore")

import matplotlib.pyplot as plt
import numpy as np
from hydra.utils import instantiate
from lightning import Trainer, seed_everything

from zoo.run.checkpoint import Predictor
from zoo.run.compose import compose, plain
from zoo.tasks.tree_classification import TreeClassification
from zoo.visualize import view_of

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
SMALL = os.environ.get("ZOO_NOTEBOOKS") == "small"  # the tests run this page with a few trees
SIZES = ["data.sample.train=100", "data.sample.val=20", "data.sample.test=20"] if SMALL else []

# %% [markdown]
# ## Trees with known labels
#
# A grammar generates film reviews. The sentiment of a phrase, from -2 to 2, follows from its two parts: *very*
# strengthens, *not* reverses and weakens, *but* overrules the part before it. Every node has a label, as in the
# Stanford Sentiment Treebank.

# %%
data = instantiate(plain(compose(["model=tree_lstm", "data=sst", *SIZES]).data))
data.prepare_data()
data.setup()
print(data.describe()["contents"][0])
for example in data.describe()["examples"]:
    print(f"{example['label']:>14}   {example['text']}")

# %% [markdown]
# ## Three ways to read a phrase
#
# The mean of its words; an LSTM over its words from left to right; and the
# [Tree-LSTM](../zoo/models/tree_lstm.py), whose cell has one forget gate for each of two children:
#
# $$c = i \odot u + f_l \odot c_l + f_r \odot c_r \qquad h = o \odot \tanh c$$
#
# Each network learns from the labels of all phrases for the same number of epochs, as in
# `python train.py model=tree_lstm data=sst`.


# %%
def trained(*words):
    """A network trained as by `python train.py data=sst WORDS...`, and the test metrics of its last weights; a run
    takes its best."""
    seed_everything(1, verbose=False)
    settings = compose(["data=sst", *words])
    task = TreeClassification(
        **{group: plain(settings[group]) for group in ("model", "optimizer", "scheduler")},
        monitor="val/accuracy_roots",
        mode="max",
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
    trainer.fit(task, datamodule=data)
    trainer.test(task, datamodule=data, verbose=False)
    return task, {name: value.item() for name, value in trainer.callback_metrics.items()}


tasks, scores = {}, {}
for model in ("phrase_mean", "phrase_lstm", "tree_lstm"):
    tasks[model], scores[model] = trained(f"model={model}")
    nodes, roots = (scores[model][f"test/accuracy_{part}"] for part in ("nodes", "roots"))
    print(f"{model:12}   all nodes {nodes:.3f}   whole sentences {roots:.3f}")

# %% [markdown]
# Most nodes are words and short phrases, and most of these are neutral. All three networks are good at them, so the
# accuracy over all nodes means little. The networks differ by the number of words in a phrase:

# %%
EDGES = [1, 2, 3, 5, 8, 12, 20]
figure, axis = plt.subplots(figsize=(6, 2.8))
batches = list(data.test_dataloader())
for name, task in tasks.items():
    length, right = [], []
    for batch in batches:
        length.append((batch.trees.past - batch.trees.first).numpy())
        right.append((task.eval()(batch).logits.argmax(1) == batch.label).numpy())
    length, right = np.concatenate(length), np.concatenate(right)
    inside = [(length >= low) & (length < high) for low, high in zip(EDGES, [*EDGES[1:], 99], strict=True)]
    axis.plot(range(len(EDGES)), [right[part].mean() if part.any() else np.nan for part in inside], "o-", label=name)
axis.set_xticks(range(len(EDGES)), [f"from {edge}" for edge in EDGES])
axis.set_xlabel("words of the phrase")
axis.set_ylabel("right")
axis.legend(frameon=False)
axis.spines[["top", "right"]].set_visible(False)

# %% [markdown]
# ## Not bad at all
#
# The predictions of each network for a few phrases with their trees.

# %%
PHRASES = {
    "bad": "(_ bad)",
    "not bad": "(_ (_ not) (_ bad))",
    "not bad at all": "(_ (_ (_ not) (_ bad)) (_ (_ at) (_ all)))",
    "(not bad) and clever": "(_ (_ (_ not) (_ bad)) (_ (_ and) (_ clever)))",
    "not (bad and clever)": "(_ (_ not) (_ (_ bad) (_ (_ and) (_ clever))))",
}
for model, task in tasks.items():
    ask = Predictor(task, data.encoder)
    print(
        model,
        *(f"{name}: {p.label}" for name, p in zip(PHRASES, ask(list(PHRASES.values())), strict=True)),
        sep="\n   ",
    )

# %% [markdown]
# ## A whole sentence
#
# The colour of a node is its predicted class. A ring marks nodes that show the true class of the whole sentence.

# %%
(one, *_) = tasks["tree_lstm"].eval().examine(batches[0])
view_of(TreeClassification).picture(one.prediction, one)

# %% [markdown]
# ## Further
#
# - `zoo predict last "(_ (_ not) (_ bad))" --attention tree.png --html tree.html` draws the classes of your own tree.
# - `model=recursive|mv_rnn|rntn` are its predecessors on the same trees. `model.pooling=attention` pools over all
#   nodes of a tree, and `data=sick` compares two sentences.
# - `data=trees data.path=my.csv data.trees=balanced` trains on your own texts.
