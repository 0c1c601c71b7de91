"""One paper, one file: plain modules that do not depend on Lightning, Hydra or wandb.

`from zoo.models import HAN` finds the class in any file of this folder, so that a new file needs no line here.
"""

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from zoo.errors import or_nearest


@cache
def _files() -> dict[str, str]:
    """The file of each class of this folder, by the name of the class."""
    return {
        name: path.stem
        for path in sorted(Path(__file__).parent.glob("[!_]*.py"), reverse=True)
        for name in re.findall(r"^class ([A-Z]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }


def __getattr__(name: str) -> Any:
    if name not in _files():
        near = or_nearest(name, _files()) if name[:1].isupper() else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{near}")
    return getattr(import_module(f"{__name__}.{_files()[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_files()})
