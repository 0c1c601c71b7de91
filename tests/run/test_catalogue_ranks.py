"""Two ranks give the gradient of one process, for every network of the catalogue."""

import socket
import subprocess
import sys

from tests.catalogue import MODELS
from tests.run.programs import ROOT


def test_two_ranks_give_the_gradient_of_one(program_env):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    shared = program_env | {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    ranks = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.run.two_ranks"],
            cwd=ROOT,
            env=shared | {"RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    outputs = [rank.communicate(timeout=180) for rank in ranks]
    for rank, (_, errors) in zip(ranks, outputs, strict=True):
        assert rank.returncode == 0, errors[-4000:]
    walked = [line for line in outputs[0][0].splitlines() if " on " in line]
    assert walked == [f"{name} on {task}" for name, model in MODELS.items() for task in model.cls.tasks]
