"""Trees on a page: every word and every node once, what is read by pointing at them, and that texts stay texts."""

import json
import re
import subprocess
from dataclasses import replace

import pytest

from tests.visualize.test_document_page import CHROMIUM, EVIL, Page, colours, contrast
from tests.visualize.trees import FINE, PAIR, TEXT, examined, grown, prediction, read
from zoo.tasks.relatedness import ExaminedPair
from zoo.tasks.trees import ReadTree
from zoo.visualize import page
from zoo.visualize.drawing import DPI
from zoo.visualize.tree_layout import laid_out
from zoo.visualize.tree_marks import marks
from zoo.visualize.tree_page import (
    GAP,
    MOST_COLUMNS,
    MOST_LEVELS,
    STYLE,
    about_pairs,
    about_trees,
    article,
    pair_article,
    written,
)
from zoo.visualize.tree_sheet import Letters

KINDS = ("halo", "gap")


def words_of(made):
    """The words under the tree."""
    return [text for _, about, text in made.find("text") if "sign" not in about.get("class", "")]


def nodes_of(made):
    """What is told of each node."""
    return [about for _, about, _ in made.find("span", "node")]


def test_every_word_stands_there_once_and_every_node_is_told_of_once():
    said = prediction()
    made = Page(article(said))
    assert words_of(made) == list(said.tree.words)
    tips = [about["aria-label"].split("\n") for about in nodes_of(made)]
    assert len(tips) == len(said.labels)
    layout = laid_out(said.tree)
    for node, tip in zip(layout.nodes, tips, strict=True):
        assert tip == [layout.family.phrase(node, said.tree.words), f"{said.labels[node]} {said.confidence[node]:.3f}"]
    assert ["bad", "very negative 0.509"] in tips
    assert [e[2] for e in made.find("h2")] == ["positive"]
    assert "probability 0.750" in [e[2] for e in made.find("p", "verdict")]


def test_true_classes_and_attention_are_read_by_pointing():
    weights = (0.5, 0.25, 0.25, *[0.0] * 10)
    tree = replace(prediction().tree, weights=weights, unknown=(1,))
    one = examined(wrong=[0, 9], tree=tree, labels=prediction().labels)
    made = Page(article(one.prediction, one))
    told = {about["aria-label"].split("\n")[0]: about["aria-label"].split("\n")[1:] for about in nodes_of(made)}
    assert told["The film was not bad at all"] == ["very positive 0.500", "true class neutral", "attention 0.5"]
    assert told["film"] == ["neutral 0.503", "true class neutral ✓", "attention 0", "unknown to the network"]
    assert [e[2] for e in made.find("span", "wrong")] == ["true class neutral ✗"]
    assert len(made.find("circle", "true")) == 2, "beside the discs of the nodes that are wrong"
    assert [e[2] for e in made.find("text", "unknown")] == ["film"]
    assert [e[2] for e in Page(article(examined().prediction, examined())).find("span", "right")]


def test_a_node_without_a_true_class_tells_of_none():
    one = examined()
    made = Page(article(one.prediction, replace(one, labels=(one.labels[0], *[None] * 12))))
    assert ["true class" in about["aria-label"] for about in nodes_of(made)] == [True, *[False] * 12]
    assert made.find("circle", "true") == []


def test_programs_read_every_number_exactly():
    tree = replace(prediction().tree, weights=(1 / 3, 2 / 3, *[0.0] * 11))
    said = replace(prediction(tree, prediction().labels), confidence=tuple(1 / n for n in range(2, 15)))
    made, order = Page(article(said)), laid_out(tree).nodes
    about = nodes_of(made)
    assert [float(one["data-weight"]) for one in about] == [tree.weights[node] for node in order]
    assert [float(one["data-probability"]) for one in about] == [said.confidence[node] for node in order]
    assert [one["data-label"] for one in about] == [said.labels[node] for node in order]
    assert [float(e[1]["data-probability"]) for e in made.find("tr")] == list(said.probabilities.values())


def test_discs_have_the_colours_and_signs_of_their_classes():
    said, known = prediction(), marks(FINE)
    made, order = Page(article(said)), laid_out(prediction().tree).nodes
    assert [e[1]["fill"] for e in made.find("circle", "disc")] == [known[said.labels[node]].colour for node in order]
    assert [e[2] for e in made.find("text", "sign")] == [known[said.labels[node]].drawn for node in order]
    assert [e[2] for e in made.find("i")] == ["−−", "−", "0", "+", "++"], "the key"


def test_what_is_told_lies_over_its_disc():
    made = Page(article(prediction()))
    discs = [(e[1]["cx"], e[1]["cy"]) for e in made.find("circle", "disc")]
    over = [re.findall(r"[\d.]+", about["style"]) for about in nodes_of(made)]
    assert [tuple(map(float, place)) for place in over] == [tuple(map(float, place)) for place in discs]


def test_halos_are_as_large_as_the_attention_is_high():
    tree = replace(prediction().tree, weights=(0.5, 0.25, 0.25, *[0.0] * 10))
    made = Page(article(prediction(tree, prediction().labels)))
    halos, gaps = ([(e[1]["cx"], e[1]["cy"], float(e[1]["r"])) for e in made.find("circle", kind)] for kind in KINDS)
    assert [place[:2] for place in halos] == [place[:2] for place in gaps]
    assert all(gap > 12 for _, _, gap in gaps), "a class as yellow as a halo stays apart from it"
    rings = [halo**2 - gap**2 for (_, _, halo), (_, _, gap) in zip(halos, gaps, strict=True)]
    assert [ring / rings[0] for ring in rings] == pytest.approx([1, 0.5, 0.5], abs=0.01)
    assert made.find("path")[0][1]["d"] and made.elements.index(made.find("path")[0]) > made.elements.index(
        made.find("circle", "gap")[-1]
    ), "below the edges"
    assert "The largest halo is an attention of 0.5." in [e[2] for e in made.find("p", "verdict")]
    bare = article(prediction())
    assert Page(bare).find("circle", "halo") == Page(bare).find("circle", "gap") == [] and "largest" not in bare


def test_the_sentence_stands_above_the_tree():
    said = prediction(replace(prediction().tree, words=("<b>", *prediction().tree.words[1:]), unknown=(0, 4)))
    html = article(said)
    line = '<span class="u">&lt;b&gt;</span> film was not <span class="u">bad</span> at all'
    assert f'<p class="sentence" dir="auto">{line}</p>' in html
    assert html.index('class="sentence"') < html.index("<svg")
    assert len(Page(pair_article(PAIR)).find("p", "sentence")) == 2


def test_who_listens_hears_what_is_seen_by_pointing():
    made = Page(article(prediction()))
    assert [(e[1]["role"], e[1]["aria-label"]) for e in made.find("svg")] == [
        ("img", "positive: The film was not bad at all")
    ]
    for about in nodes_of(made):
        assert (about["role"], about["tabindex"]) == ("img", "0")
        assert about["aria-label"].count("\n") == 1, "the phrase and its class"
    first, second = Page(pair_article(PAIR)).find("svg")
    assert (first[1]["aria-label"], second[1]["aria-label"]) == ("A brown dog is running", "The cat <runs>")


@pytest.mark.parametrize(
    "word", ["swimming", "mmm", "WWWW", "WONDERFUL", "@home", "I'll", "awkwardly", "2008", "of", "…"]
)
def test_words_are_given_the_room_that_a_wide_font_needs(word):
    """DejaVu Sans at 14 pixels, measured ten times as large, where nothing is rounded."""
    letters = Letters(iter([word]))
    assert written(word) + 0.5 * GAP >= letters.width(word, 140 * 72 / DPI) * DPI / 10


def test_two_signs_are_smaller_in_a_small_disc():
    one = examined(wrong=[9])
    turned = replace(one, labels=tuple("very positive" if label == "neutral" else label for label in one.labels))
    sizes = {
        len(e[2]): float(re.findall(r"font-size:([\d.]+)px", e[1]["style"])[0])
        for said in (one, turned)
        for e in Page(article(said.prediction, said)).find("text", "sign")
        if float(re.findall(r"font-size:([\d.]+)px", e[1]["style"])[0]) < 9
    }
    assert sizes[2] < sizes[1]
    assert 2 * 0.838 * sizes[2] < 0.8 * 15, "two bold signs of DejaVu Sans in a disc of 15 pixels"


def test_a_pair_has_both_trees_and_the_score():
    made = Page(pair_article(PAIR, ExaminedPair(0, PAIR, "4.5", 4.5)))
    assert words_of(made) == [*PAIR.first.words, *PAIR.second.words]
    assert len(made.find("svg")) == 2 and len(nodes_of(made)) == 8
    assert [e[2] for e in made.find("h2")] == ["4.25"]
    assert "of 1 to 5 · true score 4.5" in [e[2] for e in made.find("p", "verdict")]
    assert made.find("article")[0][1]["data-score"] == "4.25"
    assert [float(e[1]["data-probability"]) for e in made.find("tr")] == list(PAIR.probabilities.values())
    assert nodes_of(made)[0]["aria-label"] == "A brown dog is running", "no class: relatedness knows none"
    assert "attention 0.625" in made.find("span", "node")[5][1]["aria-label"]
    assert "true score" not in pair_article(PAIR)


def test_about_says_only_what_is_there():
    bare = prediction()
    weighed = prediction(replace(bare.tree, weights=(1 / 13,) * 13, unknown=(0,)), bare.labels)
    assert about_trees([bare, None], "text") == "1 text, 1 blank. Point at a node for its phrase and its class."
    assert about_trees([weighed], "text") == (
        "1 text. Point at a node for its phrase, its class and its attention. The area of the halo around a node is "
        "its attention. A dotted line is under words that the network does not know."
    )
    assert about_pairs([replace(PAIR, second=PAIR.first)], "pair") == "1 pair. Point at a node for its phrase."


def evil():
    tree = replace(grown(len(EVIL), "balanced"), words=EVIL, unknown=(0,))
    return prediction(tree, classes=(EVIL[0], EVIL[3]))


def test_texts_stay_texts():
    one = evil()
    made = Page(page.html("", [article(one, note=EVIL[1]), pair_article(replace(PAIR, first=one.tree))], style=STYLE))
    assert words_of(made)[: len(EVIL)] == [word if len(word) <= 40 else word[:39] + "…" for word in EVIL]
    assert made.find("h2")[0][2] == one.label and EVIL[1] in [e[2] for e in made.find("p", "verdict")]
    assert {about["data-label"] for about in nodes_of(made)[: len(one.labels)]} == {EVIL[0], EVIL[3]}
    assert [*made.find("script"), *made.find("img")] == []
    assert not [name for _, attributes, _ in made.elements for name in attributes if name.startswith("on")]


def test_loads_nothing():
    text = page.html("", [article(prediction()), pair_article(PAIR)], style=STYLE)
    assert not re.search(r"https?:|src=|href=|@import|url\(|<link|<script", text)


def test_can_be_written_whatever_the_text_holds():
    tree = replace(grown(2, "left"), words=("\ud800", "\x00\x1b"))
    article(prediction(tree)).encode("utf-8")


@pytest.mark.parametrize("inside", [False, True])
def test_a_tree_five_thousand_deep_is_folded_and_the_page_stays_small(inside):
    words = tuple(f"w{n}" for n in range(5000))
    parent, word = (-1, *range(4999)), tuple(range(5000))
    if not inside:
        parent, word = (*parent, *range(4999), 4999), (-1,) * 5000 + (*word, 0)
        parent, word = parent[:-1], word[:-1]
    html = article(prediction(ReadTree(words, parent, word, None)))
    made = Page(html)
    assert len(html) < 300_000
    assert len(nodes_of(made)) <= 2 * MOST_LEVELS <= 2 * MOST_COLUMNS
    assert "nodes are not drawn, but folded into the triangles" in html and made.find("path", "fold")
    assert "folded" not in article(prediction())


def test_no_words():
    assert "(no words)" in pair_article(replace(PAIR, first=ReadTree((), (), (), None)))
    assert words_of(Page(article(prediction(read("(2 a)")[0])))) == ["a"]


def test_what_is_written_is_readable_in_light_and_dark():
    text = page.html("", [article(prediction())], style=STYLE)
    for palette in colours(text):
        assert contrast(palette["ink"], palette["card"]) >= 4.5
        assert contrast(palette["prob"], palette["card"]) >= 3, "plain discs"


def opened(text, script, folder, width=1100):
    """What the script leaves in the title of the page, where nodes of the class `pointed` look as those in focus: which
    elements have the focus depends on the window, and a browser without one says so only sometimes."""
    text = text.replace(":focus", ".pointed")
    text = re.sub(r"<meta http-equiv[^>]*>", "", text).replace("</body>", script)
    (folder / "page.html").write_text(text, encoding="utf-8")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    command = [CHROMIUM, *options, f"--window-size={width},600", "--dump-dom", (folder / "page.html").as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    return json.loads(Page(dom).find("title")[0][2])


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here to open the page in")
@pytest.mark.parametrize(("width", "words"), [(500, 60), (1000, 6), (1100, 6), (1100, 60)])
def test_in_the_browser_what_is_told_is_on_the_screen_and_names_do_not_break(tmp_path, width, words):
    script = """<script>
      const out = [];
      for (const node of document.querySelectorAll('.node')) {
        node.classList.add('pointed');
        const box = node.closest('.grown').getBoundingClientRect(), at = node.getBoundingClientRect();
        const told = getComputedStyle(node, '::after');
        const wide = ['width', 'paddingLeft', 'paddingRight'].reduce((sum, name) => sum + parseFloat(told[name]), 0);
        const left = told.position == 'fixed' ? 16 : node.classList.contains('late') ? at.right - wide : at.left;
        const edges = told.position == 'fixed' ? [0, innerWidth] : [box.left, box.right];
        out.push([told.position, left - edges[0], edges[1] - left - wide]);
      }
      const high = [...document.querySelectorAll('.classes th')].map(name => name.getBoundingClientRect().height);
      const style = getComputedStyle(document.querySelector('.predicted th'));
      document.title = JSON.stringify([out, Math.max(...high), style.fontWeight,
        document.documentElement.scrollWidth - innerWidth]);
    </script></body>"""
    tree = replace(grown(words, "balanced"), words=tuple(f"remarkable{number}" for number in range(words)))
    names = ("a very long name of a class that would not fit on one line of a telephone", "b")
    text = page.html("", [article(prediction(tree, classes=names))], style=STYLE)
    told, highest, weight, over = opened(text, script, tmp_path, width)
    assert {place for place, _, _ in told} == {"fixed" if width < 1024 or words == 60 else "absolute"}
    assert all(min(left, right) >= 0 for _, left, right in told), told
    assert highest < 32 and weight == "700" and over <= 0


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here to open the page in")
def test_in_the_browser_what_is_told_is_whole_and_words_do_not_touch(tmp_path):
    script = """<script>
      const out = [];
      for (const box of document.querySelectorAll('.grown')) {
        for (const node of box.querySelectorAll('.node')) {
          node.classList.add('pointed');
          const edge = box.getBoundingClientRect(), at = node.getBoundingClientRect();
          const told = getComputedStyle(node, '::after');
          const high = ['height', 'paddingTop', 'paddingBottom'].reduce((sum, name) => sum + parseFloat(told[name]), 0);
          const top = node.classList.contains('low') ? at.top - 5 - high : at.bottom + 5;
          out.push([told.content, high, top - edge.top, edge.bottom - top - high]);
        }
      }
      const words = [...document.querySelectorAll('svg text:not(.sign)')].map(w => w.getBoundingClientRect());
      const touching = words.slice(1).filter((w, n) => w.top == words[n].top && w.left < words[n].right).length;
      document.title = JSON.stringify([out, touching]);
    </script></body>"""
    weights = (1 / 13,) * 13
    one = examined(wrong=[0, 9], tree=replace(read(TEXT)[0], weights=weights, unknown=(1,)), labels=prediction().labels)
    text = page.html("", [article(one.prediction, one), pair_article(PAIR)], style=STYLE)
    told, touching = opened(text, script, tmp_path)
    assert [content.startswith('"') for content, *_ in told] == [True] * (13 + 8)
    assert all(high > 15 and above >= 0 and below >= 0 for _, high, above, below in told), told
    assert touching == 0
