"""README and pages are true: their commands start, their tables are those in results/."""

import ast
import functools
import importlib.util
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from omegaconf import DictConfig, OmegaConf

import zoo
from results.table import COLUMNS, END, MODELS_START, START, ResultsError, Row, insert, main, ours, read, table, wide
from tests.catalogue import MODELS, ROOT
from tests.commands import GROUPS, compositions, forgotten, problem, shell_lines, write_shown
from tests.run.programs import SHORT, launch, result
from zoo.run.catalogue import datasets, models_for
from zoo.run.compose import compose
from zoo.run.report import shown_number
from zoo.tasks.answering import Answering

GUIDES = ROOT / "docs" / "guides"
OWN_MODEL = ROOT / "docs" / "extending" / "model.md"
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "results").glob("*.md")),
]


def shown(text: str) -> list[str]:
    """The commands of a document: its shell blocks, and the table cells before a link to a page."""
    return [*shell_lines(text), *re.findall(r"\| `(python train\.py [^`]+)` \| \[", text)]


COMMANDS = [
    pytest.param(command, id=f"{path.stem}: {command}")
    for path in DOCUMENTS
    for command in dict.fromkeys(shown(path.read_text(encoding="utf-8")))
]

# commands


@pytest.mark.parametrize("command", COMMANDS)
def test_command(command: str) -> None:
    assert problem(command) is None


def test_a_model_and_data_of_your_own_as_a_page_shows_them(tmp_path: Path) -> None:
    """The files of the page in a folder, trained, listed and asked from beside it."""
    files = write_shown(OWN_MODEL.read_text(encoding="utf-8"), tmp_path)
    assert {path.name for path in files} == {"bag.py", "bag.yaml", "tickets.yaml"}
    departments = {"billing": "The invoice is wrong.", "support": "The printer does not print."}
    rows = [f'"{text} Number {n}.",{name}' for n in range(20) for name, text in departments.items()]
    (tmp_path / "tickets.csv").write_text("text,department\n" + "\n".join(rows) + "\n", encoding="utf-8")
    cheap = [word for word in SHORT if not word.startswith(("model.", "data.sample"))]
    with forgotten():
        words = ["--config-dir", "my_zoo/conf", "model=bag", "data=tickets", *cheap, "hydra.run.dir=run"]
        assert (
            launch([*words, "trainer.max_epochs=8", "optimizer.lr=0.1", "data.text.minimum_frequency=1"], tmp_path) == 0
        )
        assert result(tmp_path / "run")["metrics"]["test/accuracy"] == 1.0
        (said,) = zoo.load(tmp_path / "run")(["The printer does not print. Number 99."])
        assert said.label == "support"


def python_blocks(page: Path) -> list[str]:
    """The examples in Python of a page."""
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


PYTHON = [
    pytest.param(block, id=f"{page.stem} {number}")
    for page in DOCUMENTS
    for number, block in enumerate(python_blocks(page))
]


@pytest.mark.parametrize("block", PYTHON)
def test_python_of_a_page_is_code_that_uses_the_names_of_zoo(block: str) -> None:
    ast.parse(block)
    assert set(re.findall(r"\bzoo\.(\w+)\(", block)) <= set(zoo.__all__)


def test_the_attention_of_any_network_is_drawn_as_its_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own, of_transformers = python_blocks(ROOT / "docs" / "any-network.md")
    exec(own, {})
    assert {path.name for path in tmp_path.iterdir()} == {"attention.html", "attention.png"}
    if importlib.util.find_spec("transformers"):  # not one of the extras
        exec(of_transformers, {})
        assert (tmp_path / "bart.html").is_file()


def test_the_two_commands_of_the_first_screen_stand_in_the_readme() -> None:
    commands = list(shell_lines((ROOT / "README.md").read_text(encoding="utf-8")))
    assert {"pip install -e .", "python train.py"} <= set(commands)


def test_ci_runs_the_test_command_of_the_readme() -> None:
    commands = list(shell_lines((ROOT / "README.md").read_text(encoding="utf-8")))
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    last = script.strip().splitlines()[-1]
    assert "pip install -e '.[test]'" in commands
    assert re.search(r"^.*pip install .*-e '\.\[test\]'$", script, re.MULTILINE)
    assert last.startswith("pytest ") and last in commands, "the last command is the README's"
    checks = r"^ruff check \.\nruff format --check \.\nmkdocs build .*--strict.* &.*\nsite=\$!\nmypy zoo\n"
    assert re.search(rf"{checks}wait \"\$site\"\npytest", script, re.MULTILINE), "each step can fail the whole"


def links(page: Path) -> list[Path]:
    """The files and folders that a page links to."""
    found = re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text(encoding="utf-8"))
    return [Path(os.path.normpath(page.parent / link)) for link in found]


def test_links_to_files_lead_somewhere() -> None:
    for page in DOCUMENTS:
        for link in links(page):
            assert link.exists(), f"{page.name}: {link}"


@functools.cache
def configuration(data: str, *more: str) -> DictConfig:
    """The configuration with some data, and every logger."""
    return compose([f"data={data}", *more, "logger=[csv,tensorboard,wandb]"])


def configurations(group: str) -> Iterator[DictConfig]:
    """Configurations that differ in a group: all models, or one of all data; else one of each task."""
    if group == "model":
        yield from (OmegaConf.create({group: model.arguments}) for model in MODELS.values())
    if group == "data":
        yield from map(configuration, datasets())
    tasks = {task: name for name, entry in reversed(datasets().items()) for task in entry.tasks}
    for task, data in tasks.items() if group != "data" else ():
        first = datasets()[data].tasks[0] == task
        yield configuration(data, *([] if first else [f"model={models_for((task,))[0]}"]))


def unknown_keys(text: str) -> set[str]:
    """Keys that a document names in its prose, such as `data.loader.on_bad_row`, and that no configuration has."""
    named = set(re.findall(rf"`((?:{'|'.join(GROUPS)})\.[a-z_.]+)(?:=[^`]*)?`", text))
    return {key for key in named if not any(has_key(cfg, key) for cfg in configurations(key.partition(".")[0]))}


def has_key(cfg: Any, key: str) -> bool:
    first, _, rest = key.partition(".")
    return isinstance(cfg, DictConfig) and first in set(cfg) and (not rest or has_key(cfg._get_node(first), rest))


def test_keys_named_in_the_prose_exist() -> None:
    for path in DOCUMENTS:
        assert unknown_keys(path.read_text(encoding="utf-8")) == set(), path.name
    assert unknown_keys("set `data.loader.on_bad_row=skip` or `trainer.max_epoch`") == {"trainer.max_epoch"}


def test_every_page_is_reached_from_the_readme_by_links() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            waiting += [page for page in links(page) if page.suffix == ".md"]
    assert set(DOCUMENTS) - reached == set()


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 180


def test_the_readme_lists_the_networks_of_each_task_beside_its_guide() -> None:
    rows = re.findall(r"^\| .*$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    named = {path.stem: set[str]() for path in GUIDES.glob("*.md")}
    for row in rows:
        for task in re.findall(r"\(docs/guides/(\w+)\.md\)", row):
            named[task] = set(re.findall(r"\[(\w+)\]\(zoo/models/\w+\.py\)", row))
    assert set(named) == {path.stem for path in (ROOT / "conf" / "task").glob("[!_]*.yaml")}, "a guide for each task"
    assert named == {task: set(models_for((task,))) for task in named}


def test_commands_are_found_in_tables_and_shell_blocks() -> None:
    assert shown("| hulls | `python train.py data=tsp` | [page](a.md) |") == ["python train.py data=tsp"]
    text = "```sh\n# note\npython train.py \\\n  seed=1  # why\npip install -e . && zoo list\n```\n```py\nzoo\n```\n"
    assert list(shell_lines(text)) == ["python train.py seed=1", "pip install -e .", "zoo list"]


RIGHT = """\
python train.py
python train.py model=han data=yelp trainer.precision=bf16-mixed
python train.py -m model.word_hidden_dim=25,50
torchrun --nproc-per-node 2 train.py trainer=ddp_cpu
CUDA_VISIBLE_DEVICES=0 python train.py trainer=gpu
zoo predict best.ckpt "The food was great." --html page.html
zoo predict --help
pytest -m 'not slow'
python results/table.py --write README.md"""
WRONG = """\
python train.py modle=han
python train.py fast
python train.py --fast
python train.py -m model.word_hidden_dim=25,wide
zoo train seed=abc
zoo lsit
zoo data yelpp
python results/tabel.py
conda install zoo"""


@pytest.mark.parametrize("command", (RIGHT + "\n" + WRONG).splitlines())
def test_a_wrong_command_is_found_and_a_right_one_passes(command: str) -> None:
    assert (problem(command) is not None) == (command in WRONG.splitlines())


# results


PAGES = [page for page in DOCUMENTS if re.search(f"^({START}|{MODELS_START})", page.read_text("utf-8"), re.MULTILINE)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tables_of_a_page_are_those_in_results(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == insert(text, ROOT / "results", page), f"run python results/table.py --write {page.name}"


@pytest.mark.parametrize("file", sorted((ROOT / "results").glob("*.csv")), ids=lambda file: file.stem)
def test_every_result_can_be_run_again(file: Path) -> None:
    for row in read(file):
        command = re.sub(r"\bseed=\d+", "seed=1", row.command)  # of seeds one tells of all
        assert problem(command) is None
        words = shlex.split(command)
        if "train.py" in words and row.model in MODELS:
            for cfg in compositions(tuple(words[words.index("train.py") + 1 :])):
                assert cfg.hydra.runtime.choices.model == row.model, row.command
                assert cfg.hydra.runtime.choices.data == row.data, row.command


ROW = Row("ntm", "copy", "sample", "bits per sequence", "0.12", "0.01", "1", "python train.py seed=1", "abc1234")


def row(**cells: str) -> Row:
    return Row(**(vars(ROW) | cells))


def test_seeds_become_one_line_with_median_and_range() -> None:
    values = {"1": "0.951", "2": "0.97", "3": "0.944"}
    rows = [row(ours=value, seed=seed, command=f"python train.py seed={seed}") for seed, value in values.items()]
    assert ours(rows) == "0.951 (0.944 to 0.970)"
    assert ours(rows[:1]) == ours(rows[:1] * 3) == "0.951"
    assert table(rows).splitlines() == [
        "| model | data | metric | ours | paper | seeds | command |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| ntm | copy (sample) | bits per sequence | 0.951 (0.944 to 0.970) | 0.01 | 3 | `python train.py` |",
    ]


def test_counts_have_no_decimals() -> None:
    numbers = ("9000.0000", "8320.0000", "20229")
    runs = [Row(**(vars(ROW) | {"ours": number, "metric": "sequences_to_converge"})) for number in numbers]
    assert ours(runs[1:2]) == "8,320" and ours(runs) == "9,000 (8,320 to 20,229)"
    assert (
        shown_number("test/failed_tasks", 1.0, Answering.counts) == "1" and shown_number("val/error", 1.0) == "1.0000"
    )


def test_a_line_for_each_command_and_a_dash_without_a_published_number() -> None:
    _, other = table([ROW, row(command="python train.py model.hops=1", paper="")]).splitlines()[2:]
    assert "| – |" in other


def test_metrics_become_columns_with_published_numbers_in_brackets() -> None:
    bleu = [
        row(metric="token_bleu", ours=value, seed=seed, paper="28.3", command=f"x seed={seed}")
        for seed, value in (("1", "30.5"), ("2", "31.5"))
    ]
    minutes = row(metric="minutes", ours="4.0", paper="", command="x seed=1")
    assert wide([*bleu, minutes], ["minutes", "token_bleu", "chrf"]).splitlines() == [
        "| model | minutes | token bleu | chrf | seeds | command |",
        "| --- | --- | --- | --- | --- | --- |",
        "| ntm | 4.0 | 31.0 (30.5 to 31.5) [28.3] | – | 1 to 2 | `x` |",
    ]
    assert wide(bleu, ["token_bleu", "chrf"]).splitlines()[2:] == ["| ntm | 31.0 (30.5 to 31.5) [28.3] | – | 2 | `x` |"]


def test_only_what_stands_between_the_marks_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    mark = "<!-- results:start han.csv"
    page.write_text(f"before\n{mark} -->\nold\n{END}\nbetween\n{mark} accuracy -->\nold\n{END}\nafter\n")
    assert main(["--write", str(page)]) == 0
    once = page.read_text()
    assert once.startswith(f"before\n{mark} -->\n| model | data |")
    assert f"|\n{END}\nbetween\n{mark} accuracy -->\n| model | accuracy |" in once
    assert once.endswith(f"|\n{END}\nafter\n")
    assert "old" not in once
    assert main(["--write", str(page)]) == 0
    assert page.read_text() == once
    for wrong in ("no marks", f"{mark} -->\nno end", once.replace("han.csv", "hna.csv")):
        page.write_text(wrong)
        assert main(["--write", str(page)]) == 2
        assert str(page) in capsys.readouterr().err
        assert page.read_text() == wrong


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"ours": "good"}, ":2: ours is a number"),
        ({"seed": "1.5"}, ":2: ours is a number and seed a whole number"),
        ({"commit": "main"}, ":2: commit is 'main'"),
        ({"command": ""}, ":2: command is empty"),
        ({"model": "a,b"}, ":2: expected 9 cells"),
    ],
)
def test_a_wrong_row_is_named_with_its_line(tmp_path: Path, cells: dict[str, str], problem: str) -> None:
    path = tmp_path / "ntm.csv"
    path.write_text(",".join(COLUMNS) + "\n" + ",".join((vars(ROW) | cells).values()) + "\n")
    with pytest.raises(ResultsError, match=re.escape(f"{path}{problem}")):
        read(path)


def test_wrong_columns_are_named(tmp_path: Path) -> None:
    path = tmp_path / "ntm.csv"
    path.write_text("model,score\nntm,1\n")
    with pytest.raises(ResultsError, match=r"ntm\.csv:1: found the columns \['model', 'score'\], expected model, data"):
        read(path)
