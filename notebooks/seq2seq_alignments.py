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
# # From one fixed vector to attention
#
# This notebook compares six translation networks in the order of their publication. They have the same pairs of
# sentences, the same number of training steps and the same search. The first two encode the source as one vector. The
# other four attend to it, each in its own way. Their attention can be drawn, and also scored, because the pairs are
# generated.

# %%
import logging
import os
import warnings
from itertools import pairwise

warnings.filterwarnings("ignore")

import matplotlib.pyplot as plt
from hydra.utils import instantiate
from lightning import Trainer, seed_everything

from zoo.run.checkpoint import Predictor
from zoo.run.compose import compose, plain
from zoo.tasks import Translation
from zoo.visualize import view_of

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
SMALL = os.environ.get("ZOO_NOTEBOOKS") == "small"  # the tests run this page with a few pairs
SIZES = [f"data.sample.{split}=20" for split in ("train", "val", "test")] if SMALL else []
SHORT = ["decoding.max_length=[0,8]"] if SMALL else []
EPOCHS = 1 if SMALL else 4
MODELS = ["encoder_decoder", "seq2seq_lstm", "rnnsearch", "luong", "conv_s2s", "transformer"]

# %% [markdown]
# ## The pairs
#
# One grammar generates captions in German and English. The English follows from the German, but not word by word. In
# German the verb of a subordinate clause comes last, a particle at the end of the sentence changes the meaning of the
# verb, and the possessor follows its noun. The German source words of each English word are known.

# %%
data = instantiate(plain(compose(["data=multi30k", *SIZES]).data))
data.prepare_data()
data.setup("fit")
for example in data.describe()["examples"]:
    print(example["source_text"], "\n   ", example["target_text"], "\n")

# %% [markdown]
# ## One vector, or a memory
#
# All six have the same two interfaces. For training, `forward` scores all words of a translation at once. For writing,
# `start` reads the source, and `step` reads one word and returns the probabilities of the next. They differ in what a
# step can see of the source:
#
# | | sees | file |
# | --- | --- | --- |
# | Cho 2014 | one vector $c$, at every step | [encoder_decoder.py](../zoo/models/encoder_decoder.py) |
# | Sutskever 2014 | its own first state | [seq2seq_lstm.py](../zoo/models/seq2seq_lstm.py) |
# | Bahdanau 2015 | $\sum_j \alpha_{ij} h_j$, weighted by the state before |
# [rnnsearch.py](../zoo/models/rnnsearch.py) |
# | Luong 2015 | the same, weighted by the state after | [luong.py](../zoo/models/luong.py) |
# | Gehring 2017 | a context for every layer | [conv_s2s.py](../zoo/models/conv_s2s.py) |
# | Vaswani 2017 | a context for every layer and head | [transformer.py](../zoo/models/transformer.py) |


# %%
def trained(name):
    """A network trained as by `python train.py model=... data=multi30k`, and the test metrics of its last weights; a
    run takes its best."""
    seed_everything(1, verbose=False)
    settings = compose([f"model={name}", "data=multi30k", *SHORT])
    task = Translation(
        **{group: plain(settings[group]) for group in ("model", "objective", "decoding", "optimizer", "scheduler")},
        monitor="val/loss",
        mode="min",
    )
    trainer = Trainer(
        max_epochs=EPOCHS,
        gradient_clip_val=settings.trainer.gradient_clip_val,
        default_root_dir="logs/notebook",
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(task, datamodule=data)
    trainer.test(task, datamodule=data, verbose=False)
    return task, {key.removeprefix("test/"): value.item() for key, value in trainer.callback_metrics.items()}


tasks, scores = {}, {}
for name in MODELS:
    tasks[name], scores[name] = trained(name)
    row = scores[name]
    print(f"{name:16} perplexity {row['perplexity']:7.2f}   BLEU {row['bleu']:5.1f}   right {row['exact_match']:.3f}")

# %% [markdown]
# ## Where one vector fails
#
# Bahdanau, Cho and Bengio asked in 2014 what happens when sentences get longer. The share of translations that are
# right to the last word, by the length of the source:

# %%
test = list(data.test_dataloader())
lengths = [int(length) for batch in test for length in batch.source_mask.sum(1)]
edges = [0, 9, 12, 15, 100]


def right(task):
    """For each test sentence whether the translation is the reference."""
    found = []
    for batch in test:
        for best, true in zip(task.eval().predict_step(batch), batch.target_text, strict=True):
            found.append(task.encoder.text(list(best[0].ids)) == true)
    return found


figure, axes = plt.subplots(figsize=(7, 3.2))
for name in MODELS:
    found = right(tasks[name])
    shares = []
    for low, high in pairwise(edges):
        inside = [ok for ok, length in zip(found, lengths, strict=True) if low < length <= high]
        shares.append(sum(inside) / max(1, len(inside)))
    axes.plot(range(len(shares)), shares, marker="o", label=name)
axes.set_xticks(range(len(edges) - 1), [f"{low + 1}-{high}" for low, high in pairwise(edges)])
axes.set(xlabel="source tokens", ylabel="right to the last word", ylim=(0, 1))
axes.legend(frameon=False, fontsize=8)
plt.show()

# %% [markdown]
# ## Six alignments of one sentence
#
# Each row is a written word, each column a source word. Layers and heads are averaged.

# %%
sentence = "ein mann , der eine rote jacke trägt , steht auf der straße ."
predicted = {name: Predictor(tasks[name], data.encoder)([sentence])[0] for name in MODELS}
for name, prediction in predicted.items():
    print(f"{name:16} {prediction.best.text}")

# %%
figure, axes = plt.subplots(2, 3, figsize=(13, 9))
for name, panel in zip(MODELS, axes.flat, strict=True):
    panel.set_title(name, fontsize=10)
    best = predicted[name].best
    if best.attention is None:
        panel.set_axis_off()
        panel.text(0.5, 0.5, "one vector:\nnothing to draw", ha="center", va="center")
        continue
    panel.imshow(best.attention, cmap="Blues", vmin=0, vmax=1)
    source = predicted[name].source
    panel.set_xticks(range(len(source)), source, rotation=90, fontsize=8)
    panel.set_yticks(range(len(best.tokens)), best.tokens, fontsize=8)
figure.tight_layout()
plt.show()

# %% [markdown]
# ## Are they alignments?
#
# The sample records the German source words of each English word. *Recall* is the attention on those words, *chance* is
# the score of uniform attention, and *error* is the alignment error rate of the word with the most attention.

# %%
for name in MODELS[2:]:
    row = scores[name]
    print(
        f"{name:12} recall {row['attention_recall']:.3f}   chance {row['attention_chance']:.3f}   "
        f"error {row['alignment_error_rate']:.3f}"
    )

# %% [markdown]
# A network can translate well without attending where a linguist would. The LSTM state at a word contains its
# neighbours, so that attention to the next position can work just as well. A layer or head may attend to the full
# stop because it needs nothing. The pictures show what was read, not why.
#
# **To try:** `settings = compose([..., "model.attention=local_p"])` for luong; another sentence; `regularizer=` as in
# the README, to see whether coverage changes the error rate.

# %%
view_of(Translation).picture(predicted["rnnsearch"])
