"""Two ranks give the gradient of one process, for every network of the catalogue."""

from tests.catalogue import MODELS
from tests.run.programs import ROOT, ranks


def test_two_ranks_give_the_gradient_of_one(program_env):
    first, _ = ranks(["-m", "tests.run.two_ranks"], ROOT, program_env)
    walked = [line for line in first.stdout.splitlines() if " on " in line]
    pairs = ((name, task) for name, model in MODELS.items() for task in model.cls.tasks)
    every = [f"{name} on {task}" for name, task in pairs if task != "adversarial"]  # it steps its optimisers itself
    assert walked == [*every, "han on classification, weighted"]
