"""`zoo export`: the folder that it writes, and what it answers where it cannot."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zoo
from zoo.cli import main
from zoo.decoding import Greedy
from zoo.export import targets


def program(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that the program in the README of an exported network defines."""
    monkeypatch.chdir(folder)
    (code,) = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    return names


@pytest.mark.parametrize("to", ["onnx", "torch"])
def test_the_program_of_the_readme_predicts_what_the_checkpoint_does(finished, tmp_path, monkeypatch, capsys, to):
    folder = tmp_path / "exported"
    main(["export", str(finished[0]), "--to", to, "--out", str(folder)])
    assert "network: differs from the network by at most" in capsys.readouterr().out
    predictor = zoo.load(finished[0])
    text = "The food was lovely. I went there by bus."
    tokens = {word: number for number, word in enumerate(json.loads((folder / "words.json").read_text())["tokens"])}
    sentences = predictor.encoder.display(text)
    words = np.zeros((1, len(sentences), max(map(len, sentences))), np.int64)
    for row, sentence in zip(words[0], sentences, strict=True):
        row[: len(sentence)] = [tokens.get(word.lower(), 1) for word in sentence]
    logits = program(folder, monkeypatch)["predict"](words=words, word_mask=words > 0)["logits"][0]
    (expected,) = predictor([text])
    classes = json.loads((folder / "manifest.json").read_text())["spec"]["classes"]
    found = np.exp(logits) / np.exp(logits).sum()
    assert dict(zip(classes, found.tolist(), strict=True)) == pytest.approx(expected.probabilities, abs=1e-6)


def test_twenty_lines_of_numpy_write_what_greedy_decoding_writes(translated, tmp_path, monkeypatch):
    folder = tmp_path / "exported"
    main(["export", str(translated), "--out", str(folder)])
    predictor = zoo.load(translated)
    encoder, network = predictor.encoder, predictor.task.network
    batch = encoder(["Ein Mann schläft .", "Zwei Hunde spielen im Park ."])
    greedy = program(folder, monkeypatch)["greedy"]
    for longest in (3, 12):
        hypotheses = Greedy(max_length=(0, longest))(network, batch, predictor.task.spec)
        written, log_probs = greedy(longest, source=batch.source.numpy(), source_mask=batch.source_mask.numpy())
        for (best,), ids, log_prob in zip(hypotheses, written.tolist(), log_probs, strict=True):
            assert tuple(ids[: len(best.ids)]) == best.ids
            assert set(ids[len(best.ids) :]) <= {predictor.task.spec.end}
            assert log_prob == pytest.approx(best.log_prob, abs=1e-5)


def test_nothing_is_written_where_it_cannot_be_exported(finished, tmp_path, refusal, monkeypatch):
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine.txt").write_text("mine")
    assert "did you mean 'onnx'" in refusal("export", finished[0], "--to", "onxn", "--out", tmp_path / "new").err
    assert f"{full} is not empty: remove it, or choose another folder with --out DIR" in (
        refusal("export", finished[0], "--out", full).err
    )
    monkeypatch.setattr(targets, "find_spec", lambda name: None)
    missing = refusal("export", finished[0], "--out", tmp_path / "new").err
    assert missing.count("\n") == 1 and "pip install -e '.[export]'" in missing
    assert [path.name for path in tmp_path.iterdir()] == ["full"] and (full / "mine.txt").read_text() == "mine"


def test_a_graph_that_differs_is_not_kept(tmp_path, refusal, monkeypatch):
    target = targets.TARGETS["torch"]
    wrong = targets.Target(
        "pt2",
        (),
        target.write,
        lambda path: lambda tensors: {name: part + 1e-4 for name, part in target.opened(path)(tensors).items()},
    )
    monkeypatch.setitem(targets.TARGETS, "torch", wrong)
    answer = refusal("export", "memn2n", "--to", "torch", "--out", tmp_path / "new").err
    assert "MemN2N cannot be exported: `network` differs from the network by 0.0001, expected at most 1e-05" in answer
    assert list(tmp_path.iterdir()) == []
