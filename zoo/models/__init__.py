"""One paper, one file: plain modules that do not depend on Lightning, Hydra or wandb.

`from zoo.models import HAN` finds the class in any file of this folder, so that a new file needs no line here.
"""

import re
from importlib import import_module
from pathlib import Path
from typing import Any


def __getattr__(name: str) -> Any:
    for file in sorted(Path(__file__).parent.glob("*.py")) if name.isidentifier() else ():
        if re.search(rf"^class {name}\b", file.read_text(encoding="utf-8"), re.MULTILINE):
            return getattr(import_module(f"{__name__}.{file.stem}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
