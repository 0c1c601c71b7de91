"""The text options of a checkpoint for the data of a run that starts from it."""

import logging
from collections.abc import Sequence
from typing import Any

from omegaconf import DictConfig

log = logging.getLogger(__name__)


def continues_text(overrides: Sequence[str]) -> bool:
    """Whether a run that starts from a checkpoint also continues its vocabulary: no override is about data.text."""
    return not any(word.lstrip("+~").startswith(("data.text", "data/text")) for word in overrides)


def adopt_text(cfg: DictConfig, content: dict[str, Any], overrides: Sequence[str]) -> None:
    """Set the keys of `data.text` as in a checkpoint, except those that the overrides set.

    A text is then cut into words as it was for the network. The vocabulary is not limited again.
    """
    options, own = content["zoo"]["encoder"].get("text"), cfg.data.get("text")
    if not isinstance(options, dict) or not isinstance(own, DictConfig):
        return
    given = {word.lstrip("+~").partition("=")[0] for word in overrides}
    changed = {key: value for key, value in options.items() if key in own and own[key] != value}
    for key, value in changed.items():
        if f"data.text.{key}" not in given:
            own[key] = value
            log.info("start_from: data.text.%s=%s as in the checkpoint", key, value)
