"""The embedded AG's News sample: short news items on four topics, with known evidence words.

An item reports on its topic in one or two sentences; other sentences belong to any topic, or mention another one in
passing (a decoy: an old story, a comparison, somebody's hobby). The evidence is the topic's own words in the reports.
"""

import random
from collections.abc import Iterator

from zoo.data.documents.samples import Document, filled, patterns

TOPICS = ("World", "Sports", "Business", "Sci/Tech")

WORDS = {
    "World": {
        "who": "president, prime minister, foreign minister, rebels, ambassador, parliament, opposition, army",
        "what": "election, ceasefire, treaty, coup, border dispute, peace talks, referendum, state visit",
        "did": "resigned, declared martial law, signed a truce, called for sanctions, left the capital",
    },
    "Sports": {
        "who": "goalkeeper, coach, striker, quarterback, champion, sprinter, pitcher, home team, rookie",
        "what": "final, playoff, league match, marathon, grand slam, relay, derby, qualifying round, tournament",
        "did": "scored twice, won the medal, missed a penalty, broke the record, hit a home run, lost in overtime",
    },
    "Business": {
        "who": "shareholders, chief executive, retailer, investors, central bank, airline, brokers, insurer, lender",
        "what": "merger, takeover bid, quarterly loss, interest rate, stock offering, bankruptcy, oil price",
        "did": "cut its forecast, raised the dividend, sold its shares, doubled the profit",
    },
    "Sci/Tech": {
        "who": "astronomers, researchers, engineers, biologists, search engine, chip maker",
        "what": "space probe, security patch, new processor, telescope, genome, web browser, robot",
        "did": "decoded the genome, released an update, launched a satellite",
    },
}

# {who}, {what} and {did} belong to the topic, {place} and {day} to any topic.
REPORTS = """
    the {who} {did} in {place} on {day} , a spokesman said .
    {place} - the {what} came to an end as the {who} {did} .
    after the {what} the {who} {did} , to the surprise of many in {place} .
    on {day} the {who} spoke about the {what} for the first time .
    all eyes in {place} are on the {what} , now that the {who} {did} .
    nobody in {place} had expected that the {who} {did} .
    a report from {place} says that the {who} {did} before the {what} .
    the {what} was the talk of {place} when the {who} {did} on {day} .
    it became known on {day} that the {who} {did} .
    " this {what} will be remembered , " the {who} said in {place} .
"""
DECOYS = """
    last week 's story about the {what} and the {who} is closed .
    an uncle of the witness once met the {who} after a {what} .
    the crowd was as loud as at a {what} .
    it felt like a {what} , a bystander said , though the {who} had no part in it .
    elsewhere , the paper 's piece on the {what} had to be withdrawn .
    in his youth the speaker had dreamt of being with the {who} .
    a film about the {what} , shown in the same hall , was cancelled .
    the word {what} came up only as a joke .
    nothing was said of the {who} or the {what} this time .
    page nine keeps its column on the {what} .
"""
FILLERS = """
    officials in {place} could not be reached on {day} .
    more details are expected by {day} .
    the news spread quickly through {place} .
    a second statement is planned for {day} .
    local radio in {place} had reported it first .
    it rained in {place} for most of the day .
    several people asked not to be named .
    the figures could not be confirmed .
    this is the third such case since {day} .
    a hotline has been set up in {place} .
"""
PLACES = "london, tokyo, nairobi, lima, berlin, cairo, toronto, jakarta, madrid, oslo, boston, delhi"
DAYS = "monday, tuesday, wednesday, thursday, friday, saturday, sunday"
PATTERNS = {
    kind: patterns(lines.strip().splitlines())
    for kind, lines in (("report", REPORTS), ("decoy", DECOYS), ("filler", FILLERS))
}


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
    fillings = {"place": PLACES, "day": DAYS, **WORDS[topic]}
    evidence = WORDS[topic] if kind == "report" else ()
    return filled(draw.choice(PATTERNS[kind]), lambda slot: draw.choice(fillings[slot].split(", ")).split(), evidence)
