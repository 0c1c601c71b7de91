"""Train the included networks and store them. Run: python weights/make.py [NAME ...] [--runs DIR]

Each network is trained by the default command of its task, smaller and longer where the default is over the limit of
1.3 MB. One that misses a bar is not stored. Weights are rounded to half precision, and the stored test score is that of
the rounded weights on 200 examples. `tests/run/test_weights.py` predicts and scores them again.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zoo
from zoo.run.checkpoint import read_checkpoint
from zoo.run.weights import TENSORS, model_card, write_folder

HERE = Path(__file__).resolve().parent
EXPECTED = "expected.json"
LARGEST, ALL = 1_300_000, 12_000_000  # Bytes of one network, and of all
FEW = 200


@dataclass(frozen=True)
class Recipe:
    """How a network is trained, and what it has to reach."""

    command: str
    """The overrides of train.py."""
    bars: Mapping[str, float]
    """The test metrics that the run must reach: at least the bound, or at most the bound if it is negative."""
    example: Any
    """An input as JSON, whose prediction is stored."""
    few: str = f"data.sample.test={FEW}"
    """The overrides for a test of 200 examples."""


RECIPES = {
    "han": Recipe(
        "model=han data=yelp",
        {"accuracy": 0.98, "attention_recall": 0.7},
        "The food was lovely. The service was poor.",
    ),
    "transformer": Recipe(
        "model=transformer data=multi30k model.hidden_dim=96 model.layers=2 model.heads=4 model.feedforward_dim=192 "
        "trainer.max_epochs=10",
        {"bleu": 85.0},
        "jan lacht, sobald die katze einschläft.",
    ),
    "memn2n": Recipe(
        "model=memn2n data=babi", {"error": -0.05}, "Mary went to the kitchen. John went to the garden. Where is Mary?"
    ),
    "aoa_reader": Recipe(
        "model=aoa_reader data=cbt",
        {"accuracy": 0.9},
        "The clock was lost by Viktor. The pearl was shattered by Edgar. Nadia repaired the clock. XXXXX smashed the pearl.",
    ),
    "pointer_net": Recipe(
        "model=pointer_net data=convex_hull model.embedding_dim=128 model.hidden_dim=128",
        {"accuracy": 0.8},
        [[0.1, 0.1], [0.9, 0.2], [0.5, 0.5], [0.8, 0.9], [0.2, 0.8]],
    ),
    "ntm": Recipe("model=ntm data=copy_bits", {"exact_length20": 0.95}, "10111101 01001111 11100010"),
    "show_attend_tell": Recipe(
        "model=show_attend_tell data=scenes model.hidden_dim=160", {"true": 0.85, "attention_recall": 0.6}, None
    ),
    "tree_lstm": Recipe("model=tree_lstm data=sst", {"accuracy_roots": 0.9}, "critics loved this film ."),
    "tree_lstm_sick": Recipe(
        "model=tree_lstm data=sick", {"pearson": 0.9}, ["the old photo is repaired by a bunny .", "an aged picture is mended ."]
    ),
}
