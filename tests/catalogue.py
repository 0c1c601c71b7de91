"""The catalogue as the tests see it: conf/model/*.yaml, composed, each with the class that it builds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.utils import get_class
from omegaconf import OmegaConf

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Model:
    """One file of conf/model."""

    name: str
    cls: Any
    arguments: dict[str, Any]
    """The keyword arguments that the file gives."""


def models() -> dict[str, Model]:
    """Every model by its name in the catalogue."""
    found = {}
    with initialize_config_dir(version_base="1.3", config_dir=str(ROOT / "conf")):
        for path in sorted((ROOT / "conf" / "model").glob("*.yaml")):
            node = OmegaConf.to_container(compose(f"model/{path.stem}")["model"])
            assert isinstance(node, dict)
            arguments = {str(key): value for key, value in node.items()}
            found[path.stem] = Model(path.stem, get_class(arguments.pop("_target_")), arguments)
    return found


MODELS = models()
