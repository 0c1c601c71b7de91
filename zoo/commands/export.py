"""`zoo export`: a trained network as files that run without this package."""

import argparse
from pathlib import Path

from zoo.commands import CHECKPOINT, new_parser
from zoo.errors import one_of

ABOUT = "write a trained network as ONNX, or for torch.export.load"
TARGETS = ("onnx", "torch")


def parser() -> argparse.ArgumentParser:
    """Return the parser of `zoo export`."""
    export = new_parser("export", ABOUT)
    export.add_argument("checkpoint", help=CHECKPOINT)
    export.add_argument("--to", metavar="TARGET", default="onnx", help="onnx (default), or torch for torch.export.load")
    export.add_argument(
        "--out", type=Path, metavar="DIR", help="the folder to write, by default beside the checkpoint: best-onnx"
    )
    return export


def run(words: list[str]) -> None:
    """Check the options and the checkpoint, then write the folder and print what is in it."""
    options = parser().parse_args(words)
    to = one_of("--to", options.to, TARGETS)

    from zoo.export.folder import check_folder, export
    from zoo.export.targets import TARGETS as KNOWN
    from zoo.run.checkpoint import load
    from zoo.run.weights import locate

    KNOWN[to].check()
    checkpoint = locate(options.checkpoint)
    beside = Path(checkpoint.name) if checkpoint.is_dir() else checkpoint  # not among the included networks
    folder = options.out or beside.with_name(f"{beside.stem}-{to}")
    check_folder(folder)
    differences = export(load(checkpoint), to, folder)
    for name, largest in differences.items():
        print(f"{name}: differs from the network by at most {largest:.1g}")
    print(f"wrote {folder}: its README.md has the inputs, the outputs and a program that runs it")
