"""Blocks on a page: what it says, that texts stay texts, and that it works in a browser where there is one."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from tests.visualize.documents import answer_blocks, prediction, without_weights
from tests.visualize.reading import CHROMIUM, EVIL, Page, browse, colours, contrast
from tests.visualize.stories import ANSWER, answer, long_answer
from tests.visualize.trees import grown
from zoo.predicting.classification import AttendedSentence
from zoo.visualize.answering import AnsweringView
from zoo.visualize.blocks import Beside, Block, Classes, Drawn, Grid, Head, Note, Passage, Rows
from zoo.visualize.classification import ClassificationView
from zoo.visualize.drawing import PALETTE, Drawing, Key, Raster, Spot
from zoo.visualize.renderers.page import page
from zoo.visualize.trees.drawing import Tree

DOCUMENTS, STORIES = ClassificationView(), AnsweringView()


def weights(made):
    """(words with weights, sentence weights) as the page holds them."""
    words = [(text, float(attributes["data-weight"])) for _, attributes, text in made.find("span", "w")]
    return words, [float(attributes["data-weight"]) for _, attributes, _ in made.find("span", "weight")]


# passages and classes


def test_holds_every_weight_and_probability_exactly():
    two = AttendedSentence(("a", "b"), 0.1 + 0.2, (1 / 7, 6 / 7)), AttendedSentence(("c",), 0.7, (1.0,))
    sentences = (*two, AttendedSentence((), 0.0, ()))
    document = prediction(probabilities={"bad": 1 / 3, "good": 2 / 3}, sentences=sentences)
    made = Page(DOCUMENTS.page([document]))
    words, sentences = weights(made)
    assert words == [("a", 1 / 7), ("b", 6 / 7), ("c", 1.0)] and sentences == [0.1 + 0.2, 0.7, 0.0]
    assert [float(e[1]["data-probability"]) for e in made.find("tr")] == [1 / 3, 2 / 3]
    assert [e[1].get("class") for e in made.find("tr")] == [None, "predicted"]
    assert made.find("span", "w")[0][1]["data-tip"] == "word 0.1429 × sentence 0.3 = 0.04286 of the document"
    assert made.find("article")[0][1]["data-label"] == "good"


def test_shades_by_three_weighings_where_the_reader_may_choose():
    made = Page(DOCUMENTS.page([prediction()]))
    assert ["checked" in e[1] for e in made.find("input")] == [True, False, False]
    style = made.find("span", "w")[5][1]["style"]  # "sat": 0.4 in 0.36
    values = {name: float(value) for name, value in re.findall(r"--(\w+)-v:([\d.]+)", style)}
    assert values == pytest.approx({"paper": 0.24 / 0.6, "joint": 0.144 / 0.48, "word": 0.4 / 0.75}, abs=1e-3)
    fixed = Page(page("", "", [[Passage(prediction().sentences, "word")]]))
    assert fixed.find("span", "w")[5][1]["style"] == "--paper-v:0.533;" and fixed.find("input") == []


def test_shows_class_true_class_and_evidence():
    evidence = [[False, True, False, True], [False] * 3]
    answers = [answer_blocks(prediction(), "good", evidence), answer_blocks(prediction(), "bad")]
    made = Page(page("", "", answers))
    assert made.texts("h2") == ["good", "good"]
    assert made.texts("span", "right") == ["true class good ✓"] and made.texts("span", "wrong") == ["true class bad ✗"]
    assert made.texts("span", "e") == ["soup", "great"]
    assert Page(page("", "", [[Head("x", truth=("true class", "y"))]])).texts("p", "verdict") == ["true class y"]


def test_without_attention_there_is_the_text_alone():
    made = Page(DOCUMENTS.page([without_weights("so it goes")]))
    assert [*made.find("span", "w"), *made.find("span", "weight"), *made.find("input")] == []
    assert made.texts("p", "words") == ["so it goes"] and made.find("ol", "bare")
    text = STORIES.page([answer(hops=(), unknown=()), None])
    assert "1 story, 1 blank." in text and "(blank)" in text and "2 stories." in STORIES.page([ANSWER, ANSWER])
    assert not Page(text).find("td", "weight") and "Mary got the $x$." in text
    assert "dotted" not in text[text.index("</style>") :] and "hop" not in text[text.index("</style>") :]


# grids


def test_a_story_holds_every_weight_exactly_and_the_strongest_are_framed():
    made = Page(STORIES.page([answer(hops=((0.1 + 0.2, 1 / 3, 0.0),), probability=2 / 3)]))
    found = [float(attributes["data-weight"]) for _, attributes, _ in made.find("td", "weight")]
    assert found[:3] == [0.1 + 0.2, 1 / 3, 0.0] and found[3] == pytest.approx(1 - 0.3 - 1 / 3)
    assert [e[1]["data-probability"] for e in made.find("tr") if "data-probability" in e[1]] == ["0.75", "0.125"]
    assert made.texts("h2") == ["garden"]
    text = STORIES.page([long_answer(300, 5)])
    assert len(Page(text).find("td", "weight")) == 150
    assert "It is 5." in text and "150 more sentences, none with more than 0.00 in any hop" in text
    text = STORIES.page([ANSWER])
    made = Page(text)
    assert [attributes["data-weight"] for _, attributes, _ in made.find("td", "best")] == ["0.75", "0.375"]
    assert made.texts("span", "u") == ["<left>."] and "<hall>" not in text
    assert "hop 2" in text and "(empty memory)" in text and ANSWER.question in text
    assert '<tr class="question"><td></td><td></td><td class="name"' in text, "the question is below the sentences"
    assert "the strongest sentence of a hop is framed" in text and "went to empty places of the memory" in text


def test_a_grid_of_tokens_names_row_and_column_of_each_cell():
    made = Page(page("", "", [[Grid(["a", "<dog>"], ["ein", "hund"], [[0.9, 0.1], [0.2, 0.8]], true={(1, 1)})]]))
    assert [e[1]["data-tip"] for e in made.find("td", "weight")][-1] == "hund → <dog> 0.800"
    assert [e[1]["data-weight"] for e in made.find("td", "framed")] == ["0.8"]
    assert [e[1].get("scope") for e in made.find("th")] == ["col", "col", "row", "row"]
    short = Page(page("", "", [[Grid(["a"], ["ein"], [[1]])]]))
    assert made.find("thead", "turned") and not short.find("thead", "turned")


# the others


def test_rows_notes_blocks_side_by_side_and_explanations():
    blocks = [Head("x"), Beside(Rows([("a", "<b>")]), Rows([("n5", "1")], ["", "size"])), Note("<i>"), Block()]
    made = Page(page("", "", [blocks]))
    assert made.texts("td") == ["<b>", "size", "1"] and "<i>" in made.texts("p", "verdict")
    assert made.texts("th") == ["a", "", "n5"]
    assert len(made.find("div", "beside")) == 1
    key = Key("", "", "A sign has a meaning.")
    text = page("", "2 texts.", [[Note("a", keys=(key,))], [Note("b", keys=(key,))]])
    assert "2 texts. A sign has a meaning.</p>" in text
    assert "A sign" not in page("", "", [[Note("a")]])


def test_a_drawing_is_svg_with_places_to_point_at():
    drawing = Drawing(200, 100, "two points")
    drawing.disc("nodes", 50, 40, 14, "#0072b2")
    drawing.line("drops", [(0, 0), (50, 40)])
    drawing.rasters.append(Raster(0, 0, 9, 9, np.zeros((2, 2, 3))))  # only figures draw images
    drawing.write(50, 90, "<word>", turned=30)
    drawing.spots.append(Spot(50, 40, ["a phrase", "good 0.9"], {"label": "good"}))
    made = Page(page("", "", [[Drawn(drawing)]]))
    ((_, about, _),) = made.find("svg")
    assert (about["role"], about["aria-label"], about["viewbox"]) == ("img", "two points", "0 0 200 100")
    assert made.find("circle")[0][1]["style"] == "fill:#0072b2" and made.texts("text") == ["<word>"]
    assert made.find("text")[0][1]["transform"] == "rotate(-30 50.0 90.0)"
    assert "text-anchor:start" in made.find("text")[0][1]["style"]
    assert made.find("g", "drops")[0][1]["style"].endswith("stroke-width:0.9;stroke-dasharray:0.9 1.98")
    ((_, spot, _),) = made.find("span", "spot")
    assert spot["aria-label"] == "a phrase\ngood 0.9" and spot["tabindex"] == "0" and spot["data-label"] == "good"
    assert spot["style"] == "left:50.0px;top:40.0px"
    drawing.spots.append(Spot(150, 90, ["x" * 40], {}))
    made = Page(page("", "", [[Drawn(drawing)]]))
    kinds = [about["class"] for _, about, _ in made.find("span", "spot")]
    assert kinds == ["spot", "spot late low"], "facts are above a place where there is room: 65 pixels for two lines"
    assert made.find("div", "drawn")[0][1]["style"] == "min-height:105px", "else there is room below"


# safety, and light and dark


def evil():
    sentences = (AttendedSentence(EVIL, 1.0, (1 / len(EVIL),) * len(EVIL)),)
    document = prediction(EVIL[0], {EVIL[0]: 0.5, EVIL[3]: 0.5}, sentences)
    grids = [Grid(EVIL, EVIL, [[0.1] * len(EVIL)] * len(EVIL), sentences=on, asked=EVIL[0]) for on in (True, False)]
    drawing = Drawing(9, 9, EVIL[0], spots=[Spot(1, 1, EVIL, {"label": EVIL[3]})])
    drawing.write(1, 1, EVIL[0])
    tree = Tree(replace(grown(len(EVIL), "balanced"), words=EVIL, unknown=(0,)))
    others = [Rows([(EVIL[0], EVIL[3])]), Note(EVIL[2]), Drawn(drawing), tree]
    return [*answer_blocks(document, EVIL[1]), *grids, *others]


def test_texts_stay_texts_and_nothing_is_loaded():
    text = page("</title>" + EVIL[0], EVIL[1], [evil()])
    made = Page(text)
    assert [word for word, _ in weights(made)[0]] == list(EVIL)
    assert made.texts("h2")[0] == EVIL[0] and made.obeys_nothing() and made.find("img") == []
    text = page("a", "b", [evil()])
    assert not re.search(r"src=|@import|url\(|<link", text[: text.index("<body>")])
    policy = next(e[1]["content"] for e in Page(text).find("meta") if "http-equiv" in e[1])
    assert policy == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    DOCUMENTS.page([without_weights("\ud800 \x00 \x1b")]).encode("utf-8")


def test_everything_is_readable_in_light_and_dark():
    palettes = colours(DOCUMENTS.page([prediction()]))
    assert len(palettes) == 2
    light, dark = (contrast(palette["card"], (1.0, 1.0, 1.0)) for palette in palettes)
    assert light < 1.5 and dark > 10
    for palette in palettes:
        assert set(PALETTE) <= set(palette), "a drawing uses these colours"
        for name in ("ink", "soft", "good", "wrong"):
            assert contrast(palette[name], palette["card"]) >= 4.5, name
        assert contrast(palette["ink"], palette["attention"]) >= 4.5, "the darkest shade"


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here to open the page in")
class TestInTheBrowser:
    def test_a_script_in_a_review_does_not_run(self, tmp_path):
        text = page("calm", "", [evil()]).replace("</h1>", "</h1><script>document.title='run'</script>")
        shown = Page(browse(tmp_path, text, "--dump-dom"))
        assert shown.texts("title")[0] == "calm"  # escaped; and the policy stops a real one

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
        text = re.sub(r"<meta http-equiv[^>]*>", "", DOCUMENTS.page([prediction()])).replace("</body>", script)
        shades, bars = json.loads(Page(browse(tmp_path, text, "--dump-dom")).texts("title")[0])
        sat = {by: float(re.findall(r"[\d.]+", values[5])[3]) for by, values in shades.items()}
        assert sat == pytest.approx({"paper": 0.4, "joint": 0.3, "word": 0.533}, abs=0.01)
        assert bars[1] / bars[0] == pytest.approx(0.36 / 0.64, rel=0.01)

    @pytest.mark.parametrize("width", [400, 1100])
    def test_nothing_is_wider_than_the_window(self, tmp_path, width):
        script = "<script>document.title = document.documentElement.scrollWidth - innerWidth</script></body>"
        classes = Classes({"a very long name of a class that does not fit on one line of a telephone": 0.5, "b": 0.5})
        answers = [[Head("x" * 300, classes=classes)], answer_blocks(prediction())]
        answers += [STORIES.blocks(ANSWER), [Grid(["a"], ["x" * 30] * 80, [[0.5] * 80])]]
        text = re.sub(r"<meta http-equiv[^>]*>", "", page("", "", answers)).replace("</body>", script)
        shown = Page(browse(tmp_path, text, f"--window-size={width},900", "--dump-dom"))
        assert int(shown.texts("title")[0]) <= 0
