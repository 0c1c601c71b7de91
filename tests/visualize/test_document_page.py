"""The page of documents: what it says, that texts stay texts, and that it works in a browser where there is one."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from tests.visualize.documents import prediction, without_weights
from zoo.tasks.classification import AttendedSentence
from zoo.visualize import document_html

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
VOID = {"meta", "input", "br", "img"}


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

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open:
            self.open[-1][2] += data

    def find(self, tag, name=None):
        """The elements of a tag and, where given, a class."""
        return [e for e in self.elements if e[0] == tag and (name is None or name in e[1].get("class", "").split())]


def weights(page):
    """(words with weights, sentence weights) as the page holds them."""
    words = [(text, float(attributes["data-weight"])) for _, attributes, text in page.find("span", "w")]
    return words, [float(attributes["data-weight"]) for _, attributes, _ in page.find("span", "weight")]


def test_holds_every_weight_and_probability_exactly():
    document = prediction(
        probabilities={"bad": 1 / 3, "good": 2 / 3},
        sentences=(
            AttendedSentence(("a", "b"), 0.1 + 0.2, (1 / 7, 6 / 7)),
            AttendedSentence(("c",), 0.7, (1.0,)),
            AttendedSentence((), 0.0, ()),
        ),
    )
    page = Page(document_html([document]))
    words, sentences = weights(page)
    assert words == [("a", 1 / 7), ("b", 6 / 7), ("c", 1.0)]
    assert sentences == [0.1 + 0.2, 0.7, 0.0]
    assert sum(sentences) == pytest.approx(1)
    assert [float(e[1]["data-probability"]) for e in page.find("tr")] == [1 / 3, 2 / 3]
    assert page.find("span", "w")[0][1]["data-tip"] == "word 0.1429 × sentence 0.3 = 0.04286 of the document"


def test_shades_by_three_weighings():
    style = Page(document_html([prediction()])).find("span", "w")[5][1]["style"]  # "sat": 0.4 in 0.36
    values = {name: float(value) for name, value in re.findall(r"--(\w+)-v:([\d.]+)", style)}
    assert values == {
        "paper": pytest.approx(0.24 / 0.6, abs=1e-3),
        "joint": pytest.approx(0.144 / 0.48, abs=1e-3),
        "word": pytest.approx(0.4 / 0.75, abs=1e-3),
    }


def test_shows_class_true_class_and_evidence():
    evidence = [[False, True, False, True], [False] * 3]
    page = Page(document_html([prediction(), prediction()], true_labels=["good", "bad"], evidence=[evidence, None]))
    assert [e[2] for e in page.find("h2")] == ["good", "good"]
    assert [e[2] for e in page.find("span", "right")] == ["true class good ✓"]
    assert [e[2] for e in page.find("span", "wrong")] == ["true class bad ✗"]
    assert [e[2] for e in page.find("span", "e")] == ["soup", "great"]


def test_as_many_labels_as_documents():
    with pytest.raises(ValueError, match="zip"):
        document_html([prediction()], true_labels=["good", "bad"])


def test_without_attention_shows_the_text_alone():
    page = Page(document_html([without_weights("so it goes")]))
    assert [*page.find("span", "w"), *page.find("span", "weight"), *page.find("input")] == []
    assert [e[2] for e in page.find("p", "words")] == ["so it goes"]


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


def evil():
    return prediction(
        label=EVIL[0],
        probabilities={EVIL[0]: 0.5, EVIL[3]: 0.5},
        sentences=(AttendedSentence(EVIL, 1.0, (1 / len(EVIL),) * len(EVIL)),),
    )


def test_texts_stay_texts():
    page = Page(document_html([evil()], title="</title>" + EVIL[0], true_labels=[EVIL[1]]))
    assert [text for text, _ in weights(page)[0]] == list(EVIL)
    assert page.find("h2")[0][2] == EVIL[0]
    assert [*page.find("script"), *page.find("img")] == []
    assert not [name for _, attributes, _ in page.elements for name in attributes if name.startswith("on")]


def test_loads_nothing():
    text = document_html([prediction()])
    assert not re.search(r"https?:|src=|@import|url\(|<link|<script", text)
    policy = next(e[1]["content"] for e in Page(text).find("meta") if "http-equiv" in e[1])
    assert policy == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def test_can_be_written_whatever_the_text_holds():
    document_html([without_weights("\ud800 \x00 \x1b")]).encode("utf-8")


def colours(text):
    """(light, dark) palettes of the page: name -> (r, g, b), 0 to 1."""
    palettes = []
    for block in re.findall(r":root \{(.*?)\}", text, re.DOTALL):
        palette = {name: f"{value}" for name, value in re.findall(r"--([\w-]+): ([^;]+);", block)}
        palettes.append({name: _rgb(value) for name, value in palette.items()})
    return palettes


def _rgb(value):
    if value.startswith("#"):
        digits = value[1:] if len(value) == 7 else "".join(2 * c for c in value[1:])
        return tuple(int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4))
    return tuple(int(part) / 255 for part in value.split())


def contrast(one, other):
    """WCAG 2 contrast ratio."""

    def luminance(rgb):
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_everything_is_readable_in_light_and_dark():
    palettes = colours(document_html([prediction()]))
    assert len(palettes) == 2
    for palette in palettes:
        for name in ("ink", "soft", "good", "wrong"):
            assert contrast(palette[name], palette["card"]) >= 4.5, name
        assert contrast(palette["ink"], palette["attention"]) >= 4.5, "the darkest shade"


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here to open the page in")
class TestInTheBrowser:
    @staticmethod
    def dom(tmp_path, text):
        (tmp_path / "page.html").write_text(text, encoding="utf-8")
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
        command = [CHROMIUM, *options, "--dump-dom", (tmp_path / "page.html").as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout

    def test_a_script_in_a_review_does_not_run(self, tmp_path):
        text = document_html([evil()], title="calm").replace("</h1>", "</h1><script>document.title='run'</script>")
        assert Page(self.dom(tmp_path, text)).find("title")[0][2] == "calm"  # escaped; and the policy stops a real one

    def test_the_switch_changes_the_shades(self, tmp_path):
        script = """<script>
          const out = {};
          for (const by of ['paper', 'joint', 'word']) {
            document.getElementById('by-' + by).click();
            out[by] = [...document.querySelectorAll('.w')].map(w => getComputedStyle(w).backgroundColor);
          }
          const bars = [...document.querySelectorAll('.weight .bar')].map(b => b.getBoundingClientRect().width);
          document.title = JSON.stringify([out, bars]);
        </script></body>"""
        text = re.sub(r"<meta http-equiv[^>]*>", "", document_html([prediction()])).replace("</body>", script)
        shades, bars = json.loads(Page(self.dom(tmp_path, text)).find("title")[0][2])
        sat = {by: float(re.findall(r"[\d.]+", values[5])[3]) for by, values in shades.items()}
        assert sat == {
            "paper": pytest.approx(0.4, abs=0.01),
            "joint": pytest.approx(0.3, abs=0.01),
            "word": pytest.approx(0.533, abs=0.01),
        }
        assert bars[1] / bars[0] == pytest.approx(0.36 / 0.64, rel=0.01)
