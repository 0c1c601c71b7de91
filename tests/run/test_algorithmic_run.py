"""A run that learns from bits, and patterns of a user's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.run.families import ALGORITHMIC
from tests.run.programs import launch, result
from zoo.cli import main


def test_a_pattern_is_copied_and_the_heads_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert launch([*ALGORITHMIC, "trainer.max_epochs=1", "hydra.run.dir=run"], tmp_path) == 0
    metrics = result(tmp_path / "run")["metrics"]
    assert {"test/error_bits_length3", "test/exact_length5"} <= metrics.keys()
    capsys.readouterr()
    out = [str(tmp_path / name) for name in ("heads.html", "heads.svg")]
    main(["predict", str(tmp_path / "run"), "10 01 11", "--json", "--html", out[0], "--attention", out[1]])
    prediction = json.loads(capsys.readouterr().out)
    assert prediction["truth"] == "10 01 11" and len(prediction["written"].split()) == 3
    assert len(prediction["write"][0]) == 7 and len(prediction["write"][0][0]) == 8
    assert "10 01 11" in Path(out[0]).read_text(encoding="utf-8") and Path(out[1]).stat().st_size > 0
    with pytest.raises(SystemExit):
        main(["predict", str(tmp_path / "run"), "10", "012"])
    assert "error: line 2, '012': vector 1 is '012': expected 2 bits" in capsys.readouterr().err
