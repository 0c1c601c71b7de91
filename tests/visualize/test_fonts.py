"""Letters that the usual font lacks: drawn with an installed font that has them, or named in one line."""

import logging
import warnings

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

from zoo.predicting.classification import AttendedSentence
from zoo.visualize import confusion_figure, letters, save_picture
from zoo.visualize.blocks import Classes, Grid, Head, Passage
from zoo.visualize.renderers.figure import draw

TEXTS = {"Chinese": ("这 家 餐厅 很 好", "fonts-noto-cjk"), "Thai": ("อาหาร อร่อย มาก", "fonts-noto-core")}


@pytest.fixture(autouse=True)
def _anew(monkeypatch):
    """No font was searched and no line was logged before."""
    monkeypatch.setattr(letters, "_logged", set())
    letters._family.cache_clear()
    yield
    letters._family.cache_clear()


@pytest.fixture(params=TEXTS)
def script(request):
    return request.param


def made_font(path, letters):
    """A font file that has `letters`, each a box."""
    pen = TTGlyphPen(None)
    pen.moveTo((100, 0))
    for corner in ((100, 700), (700, 700), (700, 0)):
        pen.lineTo(corner)
    pen.closePath()
    box, names = pen.glyph(), {ord(letter): f"u{ord(letter):X}" for letter in sorted(set(letters))}
    order = [".notdef", *names.values()]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(order)
    builder.setupCharacterMap(names)
    builder.setupGlyf(dict.fromkeys(order, box))
    builder.setupHorizontalMetrics(dict.fromkeys(order, (800, 100)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": path.stem, "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=800, usWinAscent=800, usWinDescent=200)
    builder.setupPost()
    builder.save(path)
    return str(path)


def figures(text):
    """Each kind of picture, with the words of `text` wherever there can be words."""
    words = tuple(text.split())
    sentence = AttendedSentence(words, 1.0, (1 / len(words),) * len(words))
    head = Head(words[0], 0.5, truth=("true class", words[1]), classes=Classes(dict.fromkeys(words[:2], 0.5)))
    yield draw([head, Passage((sentence,))])
    weights = ((1 / len(words),) * len(words),) * len(words)
    yield draw([Grid(words, words, weights)])
    yield confusion_figure([[1, 2], [3, 4]], words[:2])


def drawn(text, folder):
    """The warnings of matplotlib about letters that it draws as boxes."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for figure in figures(text):
            figure.canvas.draw()
            save_picture(figure, folder / "x.png")
    return [str(warning.message) for warning in said if "missing from" in str(warning.message)]


def test_without_a_font_one_line_names_the_script_and_a_package(tmp_path, monkeypatch, caplog, script):
    text, package = TEXTS[script]
    monkeypatch.setattr(letters, "installed", tuple)
    with caplog.at_level(logging.WARNING):
        list(figures(text))
        list(figures(text))
    (line,) = caplog.messages
    assert line.startswith(f"pictures: no installed font has {script} letters such as ")
    assert line.endswith(f"drawn as boxes; install one, for example: apt install {package}")
    assert any(letter in line for letter in text.replace(" ", ""))


def test_an_installed_font_is_found_by_what_it_holds(tmp_path, monkeypatch, caplog, script):
    text, _ = TEXTS[script]
    none = made_font(tmp_path / "Nothing.ttf", "abc")
    has = made_font(tmp_path / f"Boxes{script}.ttf", text.replace(" ", ""))
    (tmp_path / "torn.ttf").write_bytes(b"no font")
    monkeypatch.setattr(letters, "installed", lambda: (str(tmp_path / "torn.ttf"), none, has))
    with caplog.at_level(logging.WARNING):
        assert letters.families([text, "abc"]) == ("DejaVu Sans", f"Boxes{script}")
        assert drawn(text, tmp_path) == []
    assert caplog.messages == []


def test_a_font_of_this_machine(tmp_path, caplog, script):
    text, _ = TEXTS[script]
    with caplog.at_level(logging.WARNING):
        found = letters.families([text])
    if len(found) == 1:
        pytest.skip(f"no font with {script} letters is installed here: {caplog.messages[0]}")
    assert drawn(text, tmp_path) == []


def test_letters_that_are_always_there_need_no_search_and_a_symbol_is_called_one(monkeypatch, caplog):
    monkeypatch.setattr(letters, "installed", tuple)
    with caplog.at_level(logging.WARNING):
        assert letters.families(["\N{MELTING FACE}"]) == ("DejaVu Sans",)
    assert "no installed font has symbols such as" in caplog.text
    monkeypatch.setattr(letters, "installed", lambda: pytest.fail("searched"))
    assert letters.families(["Größe, œuvre, ещё, ✓ \n\x00\u200d"]) == ("DejaVu Sans",)
