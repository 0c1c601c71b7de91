"""The included networks, and networks as folders of plain files: written, read, found by name, pushed to the hub."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

import zoo
from tests.catalogue import ROOT
from tests.run.programs import launch, result
from weights.make import ALL, EXPECTED, LARGEST, RECIPES
from zoo.cli import main
from zoo.errors import CheckpointError
from zoo.run.catalogue import models
from zoo.run.checkpoint import read_checkpoint
from zoo.run.weights import CONFIG, TENSORS, VOCABULARY, folder_of, included, write_folder

WEIGHTS = ROOT / "weights"
expected = {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in WEIGHTS.glob(f"*/{EXPECTED}")}


def test_there_is_a_network_for_every_task_and_none_is_too_large() -> None:
    assert set(included()) == set(RECIPES) == set(expected)
    tasks = {zoo.load(name).task.name for name in included()}
    assert tasks == {task for entry in models().values() for task in entry.tasks}
    sizes = {name: sum(file.stat().st_size for file in folder.iterdir()) for name, folder in included().items()}
    assert max(sizes.values()) <= LARGEST and sum(sizes.values()) <= ALL


@pytest.mark.parametrize("name", expected)
def test_an_included_network_gives_its_stored_prediction(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(WEIGHTS / name)  # an input may be a file there
    (found,) = zoo.load(name)([expected[name]["input"]])
    assert_alike(json.loads(json.dumps(found.to_dict())), expected[name]["prediction"])


def assert_alike(found: Any, stored: Any, place: str = "") -> None:
    """Equal texts and whole numbers, and other numbers up to what another processor may change."""
    if isinstance(stored, dict):
        assert found.keys() == stored.keys(), place
        for key, value in stored.items():
            assert_alike(found[key], value, f"{place}.{key}")
    elif isinstance(stored, list):
        assert len(found) == len(stored), place
        for number, value in enumerate(stored):
            assert_alike(found[number], value, f"{place}[{number}]")
    elif isinstance(stored, float):
        assert found == pytest.approx(stored, abs=2e-3, rel=2e-3), place
    else:
        assert found == stored, place


@pytest.mark.slow
@pytest.mark.parametrize("name", expected)
def test_an_included_network_has_its_stored_score(name: str, tmp_path: Path) -> None:
    metric = expected[name]["metric"]
    assert launch([*metric["command"].split(), "callbacks=none", "hydra.run.dir=run"], tmp_path) == 0
    assert result(tmp_path / "run")["metrics"][f"test/{metric['name']}"] == pytest.approx(metric["value"], abs=0.01)


@pytest.mark.parametrize("name", expected)
def test_a_model_card_names_command_commit_and_metrics(name: str) -> None:
    card = (WEIGHTS / name / "README.md").read_text(encoding="utf-8")
    assert f"python train.py {RECIPES[name].command}" in card and "Commit " in card and "| test metric |" in card


def test_the_first_line_of_a_new_user(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    main(["predict", "han", "The food was lovely. The service was poor.", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert said["label"] == "3 stars" and len(said["sentences"]) == 2


# folders


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the smallest included network."""
    return Path(shutil.copytree(WEIGHTS / "memn2n", tmp_path / "mine"))


def test_a_folder_holds_the_weights_of_a_checkpoint_in_half_precision(folder: Path, tmp_path: Path) -> None:
    content = read_checkpoint(folder)
    weight = content["state_dict"]["network.A"] = torch.tensor([[1 / 3, 2.0**-30, -60000.0]])
    write_folder(tmp_path / "other", content, "card")
    again = read_checkpoint(tmp_path / "other")
    assert again["zoo"] == content["zoo"] and again["hyper_parameters"] == content["hyper_parameters"]
    assert torch.equal(again["state_dict"]["network.A"], weight.half().float())
    content["state_dict"]["network.A"] = torch.tensor([70000.0])
    with pytest.raises(CheckpointError, match=r"network\.A: a weight is too large for half precision: 70000"):
        write_folder(tmp_path / "third", content, "card")


def test_names_paths_and_repositories_lead_to_a_folder(folder: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert folder_of(folder) == folder and folder_of("han") == WEIGHTS / "han"
    (tmp_path / "han").mkdir()
    assert folder_of("han") == WEIGHTS / "han", "a folder of that name without a checkpoint"
    (tmp_path / "han" / "best.ckpt").touch()
    assert folder_of("han") is None and folder_of("last") is None and folder_of("no/such.ckpt") is None


def test_errors_are_one_line_with_the_next_step(folder: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    damaged = {
        "hann": "hann: no such file, folder or included network; did you mean han?",
        "xyzzy": "the included networks are aoa_reader, gated_pixelcnn, han,",
        "hub:user/repo": "hub:user/repo: the hub cannot be reached, and no copy is stored here",
        "hub:a b": "hub:a b: expected hub:USER/REPO",
    }
    for name, said in damaged.items():
        with pytest.raises(CheckpointError) as caught:
            zoo.load(name)
        assert said in str(caught.value) and "\n" not in str(caught.value)
    config = json.loads((folder / CONFIG).read_text())
    config["zoo"]["format"] = 2
    (folder / CONFIG).write_text(json.dumps(config))
    with pytest.raises(CheckpointError, match="this version reads format 1; a later version wrote it"):
        zoo.load(folder)
    (folder / CONFIG).write_text("{")
    with pytest.raises(CheckpointError, match="its files cannot be read"):
        zoo.load(folder)


@pytest.mark.parametrize("file", [TENSORS, VOCABULARY])
def test_a_folder_without_one_of_its_files_is_refused(file: str, folder: Path) -> None:
    (folder / file).unlink()
    with pytest.raises(CheckpointError, match=f"{folder.name}: its files cannot be read .*{file}"):
        zoo.load(folder)


def test_a_training_cannot_be_resumed_from_an_included_network(tmp_path: Path, capfd: Any) -> None:
    assert launch(["ckpt_path=memn2n", "model=memn2n", "data=babi", "hydra.run.dir=run"], tmp_path) == 2
    assert "start_from=" in capfd.readouterr().err


# the hub


def test_push_writes_the_same_layout_into_a_folder(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    main(["push", "memn2n", "user/repo", "--folder", "mine"])
    assert {path.name for path in Path("mine").iterdir()} == {CONFIG, VOCABULARY, TENSORS, "README.md"}
    assert 'zoo.load("hub:user/repo")' in Path("mine/README.md").read_text()
    question = expected["memn2n"]["input"]
    assert zoo.load("mine")([question])[0] == zoo.load("memn2n")([question])[0]
    with pytest.raises(SystemExit) as stopped:
        main(["push", "memn2n", "user/repo", "--folder", "mine"])
    assert stopped.value.code == 2 and "mine: it exists and is not empty" in capsys.readouterr().err


def test_push_and_load_meet_in_a_repository(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    """With a hub that is a folder."""
    import huggingface_hub

    hub = tmp_path / "hub"

    class Hub:
        def create_repo(self, repo: str, **options: Any) -> str:
            (hub / repo).parent.mkdir(parents=True)
            return f"address of {repo}"

        def upload_folder(self, *, repo_id: str, folder_path: Path) -> None:
            shutil.copytree(folder_path, hub / repo_id)

    monkeypatch.setattr(huggingface_hub, "HfApi", Hub)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name, **options: str(hub / name))
    main(["push", "memn2n", "user/repo"])
    assert "uploaded to address of user/repo" in capsys.readouterr().out
    assert zoo.load("hub:user/repo").task.name == "answering"


@pytest.mark.parametrize(("repo", "said"), [("user/repo", "the hub cannot be reached"), ("a b", "expected USER/REPO")])
def test_push_without_a_hub_is_one_line(repo: str, said: str, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(SystemExit) as stopped:
        main(["push", "memn2n", repo])
    printed = capsys.readouterr().err
    assert stopped.value.code == 2 and said in printed and printed.count("\n") == 1
