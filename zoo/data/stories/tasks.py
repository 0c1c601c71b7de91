"""The twenty bAbI tasks: their numbers, names and official files."""

from __future__ import annotations

NAMES: dict[int, str] = {
    1: "single-supporting-fact",
    2: "two-supporting-facts",
    3: "three-supporting-facts",
    4: "two-arg-relations",
    5: "three-arg-relations",
    6: "yes-no-questions",
    7: "counting",
    8: "lists-sets",
    9: "simple-negation",
    10: "indefinite-knowledge",
    11: "basic-coreference",
    12: "conjunction",
    13: "compound-coreference",
    14: "time-reasoning",
    15: "basic-deduction",
    16: "basic-induction",
    17: "positional-reasoning",
    18: "size-reasoning",
    19: "path-finding",
    20: "agents-motivations",
}
"""The name of each task in the names of its files."""


def file_name(task: int, split: str) -> str:
    """The official file of a task and a split, `train` or `test`: `qa1_single-supporting-fact_train.txt`."""
    return f"qa{task}_{NAMES[task]}_{split}.txt"
