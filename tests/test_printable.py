"""Texts of anybody's, fit for a terminal, a page and a picture."""

import pytest

from zoo.printable import shortened, shown


def test_shown_replaces_what_a_terminal_obeys_and_what_turns_letters():
    assert shown("a\x1b[2Jb\x00\ud800") == "a\N{REPLACEMENT CHARACTER}[2Jb" + "\N{REPLACEMENT CHARACTER}" * 2
    family = "naïve 日本 \N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}"
    assert shown(family) == family
    for letter in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069":
        assert shown(f"a{letter}b") == "a\N{REPLACEMENT CHARACTER}b"
    assert shown("\u05e9\u05dc\u200f \u0633\u0644") == "\u05e9\u05dc\u200f \u0633\u0644", "not what such scripts need"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("abcd", "abcd"), ("abcde", "abc…"), ("", ""), ("\x1b[2J", "\N{REPLACEMENT CHARACTER}[2J")],
)
def test_shortened_keeps_what_fits_and_ends_in_an_ellipsis_else(text, expected):
    assert shortened(text, 4) == expected
