"""The embedded sample of summaries: short reports, and headlines that repeat facts of them.

    On Friday a new bridge was opened in Drukgard by mayor Anna Zolbrek. Last year Tinard counted 318 of them in Oslo.
    The bridge cost 4217 crowns.   ->   Zolbrek opens bridge in Drukgard on Friday, cost 4217 crowns.

A report has one main sentence, one or two details, and asides that name other people, places and numbers. Most names
are made of syllables for one report, and most numbers are rare, so that a vocabulary has few of them. Only its context
shows which name is the one to copy. The summary follows from the report: the facts of the main sentence, then those of
the details that the report has.
"""

import random
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
SYLLABLES = {name: text.split() for name, text in WORDS["syllables"].items()}
INVENTED = 0.75  # Share of names that are made for one report
BOTH = 0.6  # Share of reports with both details
MAIN_FIRST = 0.6  # Share of reports that surely begin with the main sentence
ASIDES = (1, 3)  # The fewest and the most asides of a report
SMALLEST, LARGEST = 12, 9800
"""The limits of numbers. Their logarithms are uniform, so that some numbers are frequent."""


class Report(NamedTuple):
    """A generated report and its summary."""

    sentences: list[list[str]]
    """The words of each sentence, punctuation among them."""
    summary: list[str]
    """The words of the summary."""
    sources: list[list[int]]
    """For each word of the summary the words of the report that state it, counted through all sentences. Words without
    any state no fact."""


Filled = list[tuple[str, str]]
"""Words, each with the name of its slot; empty for a word of the pattern."""


def generate(count: int, *, seed: int) -> Iterator[Report]:
    """`count` reports. Report i depends only on `seed` and on i."""
    for index in range(count):
        yield _report(random.Random(f"report {seed} {index}"))


def _report(draw: random.Random) -> Report:
    kind, slots = draw.choice(WORDS["kinds"]), dict[str, str]()
    slots["thing"] = draw.choice(kind["things"].split())
    chosen = ["first", "second"] if draw.random() < BOTH else [draw.choice(["first", "second"])]
    details = [_filled(draw, draw.choice(kind[part]), slots) for part in chosen]
    draw.shuffle(details)
    sentences = [_filled(draw, draw.choice(kind["main"]), slots), *details]
    first = 1 if draw.random() < MAIN_FIRST else 0
    for number, aside in enumerate(draw.sample(WORDS["asides"], draw.randint(*ASIDES))):
        sentences.insert(draw.randint(first, len(sentences)), _filled(draw, aside, slots, f"aside {number} "))
    words = list(chain.from_iterable(sentences))
    places = dict[str, list[int]]()
    for position, (_, slot) in enumerate(words):
        places.setdefault(slot, []).append(position)
    pattern = " ".join([kind["summary"], *(kind[f"with_{part}"] for part in chosen), "."])
    summary = _filled(draw, pattern, slots)
    report = [[word for word, _ in sentence] for sentence in sentences]
    return Report(report, [word for word, _ in summary], [places[slot] if slot else [] for _, slot in summary])


def _filled(draw: random.Random, pattern: str, slots: dict[str, str], prefix: str = "") -> Filled:
    """The words of a pattern. A slot without a word gets one that no other slot has; `prefix` is that of its name."""
    found: Filled = []
    for part in pattern.split():
        if not part.startswith("{"):
            found.append((part, ""))
            continue
        slot = prefix + part.strip("{}")
        while slot not in slots:
            word = _word(draw, part.strip("{}"))
            if word not in slots.values():
                slots[slot] = word
        found.append((slots[slot], slot))
    return found


def _word(draw: random.Random, slot: str) -> str:
    match slot:
        case "number" | "other" | "more":
            return str(round(SMALLEST * (LARGEST / SMALLEST) ** draw.random()))
        case "title" | "day":
            return draw.choice(WORDS[f"{slot}s"].split())
        case "first":
            return draw.choice(WORDS["first_names"].split())
        case "place" | "town" | "elsewhere":
            known, ending = WORDS["places"], "of_places"
        case _:
            known, ending = WORDS["last_names"], "of_persons"
    return _invented(draw, ending) if draw.random() < INVENTED else draw.choice(known.split())


def _invented(draw: random.Random, ending: str) -> str:
    parts = [draw.choice(SYLLABLES[part]) for part in ("onsets", "vowels", "codas", "onsets", "vowels", "codas")]
    return "".join(parts).replace("-", "").capitalize() + draw.choice(SYLLABLES[ending])
