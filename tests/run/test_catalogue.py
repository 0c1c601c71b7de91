"""The catalogue is read without importing what it lists, and says what the classes say; `zoo list` prints it."""

import inspect
import json
import subprocess
import sys

import pytest

import zoo
from tests.catalogue import MODELS, ROOT
from zoo import commands
from zoo.cli import main
from zoo.errors import ConfigError
from zoo.run import catalogue, search_path
from zoo.run.catalogue import Declared

HEAVY = ("torch", "lightning", "torchmetrics", "hydra", "matplotlib", "datasets")


def test_listing_and_help_load_no_library_of_training(program_env):
    code = "import sys; from zoo.cli import main\n"
    for words in (["list"], ["list", "--json"], ["--help"], ["predict", "--help"]):
        code += f"try: main({words!r})\nexcept SystemExit: pass\n"
    code += f"print('loaded', sorted({{name.split('.')[0] for name in sys.modules}} & set({HEAVY!r})))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=program_env, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.splitlines()[-1] == "loaded []"


def test_models_are_what_their_classes_say():
    for name, entry in catalogue.models().items():
        cls = MODELS[name].cls
        title, source, *_ = inspect.getdoc(inspect.getmodule(cls)).split("\n\n")
        assert (entry.title, entry.source) == (title.rstrip("."), " ".join(source.split()))
        assert entry.tasks == cls.tasks


def test_the_list_names_models_data_and_experiments_with_what_they_are(capsys):
    main(["list"])
    listing = " ".join(capsys.readouterr().out.split())
    about = {entry.name: entry.about for entry in catalogue.datasets().values()} | catalogue.experiments()
    assert all(f"{name} {text}" in listing for name, text in about.items())
    for entry in catalogue.models().values():
        assert f"{entry.name} {entry.title}" in listing


def test_a_model_that_says_nothing_of_itself_leaves_no_empty_line_in_the_list(capsys, monkeypatch):
    mine = catalogue.ModelEntry("mine", "", "", ("classification",), "mine.py")
    monkeypatch.setattr(catalogue, "models", lambda: {"mine": mine})
    main(["list"])
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[lines.index("mine") + 1] == "task: classification"


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A user's own folder of configuration."""
    monkeypatch.setattr(search_path, "_folders", [])
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "conf/model").mkdir(parents=True)
    search_path.add(tmp_path / "conf")
    return tmp_path / "conf/model/mine.yaml"


@pytest.mark.parametrize("parent", ["han", "han@_here_", "/model/han", "/model/han@_here_"])
def test_a_preset_is_of_the_class_that_it_inherits(own, parent):
    own.write_text(f"defaults: ['{parent}', _self_]\ndropout: 0.5\n")
    assert catalogue.models()["mine"].tasks == ("classification",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dropout: 0.5\n", "mine.yaml: it has no _target_, nor has a file that its defaults inherit"),
        ("a: [\n", "mine.yaml: not readable as YAML: "),
    ],
)
def test_a_file_of_which_nothing_can_be_said(own, text, message, refusal):
    own.write_text(text)
    assert "error: " in (said := refusal("list").err) and message in said


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A user's own package, which cannot be imported here."""
    folder = tmp_path / "ours"
    folder.mkdir()
    (folder / "__init__.py").write_text("from ours.networks import Network\nraise RuntimeError('imported')\n")
    (folder / "networks.py").write_text(
        "from ours.parts import Above\nimport torch\n"
        "class Network(Above, torch.nn.Module):\n    pass\n"
        "class Silent(torch.nn.Module):\n    tasks: tuple\n"
        "class Computed(torch.nn.Module):\n    tasks = tuple('ab')\n"
    )
    (folder / "parts.py").write_text("class Above:\n    tasks: tuple[str, ...] = ('tagging',)\n")
    (folder / "torn.py").write_text("class Torn(:\n")
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_a_class_that_is_inherited_from_and_passed_on(package):
    for dotted in ("ours.Network", "ours.networks.Network", "ours.parts.Above"):
        assert Declared(dotted).value("tasks") == ("tagging",)


@pytest.mark.parametrize(
    ("dotted", "message"),
    [
        ("ours.networks.Netwrok", "there is no class Netwrok in .*networks.py"),
        ("ours.netwroks.Network", "ours.netwroks: module not found"),
        ("nowhere.Network", "nowhere: module not found"),
        ("ours.torn.Torn", "torn.py, line 1: "),
        ("ours.networks.Silent", "ours.networks.Silent has no `tasks`"),
        ("ours.networks.Computed", r"networks.py, line 8: tasks is tuple\('ab'\); write it out"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(package, dotted, message):
    with pytest.raises(ConfigError, match=message):
        Declared(dotted).value("tasks")


def listed(capsys, *words):
    main(["list", *words, "--json"])
    return {part: [entry["name"] for entry in found] for part, found in json.loads(capsys.readouterr().out).items()}


def test_words_choose_parts_tasks_and_names(capsys):
    everything = listed(capsys)
    assert list(everything) == ["models", "data", "experiments"] and len(everything["models"]) > 20
    assert listed(capsys, "models") == {"models": everything["models"]}
    assert "luong" in listed(capsys, "models", "translation")["models"]
    assert "han" not in listed(capsys, "models", "translation")["models"]
    found = listed(capsys, "han")
    assert "han" in found["models"] and len(found["models"]) < 12
    assert listed(capsys, "Yang")["models"][0] == "han", "an author, and capitals do not matter"
    assert set(listed(capsys, "data", "pointing")["data"]) == {
        "convex_hull",
        "delaunay",
        "points",
        "sort_numbers",
        "tsp",
    }


def test_lines_have_no_blanks_at_their_ends_and_are_indented_where_they_go_on(capsys):
    main(["list"])
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 120 and line == line.rstrip() for line in lines)
    start = lines.index("Data: data=NAME")
    names = {line.split()[0] for line in lines[start + 2 :] if line and not line.startswith((" ", "Experiments"))}
    main(["list", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert names == {entry["name"] for part in ("data", "experiments") for entry in found[part]}


def test_the_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert (ended.value.code, capsys.readouterr().out) == (0, f"attention-zoo {zoo.__version__}\n")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["list", "hann"], "error: zoo list hann: nothing in the catalogue has hann; did you mean zoo list han?"),
        (
            ["list", "xyzzy"],
            "error: zoo list xyzzy: nothing in the catalogue has xyzzy; zoo list without a word shows all of it",
        ),
        (["predcit", "last"], "error: zoo predcit: unknown command; did you mean zoo predict?"),
        (["evaluate"], f"error: zoo evaluate: unknown command; available: {', '.join(commands.names())}"),
    ],
)
def test_a_word_that_is_not_there_gets_the_nearest(refusal, words, expected):
    assert refusal(*words).err.strip() == expected
