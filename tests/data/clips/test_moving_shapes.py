"""The generated clips: what happens in which frames, that nothing else shows the order of the events, and truth and
alignment by hand."""

import numpy as np
import pytest

from zoo.data.clips.samples import moving_shapes
from zoo.data.clips.samples.moving_shapes import FORMS, FRAMES, LASTS, SIDE, Event, generate
from zoo.data.clips.truth import alignment, is_true, named_words, spans_named

CLIPS = list(generate(60, seed=3))
FACTS = {
    "events": [
        {"colour": "red", "shape": "bar", "action": "grows", "first": 2, "last": 4},
        {"colour": "blue", "shape": "circle", "action": "vanishes", "first": 6, "last": 8},
    ]
}


def test_clips_follow_from_their_number_and_the_seed():
    again = list(generate(3, seed=3))
    assert all(np.array_equal(one.frames, other.frames) for one, other in zip(CLIPS, again, strict=False))
    assert again[2].captions == CLIPS[2].captions and not np.array_equal(again[0].frames, again[1].frames)


def test_something_happens_in_the_frames_of_events_alone():
    for clip in CLIPS:
        assert FRAMES[0] <= len(clip.frames) <= FRAMES[1] and clip.frames.shape[1:] == (SIDE, SIDE, 3)
        still, (one, other) = clip.frames[0], clip.events
        events = [*range(one.first, one.last), *range(other.first, other.last)]
        assert 0 < one.first < one.last < other.first < other.last < len(clip.frames)
        for number, frame in enumerate(clip.frames):
            assert np.array_equal(frame, still) == (number not in events), number
        for event in clip.events:
            assert LASTS[0] <= event.last - event.first <= LASTS[1]
            assert (event.shape, event.action) != ("circle", "turns")


def test_neither_the_first_frame_nor_the_set_of_frames_tells_the_order(monkeypatch):
    """A clip with its events in the other order has the same frames in another order."""
    kinds = [("red", "bar"), ("blue", "circle")]

    def painted(*spans):
        events = [
            Event(*kind, action, *span) for kind, action, span in zip(kinds, ("grows", "moves"), spans, strict=True)
        ]
        return moving_shapes._painted(np.random.default_rng(5), 12, events)

    one, other = painted((1, 3), (6, 9)), painted((6, 8), (1, 4))
    assert np.array_equal(one[0], other[0]) and not np.array_equal(one, other)
    assert sorted(frame.tobytes() for frame in one) == sorted(frame.tobytes() for frame in other)


def test_all_captions_are_true_and_those_with_the_other_order_are_not():
    for clip in CLIPS:
        assert len(set(clip.captions)) == 3
        turned = {"events": clip.facts["events"][::-1]}
        for caption in clip.captions:
            assert is_true(caption, clip.facts) and not is_true(caption, turned)


@pytest.mark.parametrize("form", FORMS)
def test_truth_by_hand(form):
    first, second = "the red bar grows", "the blue circle vanishes"
    assert is_true(form.format(first, second), FACTS) and is_true(form.format(first, second).upper() + " .", FACTS)
    assert not is_true(form.format(second, first), FACTS)
    assert not is_true(form.format(first, "the blue circle moves"), FACTS)
    assert not is_true(form.format("the red circle grows", second), FACTS)
    assert not is_true(first, FACTS) and not is_true("", FACTS)


def test_the_words_of_an_event_have_its_frames():
    caption = "first the red bar grows and then the blue circle moves"
    found = [(caption[begin:end], span) for begin, end, span in named_words(caption, FACTS)]
    assert found == [("red", (2, 4)), ("bar", (2, 4)), ("grows", (2, 4))], "the circle does not move"
    words = ["the", "red", "bar", "grows", "then", "the", "blue", "circle", "vanishes"]
    one, other = (2.0, 4.0), (6.0, 8.0)
    assert spans_named(words, FACTS) == [None, one, one, one, None, None, other, other, other]
    mask = alignment((2, 3), [0, 1], [1, 2], [[2, 4], [0, 1]], 6)
    assert mask.shape == (2, 3, 6) and mask.sum() == 5
    assert mask[0, 1].tolist() == [False, False, True, True, True, False] and mask[1, 2, :2].all()
