"""The catalogue as the tests see it: conf/model/*.yaml, composed, each with the class that it builds."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.utils import get_class
from omegaconf import OmegaConf

from zoo.run import catalogue
from zoo.run.compose import compose

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Model:
    """One file of conf/model."""

    name: str
    cls: Any
    arguments: dict[str, Any]  # The keyword arguments that the file gives


def models() -> dict[str, Model]:
    """Every model by its name in the catalogue."""
    found = {}
    for entry in catalogue.models().values():
        content = OmegaConf.load(catalogue.model_file(entry.name))
        if "defaults" in content:
            content = compose([f"model={entry.name}", f"data={catalogue.data_for(entry.tasks)[0]}"]).model
        node = OmegaConf.to_container(content)
        assert isinstance(node, dict)
        arguments = {str(key): value for key, value in node.items()}
        found[entry.name] = Model(entry.name, get_class(arguments.pop("_target_")), arguments)
    return found


MODELS = models()
