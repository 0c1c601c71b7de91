"""`zoo compare`: runs side by side."""

import argparse
import sys
from pathlib import Path

from zoo.commands import new_parser, terminal

ABOUT = "runs side by side: the settings that differ, the metrics, a picture or a page of the curves"


def parser() -> argparse.ArgumentParser:
    """Return the parser of `zoo compare`."""
    compare = new_parser("compare", ABOUT)
    compare.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="the folder of a run")
    compare.add_argument("--picture", type=Path, metavar="FILE", help="draw the curves, e.g. curves.png or curves.pdf")
    compare.add_argument("--html", type=Path, metavar="FILE", help="write the tables and the curves as a page")
    return compare


def run(words: list[str]) -> None:
    """Print the tables, and write the files that the options ask for, and curves.png of runs that were killed."""
    from zoo.run.comparison import as_page, curves_picture, read_all, tables
    from zoo.run.folder import write_whole
    from zoo.visualize.curves import METRICS_FILE, PICTURE
    from zoo.visualize.renderers.terminal import Printed

    options = parser().parse_intermixed_args(words)
    runs = read_all(options.runs)
    terminal(highlight=False).print(Printed(tables(runs)))
    pictures = [(options.picture, runs)] if options.picture else []
    killed = [one for one in runs if (one.folder / METRICS_FILE).is_file() and not (one.folder / PICTURE).is_file()]
    for path, shown in [*pictures, *((one.folder / PICTURE, [one]) for one in killed)]:
        from zoo.visualize import save_picture

        save_picture(curves_picture(shown), path)
        print(f"wrote {path}", file=sys.stderr)
    if options.html:
        options.html.parent.mkdir(parents=True, exist_ok=True)
        write_whole(options.html, as_page(runs))
        print(f"wrote {options.html}", file=sys.stderr)
