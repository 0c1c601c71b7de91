"""Types of the root keys, and every argument of the installed Trainer, so that a typo or a wrong type fails at
composition."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any

from hydra.core.config_store import ConfigStore


@dataclass
class TrainConfig:
    """The root of conf/train.yaml."""

    seed: int = 1
    train: bool = True
    test: bool = True
    ckpt_path: str | None = None
    start_from: str | None = None
    compile: bool = False
    tags: list[str] = field(default_factory=list)
    model: Any = None
    data: Any = None
    objective: Any = None
    decoding: Any = None
    regularizer: Any = None
    task: Any = None
    optimizer: Any = None
    scheduler: Any = None
    trainer: Any = None
    logger: Any = None
    callbacks: Any = None


def register() -> None:
    """Stores the schemas where conf/train.yaml and conf/trainer/default.yaml look for them."""
    from lightning import Trainer

    store = ConfigStore.instance()
    store.store(name="schema", node=TrainConfig)
    arguments = {
        name: parameter.default for name, parameter in inspect.signature(Trainer).parameters.items() if name != "self"
    }
    store.store(group="trainer", name="signature", node={"_target_": "lightning.Trainer", **arguments})
