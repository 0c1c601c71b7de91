"""Truth of captions, and the boxes of their words, for a scene by hand and for generated ones."""

import pytest

from zoo.data.images.samples.grammar import read, relation
from zoo.data.images.samples.scenes import scenes
from zoo.data.images.truth import boxes_named, is_true, named_words

# y grows downwards: the star is at the upper left, one circle below it, the other far to the right
FACTS = {
    "objects": [
        {"size": "large", "colour": "red", "shape": "star", "centre": [0.2, 0.2]},
        {"size": "small", "colour": "blue", "shape": "circle", "centre": [0.3, 0.8]},
        {"size": "large", "colour": "blue", "shape": "circle", "centre": [0.9, 0.4]},
    ]
}


@pytest.mark.parametrize(
    "caption",
    [
        "a large red star is above a small blue circle",
        "a red star above a blue circle",
        "a red star left of a blue circle",  # the other one
        "there is a blue circle right of a red star",
        "there is a red star and a large blue circle to its right",
        "the picture shows a small blue circle below a large red star",
        "a large red star with a small blue circle below it",
        "a small blue circle left of a large blue circle",
        "A large red star is above  a small blue circle .",
        "a large red star is above a small blue circle.",
        ["a", "large", "red", "star", "is", "above", "a", "small", "blue", "circle"],
    ],
)
def test_true(caption):
    assert is_true(caption, FACTS)


@pytest.mark.parametrize(
    "caption",
    [
        "a large red star is below a small blue circle",
        "a large red star is left of a small blue circle",  # it is, but farther above
        "a small blue circle above a large red star",
        "a small red star is above a small blue circle",
        "a large red square is above a small blue circle",
        "a large red star is above a large red star",
        "a large red star with a small blue circle above it",
        "a large red star is above a small blue circle a",
        "a large red star above",
        "red star above blue circle",
        "a star is above a circle",
        "a large red star is is above a small blue circle",
        "",
        [],
    ],
)
def test_false(caption):
    assert not is_true(caption, FACTS)


def test_the_relation_is_the_way_that_two_points_are_farther_apart():
    assert relation((0.1, 0.5), (0.9, 0.4)) == "left"
    assert relation((0.9, 0.5), (0.1, 0.9)) == "right"
    assert relation((0.5, 0.1), (0.6, 0.3)) == "above"
    assert relation((0.5, 0.9), (0.6, 0.3)) == "below"


def test_the_words_of_every_caption_have_the_boxes_of_the_scenes():
    """The first object of a caption is the first one of the scene, found here by the only shape before the second."""
    for scene in scenes(range(30), seed=4):
        for caption in scene.captions:
            statement, words = read(caption), caption.split()
            found = boxes_named(words, scene.facts)
            end = words.index(statement.first.shape) + 1
            for part, kind, thing in (
                (slice(0, end), statement.first, scene.things[0]),
                (slice(end, None), statement.second, scene.things[1]),
            ):
                assert found[part] == [tuple(thing.box) if word in kind.words else None for word in words[part]]
            for begin, last, box in named_words(caption, scene.facts):
                word = caption[begin:last]
                assert word in words and box == found[caption[:begin].count(" ")]


def test_words_outside_the_grammar_and_objects_outside_the_scene_have_no_box():
    facts = {"objects": [{"size": "small", "colour": "red", "shape": "star", "box": [0.1, 0.2, 0.3, 0.4]}]}
    box = (0.1, 0.2, 0.3, 0.4)
    words = ["a", "red", "star", "red", "a", "Small", "red", "star"]
    assert boxes_named(words, facts) == [None, box, box, None, None, box, box, box]
    assert boxes_named(["a", "large", "red", "star"], facts) == [None] * 4
    assert boxes_named(["a", "blue", "star"], facts) == [None] * 3 and boxes_named([], facts) == []
