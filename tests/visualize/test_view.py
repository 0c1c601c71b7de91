"""A view of a task outside the package: what it does not say has a form that serves."""

import re
from argparse import Namespace
from pathlib import Path

import pytest

from zoo import visualize
from zoo.errors import ConfigError
from zoo.tasks import Classification, Examined, Translation
from zoo.visualize import View, alignment_page, document_page, page, view_of
from zoo.visualize.files import csv_text

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
    assert {type(view_of(task)).__name__ for task in (Classification, Translation)} == {
        "ClassificationView",
        "TranslationView",
    }


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (Viewless, "Viewless names no view"),
        (Misled, "Misled.view: it names .*Tagged, which is no View"),
        (Lost, "Lost.view: it names nowhere.View, which is not here: "),
    ],
)
def test_a_view_that_is_not_there(task, message):
    with pytest.raises(ConfigError, match=message):
        view_of(task)


def test_columns_and_a_row_are_enough():
    view, examined = view_of(Tagging), Examined(7, PREDICTION, "DT NN")
    assert view.as_json(PREDICTION) == {"words": ["a", "<b>"], "tags": ["DT", "NN"]}
    assert view.terminal(PREDICTION, 0, Namespace()) == "a <b>\tDT NN"
    assert (view.examined_columns(), view.examined_row(examined)) == (
        ["index", "words", "true", "tags"],
        [7, "a <b>", "DT NN", "DT NN"],
    )
    assert csv_text(view.columns, [view.row(PREDICTION)]) == "words,tags\r\na <b>,DT NN\r\n"
    assert view.picture(PREDICTION) is view.picture(PREDICTION, examined) is None
    assert dict(view.test_pictures(None)) == {}
    page = view.page([PREDICTION, None])
    assert "1 sentence, 1 blank." in page and "a &lt;b&gt;" in page and "<b>" not in page


class ColouredView(TagView):
    style = ".tag { color: var(--good); }"


def styled(text):
    """The classes of elements that a style says something of."""
    return {name for selector in re.findall(r"([^{}]+)\{", text) for name in re.findall(r"\.([a-z][\w-]*)", selector)}


def test_a_view_has_a_style_of_its_own_and_that_of_no_other():
    bare, coloured = view_of(Tagging).page([PREDICTION]), ColouredView().page([PREDICTION])
    assert ColouredView.style in coloured
    assert bare == coloured.replace(ColouredView.style, "")
    every = styled(bare[: bare.index("</style>")])
    assert {"rows", "blank", "about"} <= every
    for task, own in ((Classification, document_page.STYLE), (Translation, alignment_page.STYLE)):
        assert own in view_of(task).page([])
        assert styled(own) - every and styled(own) & every <= {"u"}  # unknown words, on any page


def test_an_article_is_written_in_one_place():
    assert page.article("<p>a</p>") == "<article>\n<p>a</p>\n</article>"
    assert page.article("b", kind="blank", label='"x" <y>').startswith(
        '<article class=blank data-label="&quot;x&quot; &lt;y&gt;">'
    )
    written = [path.name for path in (ZOO / "visualize").glob("*.py") if "<article" in path.read_text("utf-8")]
    assert written == ["page.py"]


def test_inputs_are_lines_and_blank_ones_keep_their_place(tmp_path, monkeypatch):
    (tmp_path / "in.txt").write_text("one\n \nthree\n")
    view = view_of(Tagging)
    assert view.read(["zero", ""], tmp_path / "in.txt") == ["zero", None, "one", None, "three"]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"in.txt is a file: give --file in.txt, which reads it, a sentence a line"):
        view.read(["in.txt"], None)


def imports(path):
    """The modules of zoo.visualize that a file imports, or anything of them, by their last names."""
    text = path.read_text("utf-8")
    whole = re.findall(r"^\s*from zoo\.visualize import (.+)", text, re.MULTILINE)
    return {*re.findall(r"^\s*from zoo\.visualize\.(\w+) import", text, re.MULTILINE), *", ".join(whole).split(", ")}


@pytest.mark.parametrize(("kind", "views"), [("document", ["classification", "cloze"]), ("alignment", ["translation"])])
def test_what_is_shared_uses_nothing_of_one_kind_of_example(kind, views):
    """A change to how documents are drawn is no change to translations, to `zoo data` or to a family elsewhere."""
    files = [ZOO / "cli.py", *(ZOO / "callbacks").glob("*.py"), *(ZOO / "visualize").glob("*.py")]
    users = {path.stem for path in files if any(name.startswith(f"{kind}_") for name in imports(path))}
    patterns = (f"{kind}_*.py", *(f"{view}*.py" for view in views))
    assert users <= {path.stem for pattern in patterns for path in (ZOO / "visualize").glob(pattern)}


def test_a_colour_is_written_in_one_file():
    homes = {}
    for path in (ZOO / "visualize").glob("*.py"):
        for colour in re.findall(r"#[0-9a-f]{6}\b", path.read_text("utf-8")):
            homes.setdefault(colour, set()).add(path.stem)
    assert {colour: files for colour, files in homes.items() if len(files) > 1} == {}
    assert {"document_picture", "alignment_picture", "confusion"} <= {
        path.stem for path in (ZOO / "visualize").glob("*.py") if "drawing" in imports(path)
    }


def test_what_can_be_imported_is_listed_once():
    for name in visualize.__all__:
        assert getattr(visualize, name).__name__ == name
    with pytest.raises(AttributeError, match=r"module 'zoo\.visualize' has no attribute 'nothing'"):
        visualize.nothing  # noqa: B018
    source = (ZOO / "visualize/__init__.py").read_text("utf-8")
    assert [source.count(f'"{name}"') for name in visualize.__all__] == [1] * len(visualize.__all__)


def test_the_commands_and_the_callbacks_know_no_task_by_name():
    tasks = [path.stem for path in (ZOO.parent / "conf/task").glob("*.yaml")]
    assert {"classification", "translation"} <= set(tasks)
    for path in [ZOO / "cli.py", *(ZOO / "callbacks").glob("*.py")]:
        imports = re.findall(r"^\s*(?:from|import) .*", path.read_text("utf-8"), re.MULTILINE)
        assert not [line for line in imports if any(task in line.lower() for task in tasks)], path
        assert "isinstance(predictor.task" not in path.read_text("utf-8"), path
