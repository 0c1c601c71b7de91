"""Starting jobs: Hydra around the run, one job at a time, one-line errors."""

import logging
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

import hydra
import torch.distributed as dist
from hydra._internal.utils import get_args_parser
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, open_dict, read_write

from zoo.callbacks.checkpoint import first_rank
from zoo.errors import ConfigError, Interrupted, ZooError
from zoo.run import search_path
from zoo.run.catalogue import conf_dir
from zoo.run.compose import command_line_first, register, register_resolvers
from zoo.run.folder import FAILED, RESULT, remove_run
from zoo.run.messages import explain
from zoo.run.streams import patient_streams
from zoo.run.sweep import Sweep, begin_again, conclude, files_of_jobs, note_failure, other_jobs_run

DDP_ENV = ("MASTER_ADDR", "MASTER_PORT", "NODE_RANK", "LOCAL_RANK", "WORLD_SIZE", "PL_GLOBAL_SEED")

log = logging.getLogger(__name__)


@patient_streams()
def main(command: tuple[str, ...] = ()) -> None:
    """Compose the configuration from `sys.argv` and train. A one-line error ends the process with code 2.

    `command` holds the words before the overrides, e.g. `zoo train`.
    """
    register()
    try:
        overrides = search_path.take(sys.argv[1:])
    except ZooError as error:
        return _say(error, [], False)
    # Hydra's parser needs all overrides on one side of a flag; people write -m at either end
    overrides.sort(key=lambda word: word not in ("-m", "--multirun"))
    sys.argv[1:], Sweep.folder = [*overrides, *search_path.overrides()], None
    full, ended = os.environ.get("HYDRA_FULL_ERROR") == "1", list[Exception]()
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then raises exceptions, which we print in one line

    @hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="train")
    def job(cfg: DictConfig) -> float | None:
        register_resolvers()  # again, and the search path too: a parallel launcher's workers start here
        for source in HydraConfig.get().runtime.config_sources:
            if source.schema == "file" and source.provider not in ("main", "schema"):
                search_path.add(source.path)
        from zoo.run.train import train

        if not full:
            os.environ.pop("HYDRA_FULL_ERROR", None)  # the other ranks must not inherit it
        if first_rank():
            folder = Path(HydraConfig.get().runtime.output_dir)
            (folder / FAILED).unlink(missing_ok=True)  # of an earlier attempt
            if HydraConfig.get().mode == RunMode.MULTIRUN:
                begin_again(folder)
        try:
            with one_job(command):
                return train(cfg)
        except Exception as error:
            ended.append(error)
            _end_job(error, overrides, full)
            if HydraConfig.get().mode == RunMode.MULTIRUN and "BasicSweeper" in HydraConfig.get().sweeper._target_:
                return None  # it would end the sweep; a sweeper that searches needs the error
            raise
        finally:
            os.environ["HYDRA_FULL_ERROR"] = "1"

    try:
        _refuse_dashes(overrides)
        with command_line_first(), other_jobs_run():
            job()
    except Exception as error:
        _conclude_sweep()
        if error not in ended:
            _say(error, overrides, full)
        raise
    except (SystemExit, KeyboardInterrupt) as end:
        _conclude_sweep()
        if not any(isinstance(error, KeyboardInterrupt) for error in (end, end.__context__)):
            raise
        if first_rank():  # not by the training, which saves and prints a message
            print(
                "\nstopped by Ctrl-C; to resume a training, run the same command with ckpt_path=last", file=sys.stderr
            )
        sys.exit(128 + signal.SIGINT)
    finally:
        if not full:
            os.environ.pop("HYDRA_FULL_ERROR", None)
    _conclude_sweep()


def _conclude_sweep() -> None:
    """Rank the jobs of a sweep, print those that failed, and end the process if one did."""
    folder, Sweep.folder = Sweep.folder, None
    if folder is None:
        return
    # where no job could be composed, the first reason is the error of the command
    some_ran = any(files_of_jobs(folder, name) for name in (RESULT, FAILED))
    code = conclude(folder)
    for overrides, error in Sweep.refused if some_ran else ():
        reason = (explain(error, list(overrides)) or str(error)).removeprefix("error: ")
        print(f"failed: the job with {' '.join(overrides)}: {reason}", file=sys.stderr)
        code = 2
    if code:
        sys.exit(code)


@contextmanager
def one_job(command: tuple[str, ...] = ()) -> Iterator[None]:
    """Within this context, `sys.argv` and Hydra describe a single run of exactly this job, without the sweep.

    Lightning starts the other ranks by repeating `sys.argv`. In a sweep that would repeat the whole sweep, and train
    each rank with other hyperparameters. `command` holds the words before the overrides.
    """
    job = HydraConfig.get()
    argv, environment = sys.argv[:], {name: os.environ.get(name) for name in DDP_ENV}
    sys.argv[1:] = [*command, *job.overrides.task, *search_path.overrides()]
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


def _refuse_dashes(words: list[str]) -> None:
    """Raise ConfigError for an override that is written as an option, `--model han` or `--model=han`."""
    options = get_args_parser()._option_string_actions
    for word, after in pairwise([*words, ""]):
        named = re.fullmatch(r"--?([A-Za-z][\w./]+)(?:=(.*))?", word)
        if named and not any(option.startswith(word.split("=")[0]) for option in options):
            value = named[2] if named[2] is not None else "..." if after.startswith("-") or "=" in after else after
            raise ConfigError(f"{word}: unknown option; overrides have no dashes: {named[1]}={value or '...'}")


def _end_job(error: Exception, overrides: list[str], full: bool) -> None:
    """Print why a job failed, and store it in its folder. A refused command leaves no folder."""
    job, message = HydraConfig.get(), explain(error, overrides)
    folder, reason = Path(job.runtime.output_dir), f"{type(error).__name__}: {' '.join(str(error).split())}"
    sweeping = job.mode == RunMode.MULTIRUN
    if sweeping and not isinstance(error, Interrupted):
        if message is None or full:
            log.error("job %s failed", job.job.num, exc_info=error)
        else:
            print(message, file=sys.stderr)
        note_failure(folder, job.overrides.task, (message or reason).removeprefix("error: "), 2 if message else 1)
        return
    if first_rank():
        if message is not None and not sweeping:
            remove_run(folder)
        code = error.exit_code if isinstance(error, ZooError) else 2 if message else 1
        with suppress(OSError):  # the folder is gone, or the disk is full
            note_failure(folder, job.overrides.task, (message or reason).removeprefix("error: "), code)
    _say(error, overrides, full)


def _say(error: Exception, overrides: list[str], full: bool) -> None:
    """End the process with one line on `error` where one line is enough. Only the first rank prints an interruption,
    which is the same on all."""
    message = explain(error, overrides)
    if message is None or full:
        return
    if first_rank() or not isinstance(error, Interrupted):
        print(message, file=sys.stderr)
    sys.exit(error.exit_code if isinstance(error, ZooError) else 2)
