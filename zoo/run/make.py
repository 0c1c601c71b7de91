"""Objects from their nodes of a configuration."""

from __future__ import annotations

from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from lightning.pytorch.utilities.exceptions import MisconfigurationException

from zoo.errors import ConfigError, ZooError
from zoo.values import said_below


def make(node: Any, key: str, **given: Any) -> Any:
    """Build the object of the node at `key`. Raises ConfigError, with the key, where its constructor refuses."""
    try:
        return instantiate(node, **given, _convert_="all")
    except InstantiationException as error:
        cause = error.__cause__
        if not isinstance(cause, (ZooError, ValueError, TypeError, ArithmeticError, MisconfigurationException)):
            raise
        raise ConfigError(said_below(key, " ".join(str(cause).split()))) from error
