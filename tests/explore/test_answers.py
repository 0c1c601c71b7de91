"""The explorer without a browser: what networks answer, the addresses of answers, files, the port."""

from __future__ import annotations

import io
import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

import zoo
from tests.visualize.reading import EVIL, Page
from zoo.errors import ConfigError, DataError
from zoo.explore import answers, permalink
from zoo.explore.network import Network
from zoo.explore.permalink import Asked
from zoo.explore.server import bound
from zoo.run.weights import included
from zoo.visualize.view import Field


@pytest.mark.parametrize("name", included())
def test_an_included_network_answers_its_examples(name: str) -> None:
    network = Network(name)
    assert len(network.examples) >= 3
    for values in network.examples:
        answer = network(values)
        assert network(values) is answer  # computed once, for the page and for its files
        assert answer.blocks and json.dumps(network.view.as_json(answer.prediction))
        for one in answer.maps:
            assert torch.as_tensor(one.weights).shape[-2:] == (len(one.rows), len(one.columns))
    assert network.card.strip().startswith(f"# {name}")


def test_all_layers_and_heads_of_a_translation_have_the_mean_that_the_search_reports() -> None:
    network = Network("transformer")
    answer = network(network.examples[0])
    source, encoder, decoder = answer.maps
    assert source.weights.shape[:2] == encoder.weights.shape[:2] == decoder.weights.shape[:2] == (2, 4)
    best = zoo.load("transformer")(network.examples[0])[0].best
    torch.testing.assert_close(source.weights.mean((0, 1)), torch.tensor(best.attention), atol=1e-6, rtol=0)
    assert tuple(source.rows) == best.tokens
    assert (decoder.weights.triu(1) == 0).all()  # no token attends to later ones
    for one in answer.maps:
        torch.testing.assert_close(one.weights.sum(-1), torch.ones(one.weights.shape[:-1]))


def test_the_attention_of_the_query_words_weighs_up_to_that_of_the_reader() -> None:
    network = Network("aoa_reader")
    values = network.examples[1]
    found, (one,) = network.predictor([network.view.entered(values)])[0], network(values).maps
    weighed = torch.tensor(found.query.weights) @ one.weights.detach()  # equation (10)
    torch.testing.assert_close(weighed, torch.tensor(found.document.weights), atol=1e-6, rtol=0)


def test_a_blank_field_is_named() -> None:
    with pytest.raises(DataError, match="question: this field is empty"):
        Network("memn2n")(["Mary went to the kitchen.", "  "])


TEXTS = (Field("story", 5), Field("question"))


def test_an_address_holds_the_networks_and_the_input() -> None:
    asked = Asked(["a", "hub:u/b"], ["x & y = ü?\nz", "<b>"])
    found = _read(permalink.query(asked, TEXTS), {"a": TEXTS, "hub:u/b": TEXTS})
    assert found == asked


def test_an_address_holds_a_small_image_and_no_large_one(tmp_path: Path) -> None:
    form = (Field("image", kind="image"),)
    path = tmp_path / "a.png"
    Image.new("RGB", (3, 2), (1, 2, 3)).save(path)
    (found,) = _read(permalink.query(Asked(["a"], [str(path)]), form), {"a": form}).values
    with Image.open(found) as image:
        assert image.size == (3, 2) and image.getpixel((0, 0)) == (1, 2, 3)
    path.write_bytes(bytes(permalink.LARGEST + 1))
    with pytest.raises(DataError, match=r"24,001 bytes: an address holds at most 24,000"):
        permalink.query(Asked(["a"], [str(path)]), form)


@pytest.mark.parametrize("name", ["las", "temporal_attention"])
def test_an_address_holds_a_sound_or_a_clip(name: str) -> None:
    network = Network(name)
    values = network.examples[1]
    (found,) = _read(permalink.query(Asked([name], values), network.form), {name: network.form}).values
    assert Path(found).read_bytes() == Path(values[0]).read_bytes()
    assert network([found]).prediction.best.text == network(values).prediction.best.text


@pytest.mark.parametrize(
    ("networks", "inputs", "problem"),
    [
        (["b"], ["x", "y"], "b: this network is not served here; choose one of a"),
        (["a"], ["x"], "does not fit its network"),
    ],
)
def test_an_address_that_cannot_be_read_says_why(networks: list[str], inputs: list[str], problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        permalink.read(networks, inputs, {"a": TEXTS})


def _read(query: str, forms: dict[str, Any]) -> Asked:
    from urllib.parse import parse_qs

    given = parse_qs(query.removeprefix("?"), keep_blank_values=True)
    return permalink.read(given["network"], given["input"], forms)


def test_files_hold_the_input_the_answers_and_the_attention() -> None:
    network = Network("memn2n")
    values = network.examples[0]
    made = answers.files([network(values)] * 2, values)
    content = json.loads(made["json"])
    assert content["input"] == dict(zip(("story", "question"), values, strict=True))
    assert content["answers"]["memn2n"]["answer"] == "kitchen"
    assert content["attention"]["memn2n"][0]["weights"] == content["answers"]["memn2n"]["hops"]
    assert "kitchen" in Page(made["html"].decode()).texts("h2")
    with Image.open(io.BytesIO(made["png"])) as picture:
        assert picture.format == "PNG" and picture.width > 600


def test_a_text_cannot_leave_its_frame() -> None:
    network = Network("han")
    text = " ".join(EVIL)
    outer = Page(answers.shown_answers([network([text])]) + answers.problem(text))
    assert outer.obeys_nothing()
    assert {tag for tag, _, _ in outer.elements} == {"div", "section", "h3", "iframe", "p"}
    (frame,) = outer.find("iframe")
    assert Page(frame[1]["srcdoc"]).obeys_nothing()
    assert frame[1]["sandbox"] == "allow-same-origin"  # and no scripts


def test_a_space_serves_its_networks_with_a_package_of_its_own(tmp_path: Path) -> None:
    from zoo.explore.space import write_space

    twin = shutil.copytree(included()["tree_lstm"], tmp_path / "twin")
    write_space(tmp_path / "space", ["han", str(twin)])
    program = """
import json, zoo
from zoo.explore.app import build
from zoo.explore.network import Network
from zoo.run.weights import included
networks = [Network(name) for name in included()]
build(networks)
print(json.dumps([zoo.__file__, *(network(network.examples[0]).blocks[0].text for network in networks)]))
"""
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=tmp_path / "space", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [
        str(tmp_path / "space" / "zoo" / "__init__.py"),
        "3 stars",
        "very positive",
    ]
    needed = (tmp_path / "space" / "requirements.txt").read_text().split()
    assert "torch>=2.11" in needed and not any(one.startswith(("gradio", "pytest")) for one in needed)
    compile((tmp_path / "space" / "app.py").read_text(), "app.py", "exec")


@pytest.mark.parametrize(("query", "shown"), [("", "square"), ("network=nobody", "nobody: this network is not served")])
def test_the_page_opens_with_an_answer_or_with_the_problem_of_its_address(query: str, shown: str) -> None:
    gr = pytest.importorskip("gradio", reason="the extra `explore` is not installed")
    from fastapi.datastructures import QueryParams

    from zoo.explore.app import Tab, _opened

    with gr.Blocks():
        tab = Tab(0, [Network("show_attend_tell")], gr.Textbox())
    found = dict(zip(["tabs", *tab.changed], _opened([tab], QueryParams(query)), strict=True))
    assert shown in found[tab.shown]


def test_a_port_in_use_is_one_line() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ConfigError, match=f"--port {port}: in use; choose another, e.g. --port {port + 1}"):
            bound("127.0.0.1", port)
    with pytest.raises(ConfigError, match=r"--host 203\.0\.113\.1"):
        bound("203.0.113.1", 0)
    with pytest.raises(ConfigError, match="--port 99999: expected a number from 0 to 65535"):
        bound("127.0.0.1", 99999)
