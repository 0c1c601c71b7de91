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
# # Writing by hand
#
# *Generating Sequences With Recurrent Neural Networks* (Graves 2013) moves a pen point by point. A soft window on the
# text decides which letter comes next. The included network learned this from generated lines, in which each line has
# a slant, a size, a spacing and a tremor of its own.

# %%
import os

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import SVG

import zoo
from zoo.data.strokes.encoding import ToWrite
from zoo.data.strokes.samples.letters import written
from zoo.visualize import view_of
from zoo.visualize.strokes import svg

SMALL = os.environ.get("ZOO_NOTEBOOKS") == "small"  # the tests run this page with a few lines
LINES = 4 if SMALL else 60

# %% [markdown]
# ## A text, and where the window looked
#
# Each row above the line is a letter, dark where the window looked when a point was written. The window only moves
# forward. When the position after the last letter has more weight than every letter, the line ends.

# %%
write = zoo.load("handwriting")
view = view_of(write.task)
(line,) = write([ToWrite("hello world", bias=1.0)])
figure = view.picture(line)
figure.set_dpi(100)
figure

# %% [markdown]
# The points of each letter, as the window has them:

# %%
names, counts = np.unique(line.places, return_counts=True)
[(line.text[place], int(count)) for place, count in zip(names, counts, strict=True)]

# %% [markdown]
# ## The bias
#
# A bias of 0 writes as the network has learned, with all its doubts. A larger bias makes the deviations of each point
# smaller and prefers the likelier components of the mixture: the hand becomes neater, and lines differ less. The
# file that this makes writes itself stroke by stroke in a browser.

# %%
BIASES = (0.0, 1.0, 3.0)
lines = write([ToWrite("so nice to see you", number=1, bias=bias) for bias in BIASES])
SVG(svg(lines))

# %% [markdown]
# ## A hand is kept
#
# Given the strokes of a line and its text, the network goes on in the same hand. Here are lines of two hands. Grey
# strokes were given, black ones were written.


# %%
def given(number, text):
    """A generated line in hand `number`."""
    return written(np.random.default_rng((5, number)), text)


def go_on(number, text, more):
    """A request to write `more` after a generated line in hand `number`."""
    hand = given(number, text)
    return ToWrite(more, hand.strokes, hand.text, number, bias=1.0)


hands = write([go_on(number, "hello all", "what a day") for number in (0, 2)])
SVG(svg(hands))

# %% [markdown]
# The slant of a hand can be measured: in the letter l the pen goes straight down, and a slanted hand moves it to the
# side on its way. Each point of the figure is a hand: the slant of the given l's, and that of the l's that were written
# after them.


# %%
def slant(strokes):
    """The mean slant of strokes that go down: x per y between their ends."""
    return float(np.mean([(stroke[0, 0] - stroke[-1, 0]) / (stroke[0, 1] - stroke[-1, 1]) for stroke in strokes]))


def of_letter(prediction, letter, first):
    """The written strokes of a letter, from position `first` of the text on."""
    found, at = [], 0
    places = [prediction.places[0], *prediction.places]
    for stroke in prediction.strokes:
        place = places[min(at + len(stroke) // 2, len(places) - 1)]
        if len(stroke) > 3 and place >= first and prediction.text[place] == letter:
            found.append(stroke)
        at += len(stroke)
    return found


made = write([go_on(number, "hello all", "lil") for number in range(LINES)])
pairs = []
for number, one in enumerate(made):
    hand = given(number, "hello all")
    true = [stroke for stroke in hand.strokes if np.ptp(stroke[:, 1]) > 1.4 * np.ptp(hand.strokes[1][:, 1])]
    own = of_letter(one, "l", len("hello all "))
    if own:
        pairs.append((slant(true), slant(own)))
pairs = np.array(pairs)
correlation = float(np.corrcoef(pairs.T)[0, 1])
correlation

# %%
figure, axes = plt.subplots(figsize=(4.5, 4))
axes.plot(*pairs.T, "o", alpha=0.6)
axes.axline((0, 0), slope=1, color="0.7")
_ = axes.set(xlabel="slant of the given letters", ylabel="slant of the written letters")
