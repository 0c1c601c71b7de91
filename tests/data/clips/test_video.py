"""Frames of films: which of them are taken, of any kind and rate, and every trouble in one line with its path."""

import re

import av
import numpy as np
import pytest
import torch
from PIL import Image

from tests.data.clips.films import CODECS, SIZE, folder, grey, sound, write
from zoo.data.captions.decoding import UnusablePicture
from zoo.data.captions.options import PictureOptions
from zoo.data.clips import video
from zoo.data.clips.video import frames_of, paths_of, spaced

OPTIONS = PictureOptions(size=16)


def greys(clip, count=28, options=OPTIONS):
    """The mean grey of each frame."""
    frames = frames_of(clip, count, options)
    assert frames.dtype == torch.uint8 and frames.shape[1:] == (3, *options.sides)
    return frames.float().mean((1, 2, 3)).tolist()


def of(numbers, count):
    return pytest.approx([grey(number, count) for number in numbers], abs=5)


def test_the_middles_of_equal_parts():
    assert spaced(5, 5) == spaced(5, 9) == [0, 1, 2, 3, 4]
    assert spaced(10, 5) == [1, 3, 5, 7, 9] and spaced(9, 3) == [1, 4, 7] and spaced(100, 1) == [50]


@pytest.mark.parametrize("kind", CODECS)
def test_films_of_every_kind_give_equally_spaced_frames(tmp_path, kind):
    film = write(tmp_path / f"film{kind}", 20)
    assert greys(film, 5) == of(spaced(20, 5), 20)
    assert greys(film, 28) == of(range(20), 20), "a film with fewer frames has all of them, each once"


def test_a_film_or_a_folder_of_one_frame_is_a_clip_of_one_frame(tmp_path):
    assert greys(write(tmp_path / "one.mp4", 1)) == of([0], 1)
    assert greys(folder(tmp_path / "one", 1)) == of([0], 1)


def test_frames_are_taken_by_time_where_the_rate_varies(tmp_path):
    """Nine frames in the first second and one in each of three others: the frame that is visible at each time."""
    times = [number / 10 for number in range(10)] + [1.0, 2.0, 3.0]
    film = write(tmp_path / "varies.mkv", times)
    seen = [max(i for i, time in enumerate(times) if time <= at) for at in (0.517, 1.55, 2.583)]
    assert greys(film, 3) == of(seen, 13) and seen == [5, 10, 11]


def test_a_folder_of_frames_is_read_by_numbers_and_pictures_in_memory_are(tmp_path):
    where = folder(tmp_path / "frames", 12)
    (where / "notes.txt").write_text("no frame")
    (where / "._1.png").write_bytes(b"of macOS")
    assert [path.name for path in paths_of(where)][:3] == ["1.png", "2.png", "3.png"]
    assert greys(where, 4) == of(spaced(12, 4), 12)
    images = [Image.open(path) for path in paths_of(where)]
    assert greys(images, 4) == greys(np.stack([np.asarray(image) for image in images]), 4) == greys(where, 4)


def test_a_long_film_is_searched_and_not_decoded_whole(tmp_path, monkeypatch):
    """Ten minutes with a key frame each two seconds: a few frames for each of the six times."""
    film, decoded = write(tmp_path / "long.mp4", 1200, rate=2, every=4, size=(16, 16)), []
    plain = av.open

    class Counted:
        def __init__(self, container):
            self.container = container

        def __getattr__(self, name):
            return getattr(self.container, name)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.container.close()

        def decode(self, stream):
            for frame in self.container.decode(stream):
                decoded.append(frame.pts)
                yield frame

    monkeypatch.setattr(av, "open", lambda path: Counted(plain(path)))
    assert greys(film, 6) == of(spaced(1200, 6), 1200)
    assert len(decoded) < 60
    monkeypatch.setattr(video, "GAP", 1e9)
    decoded.clear()
    assert greys(film, 6) == of(spaced(1200, 6), 1200) and len(decoded) > 1000


def test_a_film_whose_sound_is_longer_is_spaced_over_its_pictures(tmp_path):
    """The header of a .mkv states the length of both together."""
    path = tmp_path / "sound.mkv"
    with av.open(str(path), "w") as film:
        pictures, sound = film.add_stream("ffv1", rate=10), film.add_stream("pcm_s16le", rate=8000, layout="mono")
        pictures.height, pictures.width, pictures.pix_fmt = *SIZE, "bgr0"
        for number in range(20):
            pixels = np.full((*SIZE, 3), grey(number, 20), np.uint8)
            film.mux(pictures.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
        film.mux(pictures.encode())
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 8 * 8000), np.int16), "s16", "mono")
        frame.sample_rate = 8000
        film.mux(sound.encode(frame))
        film.mux(sound.encode())
    with av.open(str(path)) as film:
        assert film.duration == pytest.approx(8e6, rel=0.01)
    assert greys(path, 5) == of(spaced(20, 5), 20)


def test_frames_are_scaled_and_cropped_as_pictures_are(tmp_path):
    """Left half black, right half white: the middle of a frame has both, as that of the picture."""
    path = tmp_path / "halves"
    path.mkdir()
    pixels = np.zeros((32, 64, 3), np.uint8)
    pixels[:, 32:] = 255
    Image.fromarray(pixels).save(path / "1.png")
    with av.open(str(tmp_path / "halves.mkv"), "w") as film:
        stream = film.add_stream("ffv1", rate=5)
        stream.height, stream.width, stream.pix_fmt = 32, 64, "bgr0"
        film.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
        film.mux(stream.encode())
    for options in (PictureOptions(size=16), PictureOptions(size=[16, 32]), PictureOptions(size=16, squash=True)):
        one, other = (frames_of(clip, 28, options)[0].int() for clip in (path, tmp_path / "halves.mkv"))
        assert (one - other).abs().float().mean() < 6, options


# troubles


def trouble(clip, options=OPTIONS):
    with pytest.raises(UnusablePicture) as error:
        frames_of(clip, 28, options)
    return error.value


def test_every_trouble_is_one_line_with_the_path(tmp_path):
    (tmp_path / "empty.mp4").write_bytes(b"")
    (tmp_path / "text.mp4").write_text("this is not a film")
    (tmp_path / "none").mkdir()
    (tmp_path / "cut.mp4").write_bytes(write(tmp_path / "film.mp4", 40).read_bytes()[:3000])
    for path, words in (
        (tmp_path / "gone.mp4", "no such file or folder"),
        (tmp_path / "empty.mp4", "the file is empty"),
        (tmp_path / "text.mp4", "Invalid data"),
        (tmp_path / "cut.mp4", "broken"),
        (tmp_path / "none", "no frame in this folder, such as 1.png"),
        (sound(tmp_path / "sound.mp4"), "no video stream: found audio, expected moving pictures"),
    ):
        error = trouble(path)
        assert str(error).startswith(f"{path}: ") and words in str(error) and "\n" not in str(error), str(error)
    many = trouble(tmp_path / "film.mp4", PictureOptions(size=16, max_pixels=100))
    assert "64 x 48 pixels, expected 100 or fewer (data.picture.max_pixels)" in str(many)
    assert "found a int, expected a path of a film" in str(trouble(3)) and "found no frame" in str(trouble([]))
    assert SIZE == (48, 64)


def test_a_film_that_is_damaged_in_its_middle_has_all_frames_or_is_named(tmp_path):
    film = write(tmp_path / "film.mkv", 40)
    content = bytearray(film.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 400] = bytes(400)
    film.write_bytes(content)
    found = outcome(film)
    assert found == 8 or str(found).startswith(f"{film}: ")


@pytest.mark.parametrize(("kind", "options"), [("avi", {}), ("mp4", {"movflags": "faststart"})])
def test_half_a_film_is_broken(tmp_path, kind, options):
    whole = write(tmp_path / f"whole.{kind}", 60, **options)
    assert outcome(whole) == 8
    cut = tmp_path / f"cut.{kind}"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    assert re.match(rf"{cut}: broken clip: it ends after \d+ of 60 frames; copy the file again", str(outcome(cut)))


def outcome(film):
    try:
        return len(frames_of(film, 8, OPTIONS))
    except UnusablePicture as error:
        return str(error)
