"""Forks a program for each request, with everything imported already: what a new process spends most of its time on.

`programs.py` starts it once and talks to it in lines of JSON over two pipes. A program is what it would be by itself:
its own environment, folder, output, seeds of random numbers, exit code; only the seed of `hash` is that of the server.
"""

import atexit
import gc
import json
import os
import random
import runpy
import sys
import threading
import traceback
from typing import Any, NoReturn

import numpy

import zoo.cli
import zoo.run.train  # noqa: F401 (imported for the programs)
from tests import composing
from zoo.run import catalogue
from zoo.run.compose import compose


def serve(requests: Any, answers: Any) -> dict[str, Any] | None:
    """Answers requests until there are no more (None); in a forked process returns what that one shall run."""
    for line in requests:
        request = json.loads(line)
        if "words" in request:
            pid = os.fork()
            if pid == 0:
                return request
            print(pid, file=answers, flush=True)
        else:
            pid, status = os.waitpid(request["pid"], os.WNOHANG)
            print(os.waitstatus_to_exitcode(status) if pid else "running", file=answers, flush=True)
    return None


def become(request: dict[str, Any]) -> None:
    """Gives this process the output, environment and folder of the request, and random numbers of its own."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        file = os.open(request[name], flags, 0o644)
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    random.seed()
    numpy.random.seed()


def run(words: list[str]) -> int:
    """Runs what `python *words` runs; its exit code."""
    first, *rest = words
    try:
        if first == "-m":
            sys.argv[:] = rest
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        else:
            sys.argv[:] = words
            runpy.run_path(first, run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def end(code: int) -> NoReturn:
    """As Python ends, but for taking all modules to pieces: of what a short program does the greater part."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main() -> None:
    composing.install()
    catalogue.models(), catalogue.datasets(), compose([])  # imports what conf names and Hydra finds
    gc.freeze()  # else each fork would copy what its collector looks at
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    request = serve(requests, answers)
    if request is None:
        end(0)
    requests.close()
    answers.close()
    become(request)
    end(run(request["words"]))


if __name__ == "__main__":
    main()
