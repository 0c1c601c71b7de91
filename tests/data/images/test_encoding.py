"""Images and captions to batches and back."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

from zoo.data.captions.options import CaptionTextOptions
from zoo.data.images.encoding import ImageCaptionEncoder
from zoo.data.text.vocabulary import BEGIN, END, PADDING, UNKNOWN, WRITTEN_SPECIAL, Vocabulary
from zoo.errors import DataError

WORDS = ["a", "dog", "'s", "runs", "red", "ball", "on"]
RED = np.tile(np.array([200, 10, 30], np.uint8), (4, 4, 1))


def encoder_of(words=WORDS, size=4, **text):
    options = CaptionTextOptions.of(text)
    vocabulary = Vocabulary(words, WRITTEN_SPECIAL)
    return ImageCaptionEncoder(options, [vocabulary], picture={"size": size}, grid=(2, 2))


def test_images_of_every_kind_give_the_same_batch(tmp_path):
    encoder, path = encoder_of(), tmp_path / "red.png"
    Image.fromarray(RED).save(path)
    given = [[path], [str(path)], [RED], path, RED]
    batches = [encoder(one) for one in given]
    for batch in batches:
        assert torch.equal(batch.image, torch.tensor(RED).permute(2, 0, 1)[None])
        assert batch.target is None
        assert (batch.grid, batch.picture.tolist(), batch.index.tolist()) == ((2, 2), [0], [0])
    assert [batch.about[0].name for batch in batches[:3]] == [str(path), str(path), "0"]
    assert torch.equal(encoder.display(path), batches[0].image[0])
    assert encoder_of(size=6).pixels(np.tile(RED, (3, 4, 1))).shape == (3, 6, 6)  # the size of the data
    (tmp_path / "notes.jpg").write_text("hello")
    with pytest.raises(DataError, match=r"notes\.jpg: not a picture"):
        encoder([tmp_path / "notes.jpg"])


def test_one_caption_or_several_for_each_image():
    encoder = encoder_of()
    batch = encoder([RED, RED + 1], [["A dog runs.", "a RED cat"], "a"])
    assert batch.target.tolist() == [[4, 5, 7, END], [4, 8, UNKNOWN, END], [4, END, PADDING, PADDING]]
    assert batch.target_mask.sum(1).tolist() == [4, 4, 2]
    assert batch.target_input[:, 0].tolist() == [BEGIN] * 3
    assert batch.picture.tolist() == [0, 0, 1]
    assert batch.about[0].captions == ("A dog runs.", "a RED cat")
    assert (batch.about[1].name, batch.about[1].captions) == ("1", ("a",))
    with pytest.raises(ValueError, match="1 captions for 2 images"):
        encoder([RED, RED], ["a dog"])


def test_words_and_text_of_captions():
    encoder = encoder_of()
    assert encoder.words("A dog's ball, red!") == ["a", "dog", "'s", "ball", "red"]
    assert encoder_of(punctuation=True).words("A dog's ball, red!") == ["a", "dog", "'s", "ball", ",", "red", "!"]
    assert encoder_of(tokenizer="whitespace", lower=False).words("A dog's -- ball,") == ["A", "dog's", "ball,"]
    assert encoder_of(tokenizer="characters").words("a. b") == ["a", ".", " ", "b"]
    assert encoder.decode([4, 5, END, 7]) == ["a", "dog"]
    assert encoder.decode(torch.tensor([BEGIN, 4, UNKNOWN, PADDING])) == ["a", "<unk>"]
    assert encoder.text([4, 5, 6, 9, END, 4]) == encoder.text(["a", "dog", "'s", "ball"]) == "a dog's ball"
    assert encoder.text([END]) == encoder.text([]) == ""
    ids = encoder(RED, ["a red dog's ball on"]).target[0]
    assert encoder.text(ids) == "a red dog's ball on"
    assert encoder.words(encoder.text(ids)) == encoder.decode(ids)


def test_tokens_are_aligned_with_objects_whatever_the_marks():
    objects = [
        {"size": "small", "colour": "red", "shape": "star", "box": [0.1, 0.2, 0.3, 0.4]},
        {"size": "large", "colour": "blue", "shape": "circle", "box": [0.5, 0.5, 1, 1]},
    ]
    caption = "Look: a Red star, -- above a large blue circle's."
    for encoder, positions in (
        (encoder_of(), [2, 3, 6, 7, 8]),  # look a red star above a large blue circle 's
        (encoder_of(punctuation=True), [3, 4, 9, 10, 11]),  # look : a red star , -- above a large blue circle 's .
    ):
        found, boxes = encoder.aligned(caption, {"objects": objects})
        assert found == positions
        assert boxes == objects[0]["box"] * 2 + objects[1]["box"] * 3


def test_the_state_is_plain_and_complete():
    encoder = encoder_of(size=6, lower=False, max_length=7)
    again = ImageCaptionEncoder.from_state(json.loads(json.dumps(encoder.state())))
    assert again.state() == encoder.state()
