"""Starting jobs: Hydra around the run, one job at a time, one-line errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import hydra
import torch.distributed as dist
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from zoo.errors import ZooError
from zoo.run.catalogue import conf_dir
from zoo.run.messages import explain
from zoo.run.schema import register

DDP_ENV = ("MASTER_ADDR", "MASTER_PORT", "NODE_RANK", "LOCAL_RANK", "WORLD_SIZE", "PL_GLOBAL_SEED")


@contextmanager
def one_job(command: tuple[str, ...] = ()) -> Iterator[None]:
    """While a job runs, makes the process look like a plain single run of exactly this job; then removes every trace.

    Lightning starts the other ranks by repeating `sys.argv`. In a sweep that would repeat the whole sweep, with a
    sampler
    of its own, and train each rank with other hyperparameters. `command` are the words before the overrides (`zoo
    train`).
    """
    job = HydraConfig.get()
    argv, environment = sys.argv[:], {name: os.environ.get(name) for name in DDP_ENV}
    sys.argv[1:] = [*command, *job.overrides.task]
    with read_write(job), open_dict(job):  # type: ignore[arg-type]
        job.run.dir = job.runtime.output_dir
    try:
        yield
    finally:
        if dist.is_available() and dist.is_initialized():
            dist.destroy_process_group()
        sys.argv[:] = argv
        for name, value in environment.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if "wandb" in sys.modules:
            sys.modules["wandb"].finish()  # else the next job of a sweep writes into this job's run


def main(command: tuple[str, ...] = ()) -> None:
    """Composes the configuration from `sys.argv` and trains; ends the process with code 2 after a one-line error."""
    register()
    register_resolvers()
    # Hydra's parser wants all overrides on one side of a flag; people write -m at either end
    sys.argv[1:] = sorted(sys.argv[1:], key=lambda word: word not in ("-m", "--multirun"))
    full = os.environ.get("HYDRA_FULL_ERROR") == "1"
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then lets exceptions through, and we say them in one line
    overrides, process = sys.argv[1:], os.getpid()

    @hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="train")
    def job(cfg: DictConfig) -> float | None:
        register_resolvers()  # again: a parallel launcher's workers start here
        from zoo.run.train import train

        if not full:
            del os.environ["HYDRA_FULL_ERROR"]  # the other ranks must not inherit it
        try:
            with one_job(command):
                return train(cfg)
        except Exception as error:
            if os.getpid() == process:  # else the launcher brings it home
                _say(error, overrides, full)
            raise
        finally:
            os.environ["HYDRA_FULL_ERROR"] = "1"

    try:
        job()
    except Exception as error:
        _say(error, overrides, full)
        raise
    finally:
        if not full:
            del os.environ["HYDRA_FULL_ERROR"]


def _say(error: Exception, overrides: list[str], full: bool) -> None:
    """Ends the process with one line on `error` where one line is enough."""
    message = explain(error, overrides)
    if message is None or full:
        return
    print(message, file=sys.stderr)
    sys.exit(error.exit_code if isinstance(error, ZooError) else 2)
