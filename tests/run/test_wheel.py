"""A built wheel, installed without the clone, trains: it carries conf."""

import json
import sys

from tests.run.programs import ROOT, SHORT, result, run


def test_zoo_train_from_a_wheel(program_env, tmp_path):
    wheels, site, work = tmp_path / "wheels", tmp_path / "site", tmp_path / "work"
    work.mkdir()
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    built = run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(wheels), str(ROOT)], tmp_path, program_env
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = wheels.glob("*.whl")
    installed = run([*pip, "install", "--no-deps", "--target", str(site), str(wheel)], tmp_path, program_env)
    assert installed.returncode == 0, installed.stderr
    environment = program_env | {"PYTHONPATH": str(site)}
    where = run([sys.executable, "-c", "import zoo; print(zoo.__file__)"], work, environment)
    assert where.stdout.startswith(str(site))
    # two processes, so that the second one starts from the wheel as well
    done = run(
        [sys.executable, "-m", "zoo", "train", *SHORT, "trainer=ddp_cpu", "hydra.run.dir=run"], work, environment
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert result(work / "run")["devices"] == 2
    listing = run([sys.executable, "-m", "zoo", "list", "--json"], work, environment)
    models = json.loads(listing.stdout)["models"]
    assert "yelp" in next(model for model in models if model["name"] == "han")["data"]
