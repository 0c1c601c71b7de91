"""Read what was drawn: the artists of a figure, the elements of a page, the lines of a terminal."""

import io
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.text import Text
from rich.console import Console

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
VOID = {"meta", "input", "br", "img"}
EVIL = (
    "<script>document.title='run'</script>",
    "</style><script>document.title='run'</script>",
    "</title>",
    '"onmouseover="document.title=1',
    "&amp;",
    "$title",
    "--></article>",
    "<img/src=x/onerror=document.title='run'>",
)
"""Texts that a page must show and not obey."""


# pages


class Page(HTMLParser):
    """The elements of a page as (tag, attributes, own text); raises where tags do not nest."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open = [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        element = [tag, dict(attributes), ""]
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.elements.append([tag, dict(attributes), ""])

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open:
            self.open[-1][2] += data

    def find(self, tag, name=None):
        """The elements of a tag and, where given, a class."""
        return [e for e in self.elements if e[0] == tag and (name is None or name in e[1].get("class", "").split())]

    def texts(self, tag, name=None):
        return [text for _, _, text in self.find(tag, name)]

    def obeys_nothing(self):
        """Whether there is no script, no image from elsewhere and no attribute that runs code."""
        names = [name for _, attributes, _ in self.elements for name in attributes]
        images = [attributes["src"] for _, attributes, _ in self.find("img")]
        return (
            not self.find("script")
            and not any(name.startswith("on") for name in names)
            and all(image.startswith("data:image/") for image in images)
        )


def rgb(value):
    """A colour of CSS as three shares."""
    if value.startswith("#"):
        digits = value[1:] if len(value) == 7 else "".join(2 * c for c in value[1:])
        return tuple(int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4))
    return tuple(int(part) / 255 for part in value.split())


def colours(text):
    """(light, dark) palettes of a page: name -> (r, g, b), 0 to 1."""
    palettes = []
    for block in re.findall(r":root \{(.*?)\}", text, re.DOTALL):
        found = re.findall(r"--([\w-]+): ([^;]+);", block)
        palettes.append({name: rgb(value) for name, value in found})
    return palettes


def contrast(one, other):
    """WCAG 2 contrast ratio."""

    def luminance(colour):
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def browse(folder, text, *options):
    """Open a page in Chromium and return its standard output; --dump-dom prints the page after its scripts."""
    (folder / "page.html").write_text(text, encoding="utf-8")
    command = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    address = (folder / "page.html").as_uri()
    done = subprocess.run([*command, *options, address], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


@contextmanager
def chrome(*words: str) -> Iterator[Any]:
    """Chromium without a window, driven by selenium; skips the test where one is missing."""
    pytest.importorskip("selenium", reason="the extra `test` is not installed")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    driver = shutil.which("chromedriver")
    if CHROMIUM is None or driver is None:
        pytest.skip("needs Chromium and chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,2400", *words):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
    browser = webdriver.Chrome(options, Service(driver))
    try:
        yield browser
    finally:
        browser.quit()


# figures


def written(figure):
    """The texts of a picture, as artists."""
    return [artist for artist in figure.artists if isinstance(artist, Text)]


def texts(figure):
    return [text.get_text() for text in written(figure)]


def place_of(figure, text):
    """The (x, y) of the only text with these words, in pixels."""
    (found,) = [artist.get_position() for artist in written(figure) if artist.get_text() == text]
    return found


def collection(figure, kind):
    """Everything of one kind; None where there is nothing."""
    found = [artist for artist in figure.axes[0].collections if artist.get_gid() == kind]
    assert len(found) <= 1, "one artist per kind"
    return found[0] if found else None


def shapes(figure, kind):
    """(middle, width, colour) of the shapes of a kind, in the order drawn."""
    made = collection(figure, kind)
    if made is None:
        return []
    boxes = [path.get_extents() for path in made.get_paths()]
    colours = [tuple(colour[:3]) for colour in made.get_facecolor()] or [None] * len(boxes)
    places = [((box.x0 / 2 + box.x1 / 2, box.y0 / 2 + box.y1 / 2), box.width) for box in boxes]
    return [(*place, colours[number % len(colours)]) for number, place in enumerate(places)]


def grid(figure):
    """The numbers of the only grid of a picture."""
    (mesh,) = [part for part in figure.axes[0].collections if isinstance(part, QuadMesh)]
    return np.asarray(mesh.get_array()).reshape(mesh.get_coordinates().shape[0] - 1, -1)


# terminals


def printed(shown, **options):
    """The lines of what rich prints, without colour unless it is asked for."""
    given = {"width": 80, "color_system": None, "legacy_windows": False, **options}
    console = Console(file=io.StringIO(), **given)
    console.print(shown)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def in_colour(shown, **options):
    return "\n".join(printed(shown, color_system="truecolor", force_terminal=True, **options))
