"""Signs and colours of classes: an order where their names have one, else distinct kinds."""

import pytest

from tests.visualize.reading import contrast, rgb
from tests.visualize.trees import FINE
from zoo.visualize.drawing import PALETTE
from zoo.visualize.trees.marks import KINDS, PALE, SCALE, blend, marks, neutral


def signs(*classes):
    return [mark.sign for mark in marks(classes).values()]


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        (FINE, "-- - 0 + ++"),
        (("-0.50", "-0.25", "0", "0.25", "0.50"), "-- - 0 + ++"),
        (("negative", "neutral", "positive"), "- 0 +"),
        (("negative", "positive"), "- +"),
        (("neg", "pos"), "- +"),
        (("bad", "fair", "good"), "- 0 +"),
        (("worst", "bad", "good", "best"), "-- - + ++"),
        (("very_negative", "negative", "positive", "very_positive"), "-- - + ++"),
        (("--", "-", "0", "+", "++"), "-- - 0 + ++"),
        # by the names, and not by the alphabet in which a corpus lists them
        (("negative", "neutral", "positive", "very negative", "very positive"), "- 0 + -- ++"),
        (("positive", "negative"), "+ -"),
        (("FAVOR", "AGAINST", "NONE"), "+ - 0"),
        (("2008", "2009"), "- +"),
        (tuple(str(1000 + number) for number in range(9)), "-4 --- -- - 0 + ++ +++ +4"),
    ],
)
def test_classes_with_an_order_have_signs_around_its_middle(classes, expected):
    assert signs(*classes) == expected.split()


@pytest.mark.parametrize(
    "classes",
    [tuple("01234"), tuple("12345"), ("-2", "-1", "0", "1", "2"), tuple(map(str, range(95, 105))), ("0.5", "1")],
)
def test_short_numbers_are_their_own_signs_and_colours_carry_the_order(classes):
    found = marks(classes)
    assert signs(*classes) == list(classes)
    places = [number / (len(classes) - 1) for number in range(len(classes))]
    assert [mark.colour for mark in found.values()] == list(map(blend, places))
    assert marks(classes[::-1])[classes[0]].colour == SCALE[0], "by the number, whatever the order they are listed in"


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        (("ABBR", "DESC", "ENTY", "HUM"), "A D E H"),
        (("sports", "science", "world"), "sp sc wo"),
        (("positive", "sports"), "p s"),
        (("same beginning", "same begin"), "1 2"),
        (("positive", "praise", "good"), "po pr go"),
        (("good", "great"), "go gr"),  # neither is better
        (("1", "one", "2"), "1 o 2"),
        (("nan", "inf"), "n i"),
        (("Negotiation", "Post"), "N P"),
        (("negation", "posture", "badge", "oklahoma"), "n p b o"),
    ],
)
def test_others_have_the_beginnings_of_their_names_or_numbers(classes, expected):
    assert signs(*classes) == expected.split()


def test_red_is_bad_blue_is_good_and_grey_between():
    colours = [mark.colour for mark in marks(FINE).values()]
    assert colours == list(SCALE)
    for colour, (more, less) in zip(colours, [(0, 2), (0, 2), (None, None), (2, 0), (2, 0)], strict=True):
        red_to_blue = rgb(colour)
        assert more is None or red_to_blue[more] > red_to_blue[less] + 0.2, colour
    assert [mark.colour for mark in marks(("negative", "positive")).values()] == [SCALE[0], SCALE[-1]]
    assert blend(0.125) not in SCALE and blend(0) == SCALE[0] and blend(1) == SCALE[-1]
    depths = [luminance(colour) for colour in SCALE]
    assert depths[0] < depths[1] < depths[2] > depths[3] > depths[4]


def test_kinds_differ_in_colour():
    found = marks([f"kind {number}" for number in range(8)])
    assert [mark.colour for mark in found.values()] == list(KINDS)
    many = marks([f"kind {number}" for number in range(24)]).values()
    assert len({mark.sign for mark in many}) == len({mark.colour for mark in many}) == 24
    assert [mark.colour for mark in many][:8] == list(KINDS)


@pytest.mark.parametrize("classes", [FINE, tuple("123456789"), tuple("abcdefghijklmnopqrstuvwx")])
def test_every_sign_can_be_read(classes):
    for mark in marks(classes).values():
        assert mark.ink in (PALETTE["ink"], PALE)
        ink = (1.0, 1.0, 1.0) if mark.ink == PALE else rgb(mark.ink)
        assert contrast(ink, rgb(mark.colour)) >= 4.5, mark


def luminance(colour):
    return contrast(rgb(colour), (0, 0, 0))


def test_the_class_in_the_middle_one_class_and_the_minus():
    assert neutral(FINE) == "neutral" and neutral(("0", "1", "2")) == "1"
    assert neutral(("negative", "positive")) is None and neutral(("a", "b", "c")) is None
    assert signs("only") == ["o"] and marks(()) == {}
    assert marks(FINE)["very negative"].drawn == "−−"
