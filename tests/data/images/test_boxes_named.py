"""Where the objects are that a caption names, found from its words, is where the scenes say that they put them."""

from zoo.data.images.samples.scenes import scenes
from zoo.data.images.truth import boxes_named


def test_the_words_of_every_caption_have_the_boxes_that_the_scenes_give_them():
    for scene in scenes(range(30), seed=4):
        for caption in scene.captions:
            named, at, words = {begin: number for begin, _, number in caption.named}, 0, caption.text.split()
            found = boxes_named(words, scene.facts)
            assert len(found) == len(words)
            for word, box in zip(words, found, strict=True):
                assert box == (tuple(scene.things[named[at]].box) if at in named else None), (caption.text, word)
                at += len(word) + 1


def test_words_outside_the_grammar_and_objects_that_are_not_there_have_none():
    facts = {"objects": [{"size": "small", "colour": "red", "shape": "star", "box": [0.1, 0.2, 0.3, 0.4]}]}
    box = (0.1, 0.2, 0.3, 0.4)
    assert boxes_named(["a", "red", "star", "red", "a", "Small", "red", "star"], facts) == [
        None, box, box, None, None, box, box, box,
    ]  # fmt: skip
    assert boxes_named(["a", "large", "red", "star"], facts) == [None] * 4
    assert boxes_named(["a", "blue", "star"], facts) == [None] * 3 and boxes_named([], facts) == []
