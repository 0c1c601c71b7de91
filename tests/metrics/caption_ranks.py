"""Captions with uneven numbers of references, and one rank of two that score them together.

Run by test_captions.py in two processes with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set.
"""

from __future__ import annotations

import json
import os
import random

import torch.distributed as dist
from torchmetrics import Metric

import zoo.metrics.captions as module
from zoo.metrics import CaptionBLEU, CiderD, Meteor, RougeL

WORDS = ("a", "the", "dog", "cat", "man", "runs", "sits", "über", "on", "in", "red", "blue", "ball", "grass", "café")


def corpus(images: int = 30, seed: int = 0) -> tuple[list[str], list[list[str]]]:
    """Hypotheses that share most of their words with one of 1 to 5 references."""
    draw = random.Random(seed)
    references = [
        [" ".join(draw.choices(WORDS, k=draw.randint(2, 12))) for _ in range(draw.randint(1, 5))] for _ in range(images)
    ]
    hypotheses = [
        " ".join(draw.choice(WORDS) if draw.random() < 0.2 else word for word in draw.choice(several).split())
        for several in references
    ]
    return hypotheses, references


def metrics() -> dict[str, Metric]:
    return {"bleu4": CaptionBLEU(4), "bleu1": CaptionBLEU(1), "rouge_l": RougeL(), "cider_d": CiderD()}


def main() -> None:
    rank = int(os.environ["RANK"])
    hypotheses, references = corpus()
    dist.init_process_group("gloo")
    ran = []

    def scored(rows: list[list[str]]) -> float:
        """In place of Java."""
        ran.append(len(rows))
        return float(sum(len(text) for row in rows for text in row))

    module.meteor = scored  # type: ignore[assignment]
    found = {**metrics(), "meteor": Meteor()}
    for metric in found.values():
        for part in (slice(0, 9), slice(9, 12)) if rank == 0 else (slice(12, 30),):
            metric.update(hypotheses[part], references[part])
    values = {name: metric.compute().item() for name, metric in found.items()}
    print(json.dumps({"values": values, "ran": ran}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
