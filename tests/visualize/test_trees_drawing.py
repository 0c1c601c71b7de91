"""Trees on pages and in pictures: every word and node once, signs, halos, rings, folds, and texts that stay texts."""

import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from tests.visualize.reading import CHROMIUM, Page, browse, collection, place_of, shapes, texts, written
from tests.visualize.test_figure import touching
from tests.visualize.trees import FINE, PAIR, TEXT, dependency, examined, grown, prediction, read
from zoo.predicting.relatedness import ExaminedPair
from zoo.predicting.tree_classification import ExaminedTree
from zoo.predicting.trees import ReadTree
from zoo.visualize.letters import PIXELS, Letters
from zoo.visualize.relatedness import LEAST_SIMILAR, MOST_LINKS, RelatednessView, linked_nodes
from zoo.visualize.renderers.page import page
from zoo.visualize.tree_classification import TreeClassificationView
from zoo.visualize.trees.drawing import MOST_ON_PAGE, RADIUS, WIDEST, tree_drawing
from zoo.visualize.trees.layout import laid_out
from zoo.visualize.trees.marks import marks

TREES, PAIRS = TreeClassificationView(), RelatednessView()
MARKS = marks(FINE)


def picture(said, one=None):
    return TREES.picture(said, one)


def of(one):
    return TREES.picture(one.prediction, one)


def discs(figure, layout):
    """Where the disc of each node is, and its colour."""
    found = [(at, colour) for at, width, colour in shapes(figure, "nodes") if abs(width / 2 - RADIUS) < 1e-6]
    return dict(zip(layout.nodes, found, strict=True))


def nodes_of(made):
    """The attributes of the spot of each node."""
    return [about for _, about, _ in made.find("span", "spot")]


def words_of(made, tree):
    return [text for text in made.texts("text") if text in tree.words]


# pictures


def test_each_node_is_a_disc_of_its_class_and_each_word_below():
    said = prediction()
    figure, layout = picture(said), laid_out(said.tree)
    for node, (at, colour) in discs(figure, layout).items():
        mark = MARKS[said.labels[node]]
        assert colour == pytest.approx(to_rgb(mark.colour))
        (sign,) = [text for text in written(figure) if np.allclose(text.get_position(), at, atol=8)]
        assert sign.get_text() == mark.drawn
    places = {text.get_text(): text.get_position() for text in written(figure) if text.get_text() in said.tree.words}
    assert list(places) == list(said.tree.words) and len({y for _, y in places.values()}) == 1
    assert [x for x, _ in places.values()] == sorted(x for x, _ in places.values())
    for word, (x, y) in places.items():
        (at_x, at_y), _ = discs(figure, layout)[said.tree.word.index(said.tree.words.index(word))]
        assert at_x == pytest.approx(x) and y > at_y + RADIUS
    at = {node: place for node, (place, _) in discs(figure, layout).items()}
    ends = [(tuple(line[0]), tuple(line[-1])) for line in collection(figure, "edges").get_segments()]
    expected = [(at[above], at[node]) for node in layout.nodes if (above := said.tree.parent[node]) >= 0]
    np.testing.assert_allclose(ends, expected)


def test_the_head_has_class_probability_truth_and_the_key_to_the_signs():
    shown = texts(picture(prediction()))
    assert {"predicted", "positive", "probability 0.75", "0.75", "0.06", *FINE} <= set(shown)
    assert not any("true class" in text for text in shown)
    assert "✓ true class positive" in texts(of(examined())) and "✗ true class neutral" in texts(of(examined(wrong=[0])))


def test_a_smaller_disc_has_the_true_class_where_another_was_predicted():
    one = examined(wrong=[6, 9])
    figure = of(one)
    at = discs(figure, laid_out(one.prediction.tree))
    small = [shape for shape in shapes(figure, "small nodes") if shape[1] > 12]  # but for that of the key
    assert len(small) == 2
    for node, (place, _, colour) in zip((6, 9), small, strict=True):
        assert colour == pytest.approx(to_rgb(MARKS["neutral"].colour))
        assert at[node][1] == pytest.approx(to_rgb(MARKS["very positive"].colour))
        np.testing.assert_allclose(place, np.add(at[node][0], (RADIUS * 0.85, -RADIUS * 0.85)))
    assert "small disc: true class" in texts(figure)
    unlabelled = replace(examined(), labels=(examined().labels[0], *[None] * 12))
    for bare in (of(examined()), of(unlabelled)):
        assert shapes(bare, "small nodes") == [] and "small disc: true class" not in texts(bare)


@pytest.mark.parametrize("weights", [None, (0.5, *[0.0] * 8, 0.5, *[0.0] * 3)])
def test_evidence_has_a_ring_outside_its_halo(weights):
    tree = replace(prediction().tree, weights=weights)
    one = examined(evidence=[7, 9], tree=tree, labels=prediction().labels)
    figure = of(one)
    at = discs(figure, laid_out(one.prediction.tree))
    rings = [(place, width) for place, width, _ in shapes(figure, "rings") if width > 2 * RADIUS]
    np.testing.assert_allclose([place for place, _ in rings], [at[7][0], at[9][0]])
    assert set(collection(figure, "rings").get_facecolor()[:, 3]) <= {0}, "what is below stays visible"
    halos = [width for place, width, _ in shapes(figure, "halos") if np.allclose(place, at[9][0])]
    assert rings[1][1] > max([2 * RADIUS, *halos]) and len(halos) == (weights is not None)
    assert "shows the true class" in texts(figure) and "shows the true class" not in texts(of(examined()))


def test_halos_are_as_large_as_the_attention_is_high_and_off_the_words():
    weights = (0.5, 0.0, 0.0, 0.0, 0.25, 0.125, 0.125, *[0.0] * 6)
    said = prediction(replace(prediction().tree, weights=weights), prediction().labels)
    figure = picture(said)
    at = discs(figure, laid_out(said.tree))
    halos, gaps = ([s for s in shapes(figure, kind) if s[1] > 2 * RADIUS] for kind in ("halos", "gaps"))
    np.testing.assert_allclose([place for place, _, _ in halos], [at[node][0] for node in (0, 4, 5, 6)])
    np.testing.assert_allclose([place for place, _, _ in gaps], [place for place, _, _ in halos])
    rings = [(halo / 2) ** 2 - (gap / 2) ** 2 for (_, halo, _), (_, gap, _) in zip(halos, gaps, strict=True)]
    np.testing.assert_allclose(np.array(rings) / rings[0], [1, 0.5, 0.25, 0.25])
    assert "attention: the halo's area (largest 0.5)" in texts(figure)
    levels = [collection(figure, kind).get_zorder() for kind in ("halos", "gaps", "edges", "nodes")]
    assert levels == sorted(levels) and len(set(levels)) == 4
    bare = picture(prediction())
    assert shapes(bare, "halos") == shapes(bare, "gaps") == [] and not any("halo" in text for text in texts(bare))
    said = prediction(replace(prediction().tree, weights=(*[0.0] * 12, 1.0)), prediction().labels)
    figure = picture(said)
    lowest = max(y + width / 2 for (_, y), width, _ in shapes(figure, "halos") if width > 2 * RADIUS)
    assert place_of(figure, "all")[1] - 14 > lowest - 2


@pytest.mark.parametrize("classes", [FINE, tuple(map(str, range(99, 104)))])
def test_signs_stay_in_their_discs(classes):
    one = prediction(grown(5, "balanced"), classes=classes)
    figure = picture(one, ExaminedTree(0, one, None, one.labels[1:] + one.labels[:1], None))
    renderer, scale = figure.canvas.get_renderer(), PIXELS / figure.dpi
    drawn = [mark.drawn for mark in marks(classes).values()]
    signs = [text for text in written(figure) if text.get_text() in drawn and text.get_weight() == "bold"]
    small = 0
    for place, width, _ in [*shapes(figure, "nodes"), *shapes(figure, "small nodes")]:
        for text in signs:
            if np.hypot(*np.subtract(text.get_position(), place)) < 6:
                small += width < 2 * RADIUS
                assert text.get_window_extent(renderer).width * scale < 0.86 * width
    assert small > 5


def test_unknown_words_have_a_dotted_line_and_long_ones_are_cut():
    said = prediction(replace(prediction().tree, unknown=(1,)), prediction().labels)
    figure = picture(said)
    x, y = place_of(figure, "film")
    line = collection(figure, "unknown").get_segments()[0]
    assert line[:, 0].mean() == pytest.approx(x) and 2 < line[0][1] - y < 12
    assert "unknown to the network" in texts(figure) and collection(picture(prediction()), "unknown") is None
    tree = ReadTree(("x" * 100_000, "y"), (-1, 0, 0), (-1, 0, 1), None)
    (cut,) = [text for text in texts(picture(prediction(tree))) if text.startswith("xxx")]
    assert cut.endswith("…") and len(cut) < 60


@pytest.mark.parametrize("words", [1, 8, 24, 40])
def test_words_do_not_touch_and_the_picture_is_not_too_wide(words):
    said = prediction(grown(words, "balanced"))
    figure = picture(said)
    shown = [text for text in written(figure) if text.get_text() in said.tree.words]
    assert len(shown) == words and {text.get_rotation() > 30 for text in shown} == {words == 40}
    assert touching(figure) == [] and figure.get_size_inches()[0] * PIXELS <= WIDEST + 70
    boxes = [text.get_window_extent(figure.canvas.get_renderer()) for text in shown]
    assert words == 40 or all(one.x1 < other.x0 for one, other in pairwise(boxes))
    assert min(box.y0 for box in boxes) > 0.2 * figure.dpi, "on the picture"


LARGE = {"wide": grown(300, "balanced"), "deep": grown(300, "right"), "words": grown(300, "left", inside=True)}


@pytest.mark.parametrize("tree", LARGE.values(), ids=LARGE)
def test_what_does_not_fit_is_folded_and_said(tree):
    weighed = replace(tree, weights=(1 / len(tree.parent),) * len(tree.parent))
    figure = picture(prediction(weighed))
    width, height = figure.get_size_inches() * PIXELS
    assert width <= WIDEST + 70 and height <= 1152
    (note,) = [text for text in texts(figure) if "folded" in text]
    missing = len(tree.parent) - len(shapes(figure, "nodes")) + len(FINE) + 1
    assert note.startswith(f"{missing:,} of {len(tree.parent):,} nodes are not drawn, but folded into the triangles; ")
    assert note.endswith(f"they have {missing / len(tree.parent):.2f} of the attention")
    assert shapes(figure, "folds") and not [text for text in texts(picture(prediction())) if "folded" in text]


@pytest.mark.parametrize("inside", [False, True])
def test_a_tree_five_thousand_deep_is_drawn_and_its_page_stays_small(inside):
    words = tuple(f"w{n}" for n in range(5000))
    parent, word = (-1, *range(4999)), tuple(range(5000))
    if not inside:
        parent, word = (*parent, *range(4999)), (-1,) * 5000 + word[1:]
    said = prediction(ReadTree(words, parent, word, None))
    assert sum(picture(said).get_size_inches()) < 24
    text = TREES.page([said])
    assert len(text) < 320_000 and len(nodes_of(Page(text))) <= 2 * MOST_ON_PAGE[1]
    assert "nodes are not drawn, but folded into the triangles" in text
    assert "folded" not in TREES.page([prediction()])


def test_a_dependency_tree_has_a_line_from_each_node_to_its_word():
    said = prediction(dependency("a big dog barks", (2, 2, 3, -1)))
    figure = picture(said)
    at = discs(figure, laid_out(said.tree))
    drops = collection(figure, "drops").get_segments()
    words = [text.get_position()[0] for text in written(figure) if text.get_text() in said.tree.words]
    assert [line[0][0] for line in drops] == [line[-1][0] for line in drops] == words
    assert [at[node][0][0] for node in range(4)] == words
    assert at[3][0][1] < at[2][0][1] < at[0][0][1] == at[1][0][1]


# pages


def test_a_tree_of_a_page_has_each_word_once_with_room_and_the_facts_of_each_node():
    said = prediction()
    made = Page(TREES.page([said]))
    assert words_of(made, said.tree) == list(said.tree.words)
    tips = [about["aria-label"].split("\n") for about in nodes_of(made)]
    layout = laid_out(said.tree)
    for node, tip in zip(layout.nodes, tips, strict=True):
        assert tip == [layout.family.phrase(node, said.tree.words), f"{said.labels[node]} {said.confidence[node]:.3f}"]
    assert ["bad", "very negative 0.509"] in tips and made.texts("h2") == ["positive"]
    assert made.find("svg")[0][1]["aria-label"] == "positive: The film was not bad at all"
    assert all((about["role"], about["tabindex"]) == ("img", "0") for about in nodes_of(made))
    drawing = tree_drawing(TREES.blocks(prediction(read(TEXT)[0]))[1], Letters(for_page=True))
    labels = [label for label in drawing.labels if label.text in prediction().tree.words]
    for one, other in pairwise(labels):
        room = (Letters(for_page=True).width(one.text, 14) + Letters(for_page=True).width(other.text, 14)) / 2
        assert other.x - one.x > room


def test_true_classes_and_attention_are_read_by_pointing():
    tree = replace(prediction().tree, weights=(1 / 13,) * 13, unknown=(4,))
    one = examined(wrong=[9], tree=tree, labels=prediction().labels)
    made = Page(page("", "", [TREES.blocks(one.prediction, one)]))
    (bad,) = [about for about in nodes_of(made) if about["aria-label"].startswith("bad\n")]
    facts = "very positive 0.509", "true class neutral", "attention 0.07692", "unknown to the network"
    assert tuple(bad["aria-label"].split("\n")[1:]) == facts
    assert (bad["data-label"], bad["data-true"], float(bad["data-weight"])) == ("very positive", "neutral", 1 / 13)
    assert float(bad["data-probability"]) == one.prediction.confidence[9]
    right = [about["aria-label"] for about in nodes_of(made) if about["aria-label"].startswith("film\n")]
    assert "true class neutral ✓" in right[0]


def test_the_sentence_is_above_the_tree_and_the_spots_are_over_the_discs():
    said = prediction(replace(prediction().tree, words=("<b>", *prediction().tree.words[1:]), unknown=(0, 4)))
    text = TREES.page([said])
    line = '<span class="u">&lt;b&gt;</span> film was not <span class="u">bad</span> at all'
    assert f'<p class="sentence" dir="auto">{line}</p>' in text and text.index('class="sentence"') < text.index("<svg")
    made = Page(text)
    circles = {(e[1]["cx"], e[1]["cy"]) for e in made.find("circle")}
    assert {tuple(re.findall(r"[\d.]+", about["style"])) for about in nodes_of(made)} == circles
    assert made.texts("i") == ["−−", "−", "0", "+", "++"], "the key"


def test_a_page_explains_only_what_is_there():
    weighed = prediction(replace(prediction().tree, weights=(1 / 13,) * 13, unknown=(0,)), prediction().labels)
    (about,) = Page(TREES.page([prediction(), None])).texts("p", "about")
    assert about == "1 text, 1 blank. Point at a node for its phrase and its class."
    (about,) = Page(TREES.page([weighed])).texts("p", "about")
    assert about.startswith("1 text. Point at a node for its phrase, its class and its attention. The area of the ")
    assert about.endswith("A dotted line is under words that the network does not know.")
    assert "The largest halo is an attention of 0.077." in Page(TREES.page([weighed])).texts("p", "verdict")
    assert "(no words)" in PAIRS.page([replace(PAIR, first=ReadTree((), (), (), None))])
    assert "(no words)" in texts(PAIRS.picture(replace(PAIR, first=ReadTree((), (), (), None))))
    assert "a" in texts(picture(prediction(read("(2 a)")[0])))


# pairs


def test_a_pair_is_two_trees_below_each_other_with_scores():
    figure = PAIRS.picture(PAIR, ExaminedPair(0, PAIR, "4.5", 4.5))
    shown = texts(figure)
    assert {"relatedness", "4.25", "of 1 to 5", "true score 4.5", "0.12", "0.50", "0.38"} <= set(shown)
    first, second = ([place_of(figure, word)[1] for word in tree.words] for tree in (PAIR.first, PAIR.second))
    assert max(first) < min(second) and len(shapes(figure, "nodes")) >= 8
    assert not any("true score" in text for text in texts(PAIRS.picture(PAIR)))
    assert "true score 0" in texts(PAIRS.picture(PAIR, ExaminedPair(0, PAIR, "0", 0.0))), "a score of zero is a score"
    made = Page(PAIRS.page([PAIR]))
    assert made.texts("h2") == ["4.25"] and made.find("article")[0][1]["data-score"] == "4.25"
    assert nodes_of(made)[0]["aria-label"] == "A brown dog is running", "no class: relatedness has none"


ALIKE = replace(
    PAIR,
    first=dependency("a dog runs", (1, 2, -1)),
    second=dependency("the dog sleeps", (1, 2, -1)),
    similarity=((0.2, 0.1, 0.0), (0.3, 0.9, 0.1), (0.0, 0.1, 1.0)),
)


def test_links_are_strong_few_and_not_inside_each_other():
    (link,) = linked_nodes(ALIKE)
    assert (link.nodes, link.phrases) == ((1, 1), ("a dog", "the dog"))
    assert link.cosine == 0.9, "the roots, which have 1.0, are compared by the network itself"
    figure = PAIRS.picture(ALIKE)
    assert texts(figure).count("A") == 2 and "a dog  ~  the dog" in texts(figure)
    tips = [about["aria-label"] for about in nodes_of(Page(PAIRS.page([ALIKE])))]
    assert "a dog\nA: like “the dog”, cosine 0.90" in tips and "the dog\nA: like “a dog”, cosine 0.90" in tips
    count = 30
    flat = dependency(" ".join(f"w{n}" for n in range(count)), (*[count - 1] * (count - 1), -1))
    same = tuple(tuple(float(i == j) for j in range(count)) for i in range(count))
    assert len(linked_nodes(replace(ALIKE, first=flat, second=flat, similarity=same))) == MOST_LINKS
    weak = tuple(tuple(LEAST_SIMILAR - 0.01 for _ in range(3)) for _ in range(3))
    assert linked_nodes(replace(ALIKE, similarity=weak)) == []
    chain = dependency("a b c", (1, 2, -1))
    ones = tuple((1.0,) * 3 for _ in range(3))
    (only,) = linked_nodes(replace(ALIKE, first=chain, second=chain, similarity=ones))
    assert only.nodes == (1, 1), "the wider phrase, and not the word inside it"


def test_without_states_shared_words_are_shown_and_said_to_be_no_more():
    shared = replace(ALIKE, similarity=None)
    (link,) = linked_nodes(shared)
    assert link.nodes == (1, 1)
    assert any("a word that both sentences share" in text for text in texts(PAIRS.picture(shared)))
    apart = replace(shared, second=dependency("cats sleep", (1, -1)))
    assert linked_nodes(apart) == [] and any("share no words" in text for text in texts(PAIRS.picture(apart)))


# in a browser


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here to open the page in")
@pytest.mark.parametrize(("width", "words"), [(500, 60), (1100, 6)])
def test_in_the_browser_facts_are_on_the_screen(tmp_path, width, words):
    script = """<script>
      const out = [];
      for (const node of document.querySelectorAll('.spot')) {
        node.classList.add('pointed');
        const box = node.closest('.drawn').getBoundingClientRect(), at = node.getBoundingClientRect();
        const told = getComputedStyle(node, '::after');
        const wide = ['width', 'paddingLeft', 'paddingRight'].reduce((sum, name) => sum + parseFloat(told[name]), 0);
        const left = told.position == 'fixed' ? 16 : node.classList.contains('late') ? at.right - wide : at.left;
        const edges = told.position == 'fixed' ? [0, innerWidth] : [box.left, box.right];
        out.push([told.position, left - edges[0], edges[1] - left - wide]);
      }
      document.title = JSON.stringify([out, document.documentElement.scrollWidth - innerWidth]);
    </script></body>"""
    tree = replace(grown(words, "balanced"), words=tuple(f"remarkable{number}" for number in range(words)))
    text = TREES.page([prediction(tree)]).replace(":focus", ".pointed")
    text = re.sub(r"<meta http-equiv[^>]*>", "", text).replace("</body>", script)
    told, over = json.loads(Page(browse(tmp_path, text, f"--window-size={width},600", "--dump-dom")).texts("title")[0])
    assert {place for place, _, _ in told} == {"fixed" if width < 1024 or words == 60 else "absolute"}
    assert all(min(left, right) >= 0 for _, left, right in told) and over <= 0
