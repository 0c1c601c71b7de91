"""A run that answers questions about stories of a user's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.run.families import QUIET
from tests.run.programs import launch, result
from zoo.cli import main


def test_stories_of_ones_own_are_trained_on_and_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = ["kitchen", "garden", "office"]
    lines = [
        json.dumps(
            {
                "story": [f"Mary went to the {places[n % 3]}.", f"John went to the {places[n // 3 % 3]}."],
                "question": f"Where is {('Mary', 'John')[n % 2]}?",
                "answer": places[(n if n % 2 == 0 else n // 3) % 3],
                "supporting": [n % 2],
            }
        )
        for n in range(90)
    ]
    (tmp_path / "my.jsonl").write_text("\n".join(lines), encoding="utf-8")
    words = ["model=memn2n", "data=stories", "data.path=my.jsonl", "callbacks=checkpoint", "trainer.max_epochs=30"]
    assert launch([*words, *QUIET, "data.loader.batch_size=8", "hydra.run.dir=run"], tmp_path) == 0
    assert result(tmp_path / "run")["metrics"]["test/error"] == 0
    capsys.readouterr()
    typed = "John went to the office. Mary went to the garden. Where is Mary?"
    out = [str(tmp_path / name) for name in ("hops.html", "hops.svg")]
    main(["predict", str(tmp_path / "run"), typed, "--json", "--html", out[0], "--attention", out[1]])
    prediction = json.loads(capsys.readouterr().out)
    assert prediction["answer"] == "garden" and len(prediction["hops"]) == 3 and len(prediction["hops"][0]) == 2
    assert "Where is Mary?" in Path(out[0]).read_text(encoding="utf-8") and Path(out[1]).stat().st_size > 0
