"""The result of a multirun: the best job with its overrides, and the failed jobs."""

import json
import shutil
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from hydra.core.plugins import Plugins
from hydra.experimental.callback import Callback
from omegaconf import DictConfig
from rich.console import Console
from rich.table import Table

from zoo.run.folder import FAILED, RESULT, is_empty, remove_run, write_whole


class Sweep(Callback):
    """Stores the folder of the current multirun."""

    folder: ClassVar[Path | None] = None
    refused: ClassVar[list[tuple[Sequence[str], Exception]]] = []
    """The overrides of the jobs that cannot be composed, and the reasons."""
    earlier: ClassVar[set[tuple[Path, int]]] = set()
    """Files that an earlier multirun left in the folder, with the times when they were written."""

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        Sweep.folder, Sweep.refused, Sweep.earlier = Path(config.hydra.sweep.dir), [], set()
        Sweep.earlier = {_written(path) for name in (RESULT, FAILED) for path in files_of_jobs(Sweep.folder, name)}


@contextmanager
def other_jobs_run() -> Iterator[None]:
    """Within this context, a job that cannot be composed does not keep the other jobs of a sweep from running."""
    Plugins.instance()  # imports its plugins anew
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper

    validate = BasicSweeper.validate_batch_is_legal

    def left_out(sweeper: Any, batch: list[Sequence[str]]) -> None:
        fine = []
        for overrides in batch:
            try:
                validate(sweeper, [overrides])
                fine.append(overrides)
            except Exception as error:
                Sweep.refused.append((overrides, error))
        if not fine:
            raise Sweep.refused[0][1]
        batch[:] = fine

    BasicSweeper.validate_batch_is_legal = left_out  # type: ignore[assignment, method-assign]  # no hook for it
    try:
        yield
    finally:
        BasicSweeper.validate_batch_is_legal = validate  # type: ignore[method-assign]


def files_of_jobs(folder: Path, name: str) -> list[Path]:
    """Return the files of this name that the jobs of the current multirun have written."""
    return [path for path in folder.glob(f"*/{name}") if _written(path) not in Sweep.earlier]


def _written(path: Path) -> tuple[Path, int]:
    return path, path.stat().st_mtime_ns


def begin_again(folder: Path) -> None:
    """Delete the result of an earlier attempt of a job, so that `conclude` does not read it."""
    for name in (RESULT, FAILED):
        (folder / name).unlink(missing_ok=True)


def note_failure(folder: Path, overrides: Iterable[str], message: str, exit_code: int) -> None:
    """Store in the folder of a run why it was stopped or failed. `conclude` and `zoo runs` read it, since another
    process may have run the job."""
    content = {"overrides": list(overrides), "error": message, "exit_code": exit_code}
    write_whole(folder / FAILED, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def conclude(folder: Path) -> int:
    """Print the ranking of a multirun's jobs, one for each task and monitored metric, and the failed jobs, and return
    the exit code of the multirun.

    It reads the files of the jobs, so that it works with every launcher. If all jobs were refused, there is no folder.
    """
    results, ended = (_read(files_of_jobs(folder, name)) for name in (RESULT, FAILED))
    failed = {path: job for path, job in ended.items() if job["exit_code"] <= 128}  # not stopped by a signal
    jobs = [set(job["overrides"]) for job in (results | failed).values()]
    shared = set.intersection(*jobs) if len(jobs) > 1 else set()
    comparable: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for result in results.values():
        comparable.setdefault((result["task"], result["monitor"]), []).append(result)
    for group in comparable.values():
        _print_ranking(folder, group, shared, of=len(jobs))
    for path, failure in failed.items():
        own = " ".join(override for override in failure["overrides"] if override not in shared)
        print(f"failed: job {path.parent.name} with {own}: {failure['error']}", file=sys.stderr)
    if not results and all(is_empty(path.parent, {FAILED}) for path in failed):
        for path in failed:
            shutil.rmtree(path.parent)
        remove_run(folder)
    return max((failure["exit_code"] for failure in failed.values()), default=0)


def _read(paths: Iterable[Path]) -> dict[Path, dict[str, Any]]:
    ordered = sorted(paths, key=lambda path: (len(path.parent.name), path.parent.name))
    return {path: json.loads(path.read_text(encoding="utf-8")) for path in ordered}


def _print_ranking(folder: Path, results: list[dict[str, Any]], shared: set[str], *, of: int) -> None:
    ranked = rank([result for result in results if result["score"] is not None])
    if not ranked:
        return
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 160)
    count = f"{of} jobs" if len(ranked) == of else f"{len(ranked)} of {of} jobs"
    console.print(f"{count} in {folder}, best last", highlight=False)
    metrics = [name for name in ranked[0]["headline"] if any(name in result["metrics"] for result in ranked)]
    columns = [name.removeprefix("test/").replace("_", " ") for name in metrics]  # blanks, to be broken there
    table = Table("job", ranked[0]["monitor"], *columns, "parameters", "minutes")
    table.add_column("overrides", overflow="fold")
    for result in ranked:
        own = " ".join(override for override in result["overrides"] if override not in shared)
        tested = (f"{value:.4g}" if (value := result["metrics"].get(name)) is not None else "–" for name in metrics)
        facts = f"{result['parameters']:,}", f"{result['wall_seconds'] / 60:.1f}"
        table.add_row(Path(result["folder"]).name, f"{result['score']:.4f}", *tested, *facts, own)
    console.print(table)
    best = ranked[-1]
    by_seed = repeated(ranked)
    if len(by_seed) == 1:
        _print_metrics(console, ranked, metrics)
    elif by_seed:
        _print_seeds(console, best["monitor"], by_seed)
    else:
        print(f"best: {best['monitor']} {best['score']:.4f} with {' '.join(best['overrides'])}")


def repeated(results: list[dict[str, Any]]) -> list[tuple[str, list[float]]]:
    """Return the scores by the overrides without the seed, the best mean last; empty where no seed was repeated."""
    groups: dict[str, list[float]] = {}
    for result in results:
        own = " ".join(word for word in result["overrides"] if not word.startswith("seed="))
        groups.setdefault(own, []).append(result["score"])
    if max(map(len, groups.values())) == 1:
        return []
    sign = 1 if results[0]["mode"] == "max" else -1
    return sorted(groups.items(), key=lambda group: sign * statistics.fmean(group[1]))


def _print_metrics(console: Console, results: list[dict[str, Any]], metrics: Sequence[str]) -> None:
    """Print mean, deviation and range of the score and of each metric, of runs that differ in the seed alone."""
    monitor, seeds = results[0]["monitor"], [str(result["seed"]) for result in results]
    table = Table("metric", "mean", "deviation", "range", title=f"over {len(seeds)} seeds", title_justify="left")
    known: dict[str, list[float]] = {monitor: [result["score"] for result in results]}
    for name in metrics:
        known[name] = [value for result in results if (value := result["metrics"].get(name)) is not None]
    for name, values in known.items():
        table.add_row(name, *spread(values))
    console.print(table)
    own = " ".join(word for word in results[0]["overrides"] if not word.startswith("seed="))
    mean, deviation, _ = spread(known[monitor])
    around = f" ± {deviation}" if len(seeds) > 1 else ""
    print(f"{monitor} {mean}{around} over the seeds {', '.join(sorted(seeds, key=int))}{f' with {own}' if own else ''}")


def spread(values: Sequence[float]) -> tuple[str, str, str]:
    """Return mean, standard deviation of a sample and range, as texts. A single value has no deviation."""
    deviation = f"{statistics.stdev(values):.4f}" if len(values) > 1 else "–"
    return f"{statistics.fmean(values):.4f}", deviation, f"{min(values):.4f} to {max(values):.4f}"


def _print_seeds(console: Console, monitor: str, groups: list[tuple[str, list[float]]]) -> None:
    """Print mean, deviation and range of the scores over the seeds of each choice of the other overrides."""
    shared = set.intersection(*(set(own.split()) for own, _ in groups)) if len(groups) > 1 else set()
    table = Table("seeds", f"mean {monitor}", "deviation", "range", title="over the seeds", title_justify="left")
    table.add_column("overrides", overflow="fold")
    for own, scores in groups:
        words = " ".join(word for word in own.split() if word not in shared)
        table.add_row(str(len(scores)), *spread(scores), words)
    console.print(table)
    own, scores = groups[-1]
    print(f"best: {monitor} {statistics.fmean(scores):.4f} (mean of {len(scores)} seeds) with {own}")


def rank(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort from the worst score to the best. Of equal jobs, the first one to run counts as better."""

    def goodness(result: dict[str, Any]) -> tuple[float, float]:
        job = Path(result["folder"]).name
        return result["score"] * (1 if result["mode"] == "max" else -1), -int(job) if job.isdigit() else 0

    return sorted(results, key=goodness)
