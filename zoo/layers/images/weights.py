"""Weights of torchvision's networks: downloaded, or from a file of the same form."""

import re
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torchvision import models
from torchvision.models.vision_transformer import VisionTransformer, interpolate_embeddings

from zoo.errors import ConfigError, did_you_mean

NONE, DEFAULT = "none", "default"
"""Random weights, and those that torchvision downloads; any other word is the path of a file."""


class _Undrawn(TorchFunctionMode):
    """Fill weights with zeros instead of drawing them, because drawing those of VGG-19 takes seconds."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = kwargs or {}
        if function in (Tensor.normal_, Tensor.uniform_):
            return args[0].zero_()
        if getattr(function, "__module__", "") == "torch.nn.init":
            with torch.no_grad():
                return (named["tensor"] if "tensor" in named else args[0]).zero_()
        return function(*args, **named)


def network(name: str, *, drawn: bool, size: int) -> nn.Module:
    """torchvision's network of that name, in evaluation: its weights are random or, unless `drawn`, zeros (norms: 1).

    A vision transformer is built for images of `size` pixels per side.
    """
    options: dict[str, Any] = {"image_size": size} if name.startswith("vit_") else {}
    if name in ("googlenet", "inception_v3"):  # trained with other means and deviations, which it computes from ours
        options = {"transform_input": True, "init_weights": drawn}
    with nullcontext() if drawn else _Undrawn():
        return models.get_model(name, weights=None, **options).eval()


def check_name(name: str) -> None:
    """Raise ConfigError unless torchvision has a classifier of that name."""
    if name not in (names := models.list_models(module=models)):
        raise ConfigError(f"name={name}: torchvision has no such network for images; {did_you_mean(name, names)}")


def weights_file(name: str, weights: str) -> Path:
    """The path of a network's weights; torchvision's are downloaded. Raises ConfigError."""
    if weights != DEFAULT:
        path = Path(weights).expanduser()
        if not path.is_file():
            raise ConfigError(
                f"weights={weights}: file not found; expected none, default (torchvision's, downloaded once) or "
                f"the path of a state dict of torchvision's {name}"
            )
        return path
    url: str = models.get_model_weights(name).DEFAULT.url
    path = Path(torch.hub.get_dir()) / "checkpoints" / url.rpartition("/")[2]
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        checksum = re.search(r"-([a-f0-9]{8,})\.", path.name)
        try:
            torch.hub.download_url_to_file(url, str(path), checksum and checksum[1])
        except (OSError, RuntimeError) as error:  # RuntimeError: its checksum differs
            raise ConfigError(
                f"weights=default: {url} could not be downloaded ({str(error).splitlines()[0]}). Download it on a "
                f"computer with internet access and put it at {path}, or set weights=PATH; weights=none begins "
                "with random weights"
            ) from error
    return path


def load_weights(body: nn.Module, whole: nn.Module, path: Path, name: str) -> None:
    """Load a file into `body`, a part of torchvision's network `whole` of that name. Raises ConfigError."""
    state = _read(path)
    if name.startswith("densenet"):  # torchvision's files use old names, with dots that modules no longer allow
        state = {re.sub(r"(denselayer\d+\.(?:norm|relu|conv))\.([12]\.)", r"\1\2", key): w for key, w in state.items()}
    if isinstance(whole, VisionTransformer) and "encoder.pos_embedding" in state:
        state = dict(interpolate_embeddings(whole.image_size, whole.patch_size, dict(state)))
    own = body.state_dict()
    for key, weight in own.items():
        if key not in state and key.endswith("num_batches_tracked"):  # old files lack it, and nothing reads it
            state = {**state, key: torch.zeros_like(weight)}
    missing = [key for key in own if key not in state]
    if missing:
        raise ConfigError(
            f"weights={path}: it has no {missing[0]} (and lacks {len(missing)} of the {len(own)} weights that are "
            f"needed); found {_first(state)}, expected the state dict of torchvision's {name}. Set name= to the "
            "network of this file, or write it again with torch.save(network.state_dict(), PATH)"
        )
    for key, weight in own.items():
        if state[key].shape != weight.shape:
            raise ConfigError(
                f"weights={path}: {key} is {tuple(state[key].shape)} there, {tuple(weight.shape)} in torchvision's "
                f"{name}: set name= to the network of this file"
            )
    body.load_state_dict({key: state[key] for key in own})


def _read(path: Path) -> Mapping[str, Tensor]:
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch's own message advises to switch its safety off
        raise ConfigError(
            f"weights={path}: not readable as weights: damaged, cut short or not plain tensors; remove it and download "
            "it again, or write it with torch.save(network.state_dict(), PATH)"
        ) from error
    if not isinstance(state, dict) or not all(isinstance(value, Tensor) for value in state.values()):
        found = f"a dict of {_first(state)}" if isinstance(state, dict) else type(state).__name__
        raise ConfigError(
            f"weights={path}: found {found}, expected a state dict, names with a tensor each: write only that, with "
            "torch.save(network.state_dict(), PATH)"
        )
    return state


def _first(state: Mapping[Any, Any]) -> str:
    """The first names of a file, for messages."""
    shown = ", ".join(map(str, list(state)[:3])) or "nothing"
    return f"{shown}, ..." if len(state) > 3 else shown
