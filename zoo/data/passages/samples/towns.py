"""The embedded sample: articles on towns, whose summary repeats facts that are known to be in certain paragraphs.

The title is the name of a town. Each gold paragraph states one fact about it: an attribute and one of its 8 values. The
other paragraphs state the same attributes of other towns, and all paragraphs have sentences without facts. The summary
has the facts of the town in a fixed order. Without the evidence a value can only be guessed: the values are
independent and equally frequent, so that the loss at a value is at least ln 8 = 2.08.

Gold paragraphs alone name the title. An extraction by the title puts them first, about 100 tokens before the summary,
and an extraction by the order mixes them with the others.
"""

import random
from collections.abc import Iterator
from typing import NamedTuple

OTHERS = (5, 6)  # Fewest and most paragraphs on other towns
TOWNS = 3  # Other towns in an article
FILLERS = 2  # Sentences without a fact in each paragraph

NAMES = (
    "Velmira Ostrand Tarvik Elmsford Quenby Harrowden Lissom Brantle Corvey Dunmere Falkenau Gristow Hollin Ivarna "
    "Jessel Kirrin Lorvale Merrick Norwell Orvane Pellworm Quarrel Rostin Selwick Tolmen Ulvar Verrin Wexcombe Yarrow "
    "Zennor"
)
ATTRIBUTES = {
    "is built of": "granite limestone sandstone slate marble flint basalt chalk",
    "is known for": "weaving fishing brewing mining farming printing dyeing milling",
    "was ruled by": "monks bishops dukes merchants knights judges queens captains",
}
"""Each attribute and its values, in the order of the summary."""
SENTENCES = (
    "People walk along the old wall in the evening .",
    "A long road was laid over the hills .",
    "Many guests came to stay .",
    "A small market opens near the gate every week .",
    "Winters are mild and the summers are dry .",
    "The bridge was repaired twice .",
    "Children swim in the lake after school .",
    "Trains stop here on working days .",
    "The oldest map is kept in the tower .",
    "An inn by the river has ten rooms .",
)


class Article(NamedTuple):
    """A generated article, in words."""

    title: list[str]
    paragraphs: list[list[str]]
    summary: list[str]
    links: list[tuple[int, int, int]]
    """Paragraph, its word, and the word of the summary that it states, for each word of a sentence with a fact."""
    values: list[int]  # The words of the summary that are values


def generate(count: int, *, seed: int) -> Iterator[Article]:
    """`count` articles; article i depends on `seed` and i alone."""
    for index in range(count):
        yield _article(random.Random(f"towns {seed} {index}"))


def _article(draw: random.Random) -> Article:
    title, *others = draw.sample(NAMES.split(), 1 + TOWNS)
    facts = {attribute: draw.choice(values.split()) for attribute, values in ATTRIBUTES.items()}
    summary, values, stated = [title], [], []
    for attribute, value in facts.items():
        summary += [*attribute.split(), value]
        values.append(len(summary) - 1)
        stated.append((title, attribute, value, values[-1]))
        summary.append("," if len(values) < len(facts) else ".")
    for _ in range(draw.randint(*OTHERS)):
        attribute = draw.choice(list(ATTRIBUTES))
        stated.append((draw.choice(others), attribute, draw.choice(ATTRIBUTES[attribute].split()), -1))
    draw.shuffle(stated)
    paragraphs, links = [], []
    for number, (name, attribute, value, place) in enumerate(stated):
        fact = [name, *attribute.split(), value, "."]
        fillers = draw.sample(SENTENCES, FILLERS)
        before = [word for sentence in fillers[: draw.randint(0, FILLERS)] for word in sentence.split()]
        after = [word for sentence in fillers for word in sentence.split()][len(before) :]
        paragraphs.append([*before, *fact, *after])
        if place >= 0:
            links += [(number, len(before) + word, place) for word in range(len(fact) - 1)]
    return Article([title], paragraphs, summary, links, values)
