"""attention-zoo: attention and memory networks, one paper per file, trained with one command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zoo.run.checkpoint import load

__version__ = "0.1.0"
__all__ = ["__version__", "load"]


def __getattr__(name: str) -> Any:
    if name == "load":  # late, so that `import zoo` stays quick
        from zoo.run.checkpoint import load

        return load
    raise AttributeError(f"module 'zoo' has no attribute {name!r}")
