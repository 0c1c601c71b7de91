"""A view of a task outside the package: what it does not say has a form that serves."""

import re
import shlex
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.visualize.reading import texts
from zoo import load_data, visualize
from zoo.dotted import class_at
from zoo.errors import ConfigError
from zoo.files import csv_text
from zoo.run.compose import compose
from zoo.tasks import Classification, Examined, Task, Translation
from zoo.tasks.algorithmic import Algorithmic
from zoo.tasks.answering import Answering
from zoo.tasks.captioning import Captioning
from zoo.tasks.cloze import Cloze
from zoo.tasks.relatedness import Relatedness
from zoo.visualize import View, view_of
from zoo.visualize.blocks import Block, Head, Note
from zoo.visualize.renderers import figure, page, terminal
from zoo.visualize.tree_classification import TreeClassificationView

SHARED = ("blocks", "view", "drawing")
ZOO = Path(__file__).resolve().parents[2] / "zoo"


class Tagged:
    """A prediction of a task that the package does not know."""

    def __init__(self, words, tags):
        self.words, self.tags = words, tags

    def to_dict(self):
        return {"words": self.words, "tags": self.tags}


class TagView(View):
    noun = "sentence"
    columns = ("words", "tags")

    def row(self, prediction):
        return [" ".join(prediction.words), " ".join(prediction.tags)]


class Tagging:
    view = f"{__name__}.TagView"


class Viewless:
    pass


class Misled:
    view = f"{__name__}.Tagged"


class Lost:
    view = "nowhere.View"


PREDICTION = Tagged(["a", "<b>"], ["DT", "NN"])


def test_a_task_names_its_view():
    assert type(view_of(Tagging)).__name__ == type(view_of(Tagging())).__name__ == "TagView"
    for task in (Classification, Translation):
        assert type(view_of(task)).__name__ == f"{task.__name__}View"


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (Viewless, "Viewless has no `view`"),
        (Misled, "Misled.view: .*Tagged is not a subclass of View"),
        (Lost, "Lost.view: nowhere.View cannot be imported: "),
    ],
)
def test_a_view_that_is_not_there(task, message):
    with pytest.raises(ConfigError, match=message):
        view_of(task)


def test_columns_and_a_row_are_enough():
    view, examined = view_of(Tagging), Examined(7, PREDICTION, "DT NN")
    assert view.as_json(PREDICTION) == {"words": ["a", "<b>"], "tags": ["DT", "NN"]}
    assert view.terminal(PREDICTION, 0, Namespace()) == "a <b>\tDT NN"
    assert view.examined_columns() == ["index", "words", "true", "tags"]
    assert view.examined_row(examined) == [7, "a <b>", "DT NN", "DT NN"]
    assert csv_text(view.columns, [view.row(PREDICTION)]) == "words,tags\r\na <b>,DT NN\r\n"
    assert view.picture(PREDICTION) is view.picture(PREDICTION, examined) is None
    assert dict(view.test_pictures(None)) == {}
    page = view.page([PREDICTION, None])
    view.row = lambda prediction: [None, 0]
    assert view.terminal(PREDICTION, 0, Namespace()) == "\t0" and "None" not in view.page([PREDICTION])
    assert "1 sentence, 1 blank." in page and "a &lt;b&gt;" in page and "<b>" not in page


class NotedView(TagView):
    title = "Tags of words"

    def blocks(self, prediction, examined=None):
        return [Head(" ".join(prediction.tags)), Note("by hand")]


def test_blocks_serve_the_terminal_pages_and_pictures():
    view = NotedView()
    assert str(view.terminal(PREDICTION, 0, Namespace())) == "DT NN\nby hand\n"
    assert "<h1>Tags of words</h1>" in view.page([PREDICTION]) and "by hand" in view.page([PREDICTION])
    assert "by hand" in texts(view.picture(PREDICTION))
    view.check_picture()
    with pytest.raises(ConfigError, match="--attention: TagView draws no pictures; leave the option out"):
        TagView().check_picture()

    class Drawing(TagView):
        def picture(self, prediction, examined=None):
            return None

    Drawing().check_picture()


@pytest.mark.parametrize(
    ("task", "kind", "model"),
    [(Answering, "hop", "memn2n"), (Translation, "source", "luong"), (Captioning, "source", "show_attend_tell")],
)
def test_attention_and_a_search_are_asked_of_the_network(task, kind, model):
    view, searched = view_of(task), []
    network = SimpleNamespace(attends={kind: "memory_mask"})
    predictor = SimpleNamespace(task=SimpleNamespace(network=network, search=lambda *given: searched.append(given)))
    options = Namespace(attention="out.png", beam=None, nbest=None, pharaoh=None, replace_unknown=None)
    view.prepare(predictor, options)
    assert searched == []
    network.attends = {}
    with pytest.raises(ConfigError, match=f"--attention: this network has no attention; .*model={model}"):
        view.prepare(predictor, options)
    for name in ("pharaoh", "replace_unknown") if task is Translation else ():
        with pytest.raises(ConfigError, match=f"--{name.replace('_', '-')}: this network has no attention"):
            view.prepare(predictor, Namespace(**vars(options) | {"attention": None, name: "out"}))
    options.attention, options.beam, options.nbest = None, 3, 2
    view.prepare(predictor, options)
    assert searched == [(3, 2)] * bool(view.searches)


class Underlined(Block):
    """A block of another package."""


def test_another_package_can_add_a_block():
    terminal.lines.register(Underlined, lambda block, screen: iter(["underlined"]))
    page.html.register(Underlined, lambda block: "<u>line</u>")
    figure.fitted.register(Underlined, lambda block, letters, room: figure.fitted(Note("underlined"), letters, room))
    assert str(terminal.Printed([Underlined()])) == "underlined\n"
    assert "<u>line</u>" in page.page("", "", [[Underlined()]])
    assert "underlined" in texts(figure.draw([Underlined()]))


class Described:
    """Data that describe their examples."""

    def __init__(self, *examples):
        self.examples = examples

    def describe(self):
        return {"examples": self.examples}


@pytest.mark.parametrize(
    ("task", "example", "typed"),
    [
        (Classification, {"label": "a", "text": "das essen war gut ..."}, "'das essen war gut'"),
        (Classification, {"text": "x " * 200}, f"'{'x ' * 60}'".replace(" '", "'")),
        (Translation, {"source_text": "two dogs", "target_text": "x"}, "'two dogs'"),
        (
            Cloze,
            {"document": "Ann sat . Ben ran . He ...", "query": "XXXXX sat .", "candidates": "Ann, Cleo"},
            "'Ann sat . Ben ran . XXXXX sat . | Ann'",
        ),
        (Cloze, {"document": "one ...", "query": "XXXXX"}, '"..."'),
        (Answering, {"story": "... A b. C d.", "question": "Who?", "answer": "b"}, "'A b. C d. Who?'"),
        (Algorithmic, {"read": "10 01", "to be written": "10 01"}, "'10 01'"),
        (Classification, {"label": "a"}, '"..."'),
    ],
)
def test_what_to_try_is_an_example_of_the_data(task, example, typed):
    assert view_of(task).try_it(Described(example)) == typed


@pytest.mark.parametrize(("trees", "typed"), [("balanced", "'a good film'"), ("given", TreeClassificationView.typed)])
def test_plain_text_is_proposed_for_trees_only_where_the_training_built_its_trees(trees, typed):
    data = Described({"label": "good", "text": "a good film"})
    data.trees = trees
    assert TreeClassificationView().try_it(data) == typed


@pytest.mark.parametrize(
    ("trees", "inside", "spare", "way"),
    [
        ("balanced", False, None, ""),
        ("given", True, "grammar:sick", ""),
        ("given", True, None, " --trees spacy:en_core_web_sm"),
        ("given", False, None, " --trees balanced"),
    ],
)
def test_a_pair_is_proposed_with_a_way_to_trees_where_plain_text_has_none(trees, inside, spare, way):
    data = Described({"score": "3", "text first": "a b", "text second": "c"})
    data.encoder = SimpleNamespace(spare=spare, builder=SimpleNamespace(trees=trees, inside=inside))
    assert view_of(Relatedness).try_it(data) == f"'a b ||| c'{way}"


@pytest.mark.parametrize("name", ["summaries", "passages", "dialogues"])
def test_an_example_of_texts_is_one_line_that_can_be_typed(name):
    data = load_data(name, sample={"train": 40, "val": 5, "test": 5})
    assert all(value.isprintable() for example in data.describe()["examples"] for value in example.values())
    (typed,) = shlex.split(view_of(class_at(compose([f"data={name}"]).task._target_, Task)).try_it(data))
    assert typed != "..." and len(data.encoder([typed])) == 1


def test_of_several_examples_the_shortest_is_proposed_and_an_image_by_its_path(tmp_path):
    assert view_of(Classification).try_it(Described({"text": "a long text"}, {"text": "short"})) == "short"
    cut = Described({"text": " ".join(["the ziti was bland . we left ."] * 9) + " the ..."})
    assert view_of(Classification).try_it(cut) == f"'{'the ziti was bland . we left . ' * 3}the ziti was bland .'"
    (tmp_path / "a b.png").write_bytes(b"")
    data = Described({"image": "a b.png"})
    data.path = str(tmp_path)
    assert view_of(Captioning).try_it(data) == f"'{tmp_path}/a b.png'"
    assert view_of(Captioning).try_it(Described({"image": "7"})) == "image.jpg"


def test_inputs_are_lines_and_blank_ones_keep_their_place(tmp_path, monkeypatch):
    (tmp_path / "in.txt").write_text("one\n \nthree\n")
    view = view_of(Tagging)
    assert view.read(["zero", ""], tmp_path / "in.txt") == ["zero", None, "one", None, "three"]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"in.txt is a file: use --file in.txt, which reads one sentence per line"):
        view.read(["in.txt"], None)


def test_a_colour_is_written_in_one_file():
    homes = {}
    for path in (path for ending in ("py", "toml", "css", "html") for path in (ZOO / "visualize").rglob(f"*.{ending}")):
        for colour in re.findall(r"#[0-9a-f]{6}\b", path.read_text("utf-8")):
            homes.setdefault(colour, set()).add(path.stem)
    assert {colour: files for colour, files in homes.items() if len(files) > 1} == {"#ffffff": {"theme", "marks"}}


def test_renderers_commands_and_callbacks_know_no_task_by_name():
    """A change to the drawing of trees must not change translations, `zoo data` or a family elsewhere."""
    shared = [*(ZOO / "visualize/renderers").glob("*.py"), *(ZOO / "visualize" / f"{name}.py" for name in SHARED)]
    shared.append(ZOO / "run/description.py")
    for path in [ZOO / "cli.py", *(ZOO / "callbacks").glob("*.py"), *shared]:
        lines = re.findall(r"^from zoo\.visualize.*", path.read_text("utf-8"), re.MULTILINE)
        assert not [line for line in lines if re.search(r"\.(trees)\.", line)], path
    tasks = [path.stem for path in (ZOO.parent / "conf/task").glob("[!_]*.yaml")]
    assert {"classification", "translation"} <= set(tasks)
    for path in [ZOO / "cli.py", *(ZOO / "callbacks").glob("*.py")]:
        imports = re.findall(r"^\s*(?:from|import) .*", path.read_text("utf-8"), re.MULTILINE)
        assert not [line for line in imports if any(task in line.lower() for task in tasks)], path
        assert "isinstance(predictor.task" not in path.read_text("utf-8"), path


def test_what_can_be_imported_is_listed_once():
    for name in visualize.__all__:
        assert getattr(visualize, name).__name__ == name
    with pytest.raises(AttributeError, match=r"module 'zoo\.visualize' has no attribute 'nothing'"):
        visualize.nothing  # noqa: B018
    source = (ZOO / "visualize/__init__.py").read_text("utf-8")
    assert [source.count(f'"{name}"') for name in visualize.__all__] == [1] * len(visualize.__all__)
