"""A built wheel, unpacked without the clone, trains, a family of a user's own too: it carries conf."""

import json
import sys
import zipfile

from hatchling.build import build_wheel

from tests.outside.test_outside import HERE, TINY
from tests.run.programs import ROOT, result, run

LIST = "import zoo, zoo.cli; print(zoo.__file__); zoo.cli.main(['list', '--json'])"


def test_zoo_train_from_a_wheel(program_env, tmp_path, monkeypatch):
    site, work = tmp_path / "site", tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(ROOT)
    with zipfile.ZipFile(tmp_path / build_wheel(str(tmp_path))) as wheel:
        wheel.extractall(site)
    (entry_points,) = site.glob("*.dist-info/entry_points.txt")
    assert "zoo = zoo.cli:main" in entry_points.read_text()
    environment = program_env | {"PYTHONPATH": str(site)}
    # two processes, so that the second one starts from the wheel as well
    settings = ["callbacks=none", "trainer.max_epochs=2", "trainer=ddp_cpu", "hydra.run.dir=run"]
    words = [sys.executable, "-m", "zoo", "train", *HERE, *TINY, *settings]
    done = run(words, work, environment)
    assert done.returncode == 0, done.stderr[-4000:]
    assert result(work / "run")["devices"] == 2
    where, listing = run([sys.executable, "-c", LIST], work, environment).stdout.split("\n", 1)
    assert where.startswith(str(site))
    models = json.loads(listing)["models"]
    assert "yelp" in next(model for model in models if model["name"] == "han")["data"]
