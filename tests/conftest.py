"""The setting of every test: no network, caches in a temporary folder, a clean home folder, no deadlines."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # read when huggingface_hub is imported, so before anything else
os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch: workers and the programs they start share the cores

import pytest
from hypothesis import settings

from tests import composing

settings.register_profile("untimed", deadline=None)  # a busy machine is slow, not wrong
settings.load_profile("untimed")

ROOT = Path(__file__).resolve().parent.parent
gc.set_threshold(50_000, 20, 20)  # to look for garbage more often took up to a tenth of the time

composing.install()

LAUNCHER_VARIABLES = ("MASTER_ADDR", "MASTER_PORT", "NODE_RANK", "LOCAL_RANK", "WORLD_SIZE", "PL_GLOBAL_SEED")


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of train.py, conf and README.md."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data beside the clone; a test that needs it is skipped where there is none."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("no real data beside the clone (../shared/data)")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Prepared data, wandb's side files and Hugging Face's caches go to a folder of this session, one for all workers
    of pytest-xdist: what one of them has prepared the others find."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "surroundings"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZOO_CACHE", str(folder / "cache"))
        patch.setenv("HF_DATASETS_CACHE", str(folder / "datasets"))
        patch.setenv("MPLCONFIGDIR", str(folder / "matplotlib"))
        patch.setenv("WANDB_MODE", "offline")
        patch.setenv("WANDB_SILENT", "true")
        for name in ("WANDB_DIR", "WANDB_DATA_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR"):
            (folder / name.lower()).mkdir(parents=True, exist_ok=True)
            patch.setenv(name, str(folder / name.lower()))
        for name in LAUNCHER_VARIABLES:
            patch.delenv(name, raising=False)
        patch.delenv("HYDRA_FULL_ERROR", raising=False)
        yield


@pytest.fixture
def cache_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of prepared data for one test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("ZOO_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def program_env(_surroundings: None) -> dict[str, str]:
    """The environment for a program started by a test: `subprocess.run(..., env=program_env, timeout=...)`.

    Training with several processes is tested in a program of its own: inside pytest, Lightning would start pytest again
    as the second rank, and every later test would run twice.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    for name in LAUNCHER_VARIABLES:
        environment.pop(name, None)
    environment["NO_COLOR"] = "1"
    environment["COLUMNS"] = "160"
    return environment


@pytest.fixture
def damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text that cannot be decoded is damage, as in a file whose other lines have accents that can."""
    monkeypatch.setattr("zoo.data.rows.is_wrong", lambda sample, encoding: False)
