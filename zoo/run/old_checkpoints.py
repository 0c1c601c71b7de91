"""Checkpoints with the names of earlier versions."""

import re
from typing import Any

from zoo.dotted import class_at
from zoo.errors import CheckpointError
from zoo.signature import signature

MOVED = {
    "zoo.data.encoding.DocumentEncoder": "zoo.data.documents.encoding.DocumentEncoder",
    "zoo.data.pair_encoding.PairEncoder": "zoo.data.pairs.encoding.PairEncoder",
    "zoo.objectives.Coverage": "zoo.objectives.CoverageLoss",
    "zoo.layers.image_backbone.Backbone": "zoo.layers.images.backbone.Backbone",
    "zoo.layers.image_small.SmallEncoder": "zoo.layers.images.small.SmallEncoder",
}
SPECS = {"DocumentSpec": "zoo.data.documents.batch.DocumentSpec", "PairSpec": "zoo.data.pairs.batch.PairSpec"}
SPEC = re.compile(r"^(zoo\.data\.\w+)\.spec\.(\w+Spec)$")  # Specs had a module of their own
TASK = re.compile(r"^zoo\.tasks\.(\w+)\.(\w+)$")
"""The zoo's tasks, whose checkpoints did not name the class that predicts."""
RENAMED = {"window": "neighbourhood"}  # Arguments of networks, for networks that no longer accept the old name


def modernised(content: dict[str, Any]) -> dict[str, Any]:
    """The content of a checkpoint with today's names."""
    content = {key: _moved(part) if key in ("zoo", "hyper_parameters") else part for key, part in content.items()}
    if "task" in (about := content["zoo"]):
        about.setdefault("predicting", TASK.sub(r"zoo.predicting.\1.\2Predictions", about["task"]))
    spec = about.get("spec", {})
    if "kind" in spec:
        about["spec"] = {"class": SPECS.get(spec["kind"], spec["kind"])} | {
            key: value for key, value in spec.items() if key != "kind"
        }
    if "_target_" in (options := content.get("hyper_parameters", {})).get("model", {}):
        options["model"] = _renamed(options["model"])
    if "lr_schedulers" in content and content.get("optimizer_states"):
        content["lr_schedulers"] = [_triangle(state, content["optimizer_states"]) for state in content["lr_schedulers"]]
    return content


def _moved(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _moved(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_moved(value) for value in part]
    if not isinstance(part, str):
        return part
    if (now := MOVED.get(part) or SPEC.sub(r"\1.batch.\2", part)) == part or _here(part):
        return part
    return now


def _here(name: str) -> bool:
    try:
        return bool(class_at(name, object))
    except CheckpointError:
        return False


def _renamed(model: dict[str, Any]) -> dict[str, Any]:
    if not _here(model["_target_"]):
        return model  # the error appears where it is built
    takes = signature(class_at(model["_target_"], object)).parameters
    return {
        RENAMED[name] if name in RENAMED and name not in takes and RENAMED[name] in takes else name: value
        for name, value in model.items()
    }


def _triangle(state: dict[str, Any], optimizers: list[dict[str, Any]]) -> dict[str, Any]:
    """The state of torch's OneCycleLR, the former scheduler=linear, as that of SlantedTriangle."""
    if "_schedule_phases" not in state:
        return state
    tops = [group["max_lr"] for group in optimizers[0]["param_groups"]]
    kept = {"last_epoch", "total_steps", "_step_count", "_last_lr"}
    return {key: value for key, value in state.items() if key in kept} | {"base_lrs": tops}
