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
from zoo.visualize.tree_layout import laid_out
from zoo.visualize.tree_marks import marks
from zoo.visualize.tree_page import MOST_COLUMNS, MOST_LEVELS, STYLE, about_pairs, about_trees, article, pair_article


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
    tips = [about["data-tip"].split("\n") for about in nodes_of(made)]
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
    told = {about["data-tip"].split("\n")[0]: about["data-tip"].split("\n")[1:] for about in nodes_of(made)}
    assert told["The film was not bad at all"] == ["very positive 0.500", "true class neutral", "attention 0.5"]
    assert told["film"] == ["neutral 0.503", "true class neutral ✓", "attention 0", "unknown to the network"]
    assert [e[2] for e in made.find("span", "wrong")] == ["true class neutral ✗"]
    assert len(made.find("circle", "true")) == 2, "beside the discs of the nodes that are wrong"
    assert [e[2] for e in made.find("text", "unknown")] == ["film"]
    assert [e[2] for e in Page(article(examined().prediction, examined())).find("span", "right")]


def test_a_node_without_a_true_class_tells_of_none():
    one = examined()
    made = Page(article(one.prediction, replace(one, labels=(one.labels[0], *[None] * 12))))
    assert ["true class" in about["data-tip"] for about in nodes_of(made)] == [True, *[False] * 12]
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
    rings = [float(e[1]["r"]) ** 2 - 12**2 for e in made.find("circle", "halo")]
    assert [ring / rings[0] for ring in rings] == pytest.approx([1, 0.5, 0.5], abs=0.01)
    assert Page(article(prediction())).find("circle", "halo") == []


def test_a_pair_has_both_trees_and_the_score():
    made = Page(pair_article(PAIR, ExaminedPair(0, PAIR, "4.5", 4.5)))
    assert words_of(made) == [*PAIR.first.words, *PAIR.second.words]
    assert len(made.find("svg")) == 2 and len(nodes_of(made)) == 8
    assert [e[2] for e in made.find("h2")] == ["4.25"]
    assert "of 1 to 5 · true score 4.5" in [e[2] for e in made.find("p", "verdict")]
    assert made.find("article")[0][1]["data-score"] == "4.25"
    assert [float(e[1]["data-probability"]) for e in made.find("tr")] == list(PAIR.probabilities.values())
    assert nodes_of(made)[0]["data-tip"] == "A brown dog is running", "no class: relatedness knows none"
    assert "attention 0.625" in made.find("span", "node")[5][1]["data-tip"]
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


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here to open the page in")
def test_in_the_browser_what_is_told_is_whole_and_words_do_not_touch(tmp_path):
    script = """<script>
      const out = [];
      for (const box of document.querySelectorAll('.grown')) {
        for (const node of box.querySelectorAll('.node')) {
          node.focus({preventScroll: true});
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
    text = re.sub(r"<meta http-equiv[^>]*>", "", text).replace("</body>", script)
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command = [CHROMIUM, *options, "--dump-dom", (tmp_path / "page.html").as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    told, touching = json.loads(Page(dom).find("title")[0][2])
    assert [content.startswith('"') for content, *_ in told] == [True] * (13 + 8)
    assert all(high > 15 and above >= 0 and below >= 0 for _, high, above, below in told), told
    assert touching == 0
