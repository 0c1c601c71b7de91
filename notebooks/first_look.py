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
# # The zoo in ten minutes
#
# Small trained networks come along with attention-zoo, at least one for each task. This page gives ten of them an input
# and draws what they looked at. Nothing is trained and nothing is downloaded. Change the inputs and run the cells again.
#
# The networks learned from small generated worlds, so that they know few words. They show how attention works; for real
# use you train on your own data.

# %%
# %matplotlib inline
import html

import numpy as np
from IPython.display import HTML

import zoo
from zoo.data.language.encoding import WholeText
from zoo.visualize import view_of

# %% [markdown]
# ## Load one
#
# `zoo.load` takes the name of an included network, or a checkpoint of your own. It returns a predictor, which says what
# its inputs are.

# %%
classifier = zoo.load("han")
classifier

# %% [markdown]
# A predictor takes a list of inputs and returns a list of predictions.

# %%
(review,) = classifier(["I come here for the food above all, and the fish was delicious. The waiter was rude."])
print(review.label)

# %% [markdown]
# ## Documents: which words decided?
#
# The hierarchical attention network (Yang et al. 2016) reads words, then sentences, and gives weights to both. The
# reviewers of its world name what counts most for them. Here it is the food, and the sentence about the food has most
# of the weight.


# %%
def picture(network, prediction):
    """The picture of a prediction, as `zoo predict --attention` draws it."""
    figure = view_of(network.task).picture(prediction)
    figure.set_dpi(100)
    return figure


picture(classifier, review)

# %% [markdown]
# When the service comes first, the same opinions make another review.

# %%
(review,) = classifier(["I come here for the service above all, and the waiter was rude. The fish was delicious."])
picture(classifier, review)

# %% [markdown]
# The weights are plain numbers. They sum to one in each sentence, and over the sentences.

# %%
for sentence in review.sentences:
    words = zip(sentence.words, sentence.word_weights, strict=True)
    print(f"{sentence.weight:.2f}  ", "  ".join(f"{word} {weight:.2f}" for word, weight in words if weight > 0.05))

# %% [markdown]
# ## Translation: where does each word come from?
#
# A Transformer (Vaswani et al. 2017) writes English for German. Each row is a written word, and darker cells are German
# words that it read. *Liest* became two words, *is reading*, and both look at it.

# %%
translator = zoo.load("transformer")
(translation,) = translator(["eine frau liest ein buch im garten."])
picture(translator, translation)

# %% [markdown]
# ## Writing: what comes next?
#
# A language model of LSTMs (Zaremba et al. 2014) predicts each word from all words before it, and writes by drawing
# words from its predictions. It has learned that *geese* are several, also where other animals are between them and
# their verb.

# %%
writer = zoo.load("rnn_lm")
(continued,) = writer(["the geese that"])
print(continued.whole)

# %% [markdown]
# It also says how much each word of a text surprises it: the darker, the less probable. Of *follow* and *follows*, it
# expects the form that agrees with the geese.

# %%
(scored,) = writer([WholeText("the geese near the brave captain follows my baker")])
picture(writer, scored)

# %% [markdown]
# ## Questions: two facts, three looks
#
# No sentence says where the football is. A memory network (Sukhbaatar et al. 2015) reads the story three times. What it
# finds in one hop decides what it looks for in the next: first the football, then Mary.

# %%
reader = zoo.load("memn2n")
story = "Mary went to the kitchen. Mary took the football there. John went to the office. Mary moved to the garden."
(answer,) = reader([f"{story} Where is the football?"])
picture(reader, answer)

# %% [markdown]
# ## A blank: whose name is missing?
#
# The attention-over-attention reader (Cui et al. 2017) points at a word of the text. Its last sentence, with the blank,
# says *broke* where the text says *smashed*.

# %%
cloze = zoo.load("aoa_reader")
text = "The clock was lost by Viktor. The pearl was smashed by Edgar. Nadia mended the clock. XXXXX broke the pearl."
(answer,) = cloze([text])
picture(cloze, answer)

# %% [markdown]
# ## Points: an answer made of positions
#
# A pointer network (Vinyals et al. 2015) has no words to write. Its attention *is* the answer: it points at one input
# after another, here at the corners of the hull of six random points. It learned from sets of five.

# %%
pointer = zoo.load("pointer_net")
(hull,) = pointer([np.random.default_rng(4).random((6, 2))])
picture(pointer, hull)

# %% [markdown]
# ## Bits: a memory with heads
#
# A neural Turing machine (Graves et al. 2014) reads vectors of bits and writes them again from its memory. The two rows
# at the bottom show its heads: one row of memory after another, first to write, then to read.

# %%
machine = zoo.load("ntm")
bits = [" ".join("".join(map(str, row)) for row in np.random.default_rng(1).integers(0, 2, (8, 8)))]
(copy,) = machine(bits)
picture(machine, copy)

# %% [markdown]
# ## Images: look, then say
#
# Show, attend and tell (Xu et al. 2015) looks at the image again before each word. Bright is where it looked: at one
# shape, then at the other.

# %%
from zoo.data.images.samples.scenes import generate

captioner = zoo.load("show_attend_tell")
scene = next(generate(1, seed=5))
(caption,) = captioner([scene.pixels])
picture(captioner, caption)

# %% [markdown]
# ## Trees: meaning from the parts
#
# A tree-structured LSTM (Tai et al. 2015) has no attention. It reads a sentence along its parse, and its state at every
# phrase has a sentiment. *The film was boring* is negative, and *nobody* turns it around.

# %%
critic = zoo.load("tree_lstm")
(sentiment,) = critic(["nobody said that the film was boring but the script was superb ."])
picture(critic, sentiment)

# %% [markdown]
# ## Two sentences: do they mean the same?
#
# The same kind of network reads two trees and compares them, from 1 (unrelated) to 5 (the same). Nodes with the same
# letter have similar states.

# %%
pairs = zoo.load("tree_lstm_sick")
(relatedness,) = pairs([("the old photo is repaired by a bunny .", "a rabbit is fixing the old picture .")])
picture(pairs, relatedness)

# %% [markdown]
# ## Attention of your own
#
# `zoo.attention_picture` and `zoo.attention_page` draw any matrix, from any library. To have one without a network,
# we let words attend to words that share their letters.

# %%
rows = ["the", "cold", "water", "in", "the", "old", "house", "is", "good"]
columns = ["das", "kalte", "wasser", "im", "alten", "haus", "ist", "gut"]


def letters(word):
    """(26,) how often each letter is in a word, as a vector of length one."""
    counts = np.array([word.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"], dtype=float)
    return counts / np.linalg.norm(counts)


scores = 8 * np.stack([letters(word) for word in rows]) @ np.stack([letters(word) for word in columns]).T
weights = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
zoo.attention_picture(weights, rows, columns)

# %% [markdown]
# The page is live: point at a word to see where it looked. It is one file without a server, which you can send to
# someone. (A notebook that is only displayed, not run, may leave it out.)

# %%
page = zoo.attention_page(weights, rows, columns, title="Words that share letters")
HTML(f'<iframe srcdoc="{html.escape(page)}" width="100%" height="620" style="border: 0"></iframe>')

# %% [markdown]
# ## Where to read on
#
# These are ten of the networks. All of them are files that you can read beside their papers:

# %%
print(", ".join(zoo.list_models()))

# %% [markdown]
# - Train one: `python train.py` trains the first network of this page in a few minutes.
# - [Python](../docs/python.md): training and prediction without a command line.
# - [Trained networks](../docs/weights.md): what the included ones know, and how to bring them to your own data.
# - [The attention of any network](../docs/any-network.md), such as those of Hugging Face.
# - The other notebooks of this folder train a network each, and ask whether its attention explains anything.
