"""`zoo explore`: try trained networks in the browser."""

import argparse
from importlib.util import find_spec
from pathlib import Path

from zoo.commands import CHECKPOINT, new_parser
from zoo.errors import ConfigError
from zoo.explore.server import HOST, PORT, has_browser, serve
from zoo.run.folder import is_empty
from zoo.run.weights import included

ABOUT = "a page in the browser on which trained networks answer, beside all their attention"


def parser() -> argparse.ArgumentParser:
    """Return the parser of `zoo explore`."""
    explore = new_parser("explore", ABOUT)
    explore.add_argument("checkpoints", nargs="*", metavar="CKPT", help=f"{CHECKPOINT}; default: all included networks")
    explore.add_argument("--port", type=int, default=PORT, help=f"the port of the page (default {PORT}; 0: a free one)")
    explore.add_argument("--host", default=HOST, help=f"0.0.0.0 lets other machines open the page (default {HOST})")
    explore.add_argument("--no-browser", action="store_true", help="do not open a browser")
    explore.add_argument("--space", type=Path, metavar="DIR", help="write a Hugging Face Space; serve nothing")
    return explore


def run(words: list[str]) -> None:
    """Serve the page, or write a Space."""
    options = parser().parse_args(words)
    if find_spec("gradio") is None:
        raise ConfigError("zoo explore: gradio is not installed; pip install -e '.[explore]'")
    # by default the network of `python train.py` comes first
    names = options.checkpoints or sorted(included(), key=lambda name: name != "han")
    if options.space is None:
        serve(names, options.host, options.port, browser=has_browser() and not options.no_browser)
        return
    from zoo.explore.space import write_space

    if options.space.exists() and not (options.space.is_dir() and is_empty(options.space)):
        raise ConfigError(f"--space {options.space}: it exists and is not empty; give a new folder")
    write_space(options.space, names)
    print(f"wrote {options.space}; try it: python {options.space}/app.py")
