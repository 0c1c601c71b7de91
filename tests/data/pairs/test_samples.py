"""Generated pairs: the same for the same seed, distinct, aligned by what the tokens mean."""

import math
import re
from collections import Counter
from datetime import date, datetime
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.data.pairs.samples import dates, pronouns, symbols, translations

GENERATORS = {
    "translations": translations.generate,
    "dates": dates.generate,
    "pronouns": pronouns.generate,
    **{order: partial(symbols.generate, order=order) for order in symbols.ORDERS},
}


@pytest.mark.parametrize("name", GENERATORS)
def test_alignments_are_sorted_links_between_tokens(name):
    for pair in GENERATORS[name](300, seed=0):
        assert pair.alignment == sorted(set(pair.alignment))
        assert all(0 <= s < len(pair.source) and 0 <= t < len(pair.target) for s, t in pair.alignment)
        assert all(token for token in (*pair.source, *pair.target))


@pytest.mark.parametrize("name", GENERATORS)
def test_pairs_repeat_little_and_a_test_set_is_new(name):
    train = 5_000 if name == "translations" else 20_000  # sentences take longer to make, and repeat less
    pairs = list(GENERATORS[name](train + 1_000, seed=0))
    sources = ["|".join(pair.source) for pair in pairs]
    seen = set(sources[:train])
    assert len(seen) >= (0.99 if name == "translations" else 0.95) * train
    assert sum(source in seen for source in sources[train:]) <= (0 if name == "translations" else 50)
    targets = {source: pair.target for source, pair in zip(sources, pairs, strict=True)}
    assert all(targets[source] == pair.target for source, pair in zip(sources, pairs, strict=True))


# dates


def read(text: str) -> str:
    """A date as people write it, in ISO 8601: by datetime, and by one rule for each style that it does not know."""
    text = text.lower()
    names = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"]
    roman = {name: number for number, name in enumerate(names, 1)}
    if match := re.fullmatch(r"(\d+)\. ([ivx]+)\. (\d{4})", text):
        return date(int(match[3]), roman[match[2]], int(match[1])).isoformat()
    small = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    small += "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
    words = {word: i + 1 for i, word in enumerate(small.split())} | {"thirtieth": 30, "thirty-first": 31}
    words |= {f"twenty-{word}": 20 + i for word, i in list(words.items())[:9]}
    for word in sorted(words, key=len, reverse=True):
        text = re.sub(rf"\b{word}\b", str(words[word]), text)
    text = re.sub(r"(?<=\d)(st|nd|rd|th)\b", "", text)
    text = re.sub(r"\b(the|of|in|on|day)\b|[,]", " ", text).strip()
    weekday = re.match(r"(mon|tue|wed|thu|fri|sat|sun)[a-z]*\b", text)
    text = " ".join(re.sub(r"^(mon|tue|wed|thu|fri|sat|sun)[a-z]*\b", "", text).split())
    styles = ["%d %B %Y", "%B %d %Y", "%Y %B %d", "%Y %b %d", "%d %b %Y", "%d-%b-%Y", "%b. %d %Y", "%b %d %Y"]
    for style in [*styles, "%d %b. %Y", "%d.%m.%Y", "%m/%d/%Y", "%Y/%m/%d"]:
        try:
            found = datetime.strptime(text, style)
        except ValueError:
            continue
        assert weekday is None or found.strftime("%a").lower() == weekday[1]
        return found.date().isoformat()
    raise AssertionError(f"no style reads {text!r}")


def test_dates_mean_what_is_written():
    for pair in dates.generate(3000, seed=1):
        assert all(len(token) == 1 for token in (*pair.source, *pair.target))
        assert read("".join(pair.source)) == "".join(pair.target), "".join(pair.source)


def test_dates_come_in_all_styles_centuries_and_cases():
    texts = ["".join(pair.source) for pair in dates.generate(3000, seed=2)]
    years = [int("".join(pair.target[:4])) for pair in dates.generate(3000, seed=2)]
    assert min(years) < 1905 and max(years) > 2094 and len(dates.STYLES) == len(set(dates.STYLES)) >= 15
    shapes = Counter(re.sub(r"\d+", "9", re.sub(r"[a-z]+", "a", text)) for text in texts if text == text.lower())
    assert len(shapes) >= 15
    assert sum(text.isupper() for text in texts) > 300 and sum(text != text.lower() for text in texts) < 1500


@pytest.mark.parametrize(
    ("when", "words"),
    [
        (date(1979, 5, 1), {"day": "1", "th": "st", "word": "first", "00day": "01", "roman": "v", "wday": "tue"}),
        (date(1979, 5, 3), {"th": "rd", "word": "third", "month": "may", "mon": "may", "weekday": "thursday"}),
        (date(2000, 2, 29), {"th": "th", "word": "twenty-ninth", "number": "2", "00number": "02", "year": "2000"}),
        (date(2024, 12, 22), {"th": "nd", "word": "twenty-second", "roman": "xii", "mon": "dec"}),
        (date(2024, 9, 11), {"th": "th", "word": "eleventh", "roman": "ix"}),
        (date(2024, 9, 12), {"th": "th", "word": "twelfth"}),
        (date(2024, 9, 13), {"th": "th", "word": "thirteenth"}),
        (date(2024, 10, 31), {"th": "st", "word": "thirty-first", "roman": "x"}),
    ],
)
def test_parts_of_a_date_by_hand(when, words):
    parts = dates._parts(when)
    assert {name: parts[name][0] for name in words} == words


def test_a_date_is_aligned_part_by_part():
    for pair in dates.generate(1000, seed=1):
        source, target = "".join(pair.source).lower(), pair.target
        by_target = {t: [s for s, other in pair.alignment if other == t] for t in range(10)}
        assert by_target[4] == by_target[7] == []  # the hyphens
        for t in range(4):
            (s,) = by_target[t]
            assert source[s] == target[t]
        year = [by_target[t][0] for t in range(4)]
        assert year == list(range(year[0], year[0] + 4))
        for name, places in (("month", (5, 6)), ("day", (8, 9))):
            linked = sorted({s for t in places for s in by_target[t]})
            text, number = source[linked[0] : linked[-1] + 1], int("".join(target[t] for t in places))
            assert len(text) == len(linked)  # one piece
            if text.isdigit():
                assert int(text) == number
                if len(text) == 2:
                    assert [source[s] for t in places for s in by_target[t]] == [target[t] for t in places]
            elif name == "day":
                assert text == dates.ORDINALS[number - 1]
            else:
                assert text in (dates.MONTHS[number - 1], dates.MONTHS[number - 1][:3], dates.ROMAN[number - 1])


# symbols


@pytest.mark.parametrize("name", ["copy", "reverse", "sort"])
def test_symbols_become_what_the_name_says_by_their_alignment(name):
    for pair in GENERATORS[name](500, seed=0):
        expected = {"copy": list(pair.source), "reverse": pair.source[::-1], "sort": sorted(pair.source, key=int)}
        assert pair.target == expected[name]
        links = sorted((t, s) for s, t in pair.alignment)
        assert [t for t, _ in links] == list(range(len(pair.target)))
        assert sorted(s for _, s in links) == list(range(len(pair.source)))  # each once
        assert [pair.source[s] for _, s in links] == pair.target
        if name == "sort":
            for (_, s), (_, after) in pairwise(links):
                assert pair.source[s] != pair.source[after] or s < after  # stable


@settings(max_examples=30)
@given(count=st.integers(1, 200), shortest=st.integers(1, 6), more=st.integers(0, 6), seed=st.integers(0, 99))
def test_symbols_and_lengths_are_as_asked_for(count, shortest, more, seed):
    sizes = {"symbols": count, "shortest": shortest, "longest": shortest + more}
    for pair in symbols.generate(40, order="sort", seed=seed, **sizes):
        assert shortest <= len(pair.source) <= shortest + more
        assert all(0 <= int(token) < count for token in pair.source)
        assert len({len(token) for token in pair.source}) == 1


def test_all_symbols_and_lengths_occur_equally_often():
    pairs = list(symbols.generate(5000, order="copy", seed=0))
    lengths = Counter(len(pair.source) for pair in pairs)
    assert sorted(lengths) == list(range(3, 13)) and min(lengths.values()) > 400
    seen = Counter(token for pair in pairs for token in pair.source)
    assert sorted(seen) == [f"{i:02d}" for i in range(30)]
    mean = sum(seen.values()) / 30
    assert all(abs(n - mean) < 5 * math.sqrt(mean) for n in seen.values())


@pytest.mark.parametrize("lengths", [(0, 3), (4, 3)])
def test_impossible_lengths_are_refused(lengths):
    shortest, longest = lengths
    with pytest.raises(ValueError, match=f"shortest={shortest}, longest={longest}"):
        list(symbols.generate(1, order="reverse", seed=0, shortest=shortest, longest=longest))
