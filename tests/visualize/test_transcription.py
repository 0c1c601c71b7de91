"""The view of transcription: a page with the sound, its letters and their times; the picture; the table."""

import base64
import io
import re
import time

import numpy as np
import pytest
import soundfile
import torch

from tests.visualize.reading import chrome
from zoo.data.audio.batch import Sound
from zoo.errors import DataError
from zoo.predicting.transcription import ExaminedTranscription, TimedWord, Transcript, TranscriptionPrediction
from zoo.visualize.transcription import TranscriptionView, wav

RATE = 8000
SAMPLES = (np.sin(np.arange(4000) / 5) * 20000).astype(np.int16)


def prediction(*, attends: bool = True, name: str = "a <b>.wav") -> TranscriptionPrediction:
    weights = ((0.1, 0.9, 0.0), (0.0, 0.2, 0.8), (0.0, 0.0, 1.0)) if attends else None
    words = (TimedWord("ab", 0.2, 0.6),) if attends else ()
    best = Transcript("ab", ("a", "b"), -0.5, -0.5, True, weights, 0.2, words)
    return TranscriptionPrediction(Sound(name, RATE, torch.from_numpy(SAMPLES)), torch.rand(51, 6), (best,))


def test_a_wav_file_has_the_samples():
    found, rate = soundfile.read(io.BytesIO(wav(SAMPLES, RATE)), dtype="int16")
    assert rate == RATE and np.array_equal(found, SAMPLES)


def test_a_page_plays_the_sound_and_names_the_time_of_each_letter():
    page = TranscriptionView().page([prediction()])
    (recording,) = re.findall(r'src="data:audio/wav;base64,([^"]+)"', page)
    assert base64.b64decode(recording) == wav(SAMPLES, RATE)
    assert re.findall(r'data-time="([\d.]+)"', page) == ["0.200", "0.400"]
    assert "a &lt;b&gt;.wav" in page and "<b>.wav" not in page
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert "default-src 'none'" in policy and "media-src data:" in policy


@pytest.mark.slow
def test_a_letter_plays_the_sound_from_its_time_and_a_line_follows(tmp_path):
    """In Chromium."""
    path = tmp_path / "page.html"
    path.write_text(TranscriptionView().page([prediction()]), "utf-8")
    watch = """
        const heard = document.querySelector('.heard');
        window.places = [];
        new MutationObserver(() => places.push(Number(heard.style.getPropertyValue('--at')))).observe(
            heard, {attributes: true});
    """

    with chrome() as browser:

        def played(begin):
            """The places of the line while the sound plays from a letter to its end."""
            browser.execute_script("places.length = 0")
            browser.find_element("css selector", f"button[data-time='{begin}']").click()
            end, script = time.monotonic() + 20, "return places.length > 0 && document.querySelector('audio').ended"
            while not browser.execute_script(script) and time.monotonic() < end:
                time.sleep(0.05)
            time.sleep(0.3)  # for the last of them
            return browser.execute_script("return places")

        browser.get(path.as_uri())
        browser.execute_script(watch)
        whole = float(browser.find_element("css selector", "audio").get_attribute("data-whole"))
        places = played("0.400")
        assert places == sorted(places) and places[0] >= 0.4 / whole
        assert places[-1] == pytest.approx(0.5 / whole)  # 4,000 samples
        # The events of the time are rare: the line also follows without them.
        browser.execute_script("document.addEventListener('timeupdate', event => event.stopPropagation(), true)")
        assert 0.2 / whole <= min(played("0.200"), default=0) < 0.5 / whole


def test_a_page_without_a_sound_runs_no_script():
    from zoo.visualize.blocks import Note
    from zoo.visualize.renderers.page import page

    assert "script-src" not in page("t", "a", [[Note("x")]])


def test_true_times_are_framed_where_the_transcript_is_right():
    examined = ExaminedTranscription(0, prediction(), "ab", ((0.1, 0.2), None))
    page = TranscriptionView().page([prediction()])
    framed = TranscriptionView().blocks(prediction(), examined)
    assert framed[0].right is True and "<u style" not in page
    assert [span for span in framed[1].spans if span] == [(0.1, 0.2)]
    wrong = ExaminedTranscription(0, prediction(), "ac", None)
    assert TranscriptionView().blocks(prediction(), wrong)[0].right is False


def test_a_row_has_the_times_of_words():
    assert TranscriptionView().row(prediction()) == ["a <b>.wav", "ab", -0.5, "ab 0.20-0.60"]


def test_pictures_need_attention():
    assert TranscriptionView().picture(prediction()) is not None
    assert TranscriptionView().picture(prediction(attends=False)) is None
    assert "data-time" not in TranscriptionView().page([prediction(attends=False)])


def test_paths_are_files_or_folders_of_sounds(tmp_path):
    view = TranscriptionView()
    for name in ("b.wav", "a.FLAC", ".hidden.wav", "notes.txt"):
        (tmp_path / name).write_bytes(b"x")
    assert [path.name for path in view.read_word(str(tmp_path))] == ["a.FLAC", "b.wav"]
    with pytest.raises(DataError, match=r"nowhere\.wav: no such file; expected the path of a sound"):
        view.read_word(str(tmp_path / "nowhere.wav"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"empty: no sound in this folder; expected files that end in .*\.flac"):
        view.read_word(str(tmp_path / "empty"))
