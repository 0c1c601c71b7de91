"""The embedded AG's News sample: short news items on four topics, with known evidence words.

An item reports on its topic in one or two sentences; other sentences belong to any topic, or mention another one in
passing (a decoy: an old story, a comparison, somebody's hobby). The evidence is the topic's own words in the reports.
"""

import random
import tomllib
from collections.abc import Iterator
from pathlib import Path

from zoo.data.documents.samples import Document, filled, patterns

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
WORDS = _TABLES["words"]
TOPICS = tuple(WORDS)
PATTERNS = {kind: patterns(_TABLES[kind]) for kind in ("report", "decoy", "filler")}


def generate(count: int, *, seed: int) -> Iterator[Document]:
    """`count` items; item i depends on the seed and on i alone."""
    for number in range(count):
        yield _item(random.Random(f"news {seed} {number}"))


def _item(draw: random.Random) -> Document:
    label = draw.randrange(len(TOPICS))
    others = [topic for topic in TOPICS if topic != TOPICS[label]]
    kinds = ["report"] * draw.randint(1, 2) + ["decoy"] * draw.randint(1, 2) + ["filler"] * draw.randint(1, 2)
    draw.shuffle(kinds)
    parts = [_sentence(draw, kind, TOPICS[label] if kind == "report" else draw.choice(others)) for kind in kinds]
    return Document([words for words, _ in parts], [evidence for _, evidence in parts], label)


def _sentence(draw: random.Random, kind: str, topic: str) -> tuple[list[str], list[bool]]:
    fillings = _TABLES | WORDS[topic]
    evidence = WORDS[topic] if kind == "report" else ()
    return filled(draw.choice(PATTERNS[kind]), lambda slot: draw.choice(fillings[slot]).split(), evidence)
