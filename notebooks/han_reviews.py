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
# # What does a network look at when it reads a review?
#
# A hierarchical attention network (Yang et al. 2016) reads a review as people wrote it: words make sentences,
# sentences make a document. At both levels it *attends*: it gives each word a weight within its sentence and each
# sentence a weight within the document. These weights can be drawn.
#
# We train one, draw its attention, and measure whether it attends to the right words. Then we remove the attention to
# see how much it helped.

# %%
import io
import logging
import os
import warnings

warnings.filterwarnings("ignore")

from IPython.display import Image
from lightning import Trainer, seed_everything
from lightning.pytorch.callbacks import ModelCheckpoint

from zoo.data.documents.batch import DocumentBatch
from zoo.data.documents.yelp import Yelp
from zoo.predicting.classification import ExaminedDocument
from zoo.run.checkpoint import Predictor
from zoo.run.compose import compose, plain
from zoo.tasks import Classification
from zoo.visualize.classification import ClassificationView

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
SMALL = os.environ.get("ZOO_NOTEBOOKS") == "small"  # the tests run this page with a few documents
SIZES = {"train": 60, "val": 20, "test": 20} if SMALL else {}
EPOCHS = 1 if SMALL else None

# %% [markdown]
# ## The reviews
#
# They are generated, so that we know which words decided the stars. A reviewer names a main aspect ("I come here for
# the food above all") and gives an opinion on it and on two or three others; the stars follow from their weighted
# mean. Other sentences mention the same aspects without judging them, or judge another restaurant. An opinion may be
# negated: *not bad*, *hardly tasteless*.

# %%
data = Yelp(sample=SIZES)
data.prepare_data()
data.setup("fit")
for example in data.describe()["examples"]:
    print(example["label"], "|", example["text"], "\n")

# %% [markdown]
# Counting words is not enough: *great* in a sentence about another restaurant means nothing, and *not great* means the
# opposite. (A linear classifier on word pairs is far worse than the network below: the table in the README has its
# number.)
#
# ## The network
#
# It is one file, [zoo/models/han.py](../zoo/models/han.py), in the order of the paper's figure. Its forward pass is
#
# | | | shape |
# | --- | --- | --- |
# | words | $h_{it} = [\overrightarrow{GRU}(x_{it}); \overleftarrow{GRU}(x_{it})]$ | (words, 2H) |
# | attention | $a_{it} \propto \exp(u_w \cdot \tanh(W h_{it} + b))$ and $s_i = \sum_t a_{it} h_{it}$ | (B, S, 2H) |
# | sentences | again over $s_1, s_2, \dots$ gives $v$ | (B, 2H) |
# | classes | $p = softmax(W_c v + b_c)$ | (B, C) |
#
# $u_w$ is the *context vector*: a learned query such as "is this an opinion that counts?", which is compared with
# every word.


# %%
def trained(**changes):
    """A network with some hyperparameters changed, trained with the settings of `python train.py`; its test metrics."""
    seed_everything(1, verbose=False)
    settings = compose([])
    task = Classification(
        model=plain(settings.model) | changes,
        optimizer=plain(settings.optimizer),
        scheduler=plain(settings.scheduler) or None,
        monitor="val/accuracy",
        mode="max",
    )
    trainer = Trainer(
        max_epochs=EPOCHS or settings.trainer.max_epochs,
        gradient_clip_val=settings.trainer.gradient_clip_val,
        callbacks=[ModelCheckpoint(monitor="val/accuracy", mode="max")],
        default_root_dir="logs/notebook",
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(task, datamodule=data, weights_only=True)
    trainer.test(task, datamodule=data, ckpt_path="best", verbose=False, weights_only=True)
    return task, {name: value.item() for name, value in trainer.callback_metrics.items() if name.startswith("test/")}


han, metrics = trained()
print(f"test accuracy {metrics['test/accuracy']:.3f}")

# %% [markdown]
# ## Where it looks
#
# Each picture shows one review. The bar on the left is the weight of the sentence. Darker words have a higher weight
# ($\sqrt{a_i}\, a_{it}$, as in the paper). The words that really decided the stars are underlined.

# %%
batch = next(iter(data.test_dataloader()))


def draw(task, number):
    """The picture of one review of the batch."""
    one = DocumentBatch(batch.words[number : number + 1], batch.word_mask[number : number + 1])
    sentences = zip(batch.words[number], batch.word_mask[number], batch.evidence[number], strict=True)
    read = [(words[mask].tolist(), evidence[mask].tolist()) for words, mask, evidence in sentences if mask.any()]
    names = data.encoder.vocabulary.words
    (prediction,) = task.eval().predictions(one, [[[names[word] for word in words] for words, _ in read]])
    truth, marked = data.spec.classes[batch.label[number]], [evidence for _, evidence in read]
    figure = ClassificationView().picture(prediction, ExaminedDocument(number, prediction, truth, marked))
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=90)
    return Image(buffer.getvalue())


draw(han, 0)

# %%
draw(han, 1)

# %% [markdown]
# ## Is that an explanation?
#
# It is easy to believe a picture. But the sample records its evidence, so we can score the attention: **attention
# recall** is the share of all attention that lies on the deciding words. Uniform attention would score *chance*.

# %%
print(f"attention recall  {metrics['test/attention_recall']:.3f}")
print(f"chance            {metrics['test/attention_chance']:.3f}")
print(f"sentence recall   {metrics['test/sentence_recall']:.3f}   (attention on sentences that hold evidence)")

# %% [markdown]
# ## Your own words
#
# The main aspect counts three times. Change it and see how the stars change.

# %%
ask = Predictor(han, data.encoder)
for text in [
    "i come here for the food above all , and the fish was great . the service was slow .",
    "i come here for the service above all , and the service was slow . the fish was great .",
    "i come here for the food above all , and the fish was not great . the service was slow .",
]:
    prediction = ask([text])[0]
    print(f"{prediction.label:8} {prediction.probabilities[prediction.label]:.2f} | {text}")

# %% [markdown]
# ## What was the attention worth?
#
# The paper replaces the attention by the mean (HN-AVE) or the maximum (HN-MAX) over words and over sentences, with
# everything else equal. We do the same, with the same short training.

# %%
rows = {"attention": metrics}
for pooling in ("mean", "max"):
    _, rows[pooling] = trained(word_pooling=pooling, sentence_pooling=pooling)
for name, row in rows.items():
    recall = row.get("test/attention_recall")
    print(
        f"{name:10} accuracy {row['test/accuracy']:.3f}   attention recall {'-' if recall is None else f'{recall:.3f}'}"
    )

# %% [markdown]
# With the mean, every word has the same weight. The GRUs before it can learn to suppress the words that do not count,
# but that takes longer. The README's table of results shows how much of the difference remains with longer training.
#
# **To try:** `dropout=0.3` in `trained(...)`; fewer training reviews (`Yelp(sample={"train": 1000})`); your own
# sentence in which the attention is wrong.
