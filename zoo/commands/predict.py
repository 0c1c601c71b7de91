"""`zoo predict`: the predictions of a trained network, on the terminal and as files."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoo.commands import CHECKPOINT, new_parser, terminal
from zoo.errors import CheckpointError, ConfigError, DataError, ZooError
from zoo.run.streams import as_json
from zoo.run.weights import HUB, included

if TYPE_CHECKING:
    from zoo.visualize.view import View

ABOUT = "the predictions of a trained network for your inputs, and its attention"
OUTPUTS = ("csv", "html", "attention")
NAMED, PRINTED, PICTURES = 8, 20, 50
"""The most unknown words that are named, the most answers that are printed beside a file of them (more are summarised),
and the default of --pictures."""


def parser(view: View | None = None, task: str = "") -> argparse.ArgumentParser:
    """Return the parser of `zoo predict`: its general options, and those of the `view` of a checkpoint's `task`."""
    noun = view.noun if view else "text"
    more = "" if view else "; with a checkpoint, --help also shows the options of its task"
    predict = new_parser("predict", ABOUT + more)
    predict.add_argument("checkpoint", help=CHECKPOINT)
    predict.add_argument(
        "words",
        nargs="*",
        default=[],
        metavar=noun,
        help=f"without inputs and without --file, one {noun} per line is read from standard input",
    )
    predict.add_argument("--file", type=Path, help=f"a file with {view.in_file if view else f'one {noun} per line'}")
    predict.add_argument("--json", action="store_true", help="one JSON object per line")
    predict.add_argument("--csv", type=Path, metavar="OUT", help="write a table")
    predict.add_argument("--html", type=Path, metavar="OUT", help="write a page to look at")
    predict.add_argument(
        "--attention",
        metavar="OUT",
        help="draw the attention as .png, .pdf or .svg; several inputs give OUT-1.png, OUT-2.png, ...; a folder, "
        "required for many inputs, gets OUT/1.png, OUT/2.png, ...",
    )
    predict.add_argument(
        "--pictures",
        type=int,
        default=PICTURES,
        metavar="N",
        help=f"the most pictures that --attention draws (default {PICTURES})",
    )
    if view is not None:
        view.options(predict.add_argument_group(task))
    return predict


def run(words: list[str]) -> None:
    """Run `zoo predict`. The checkpoint is loaded first, since its task has options of its own."""
    checkpoint = _checkpoint(words)

    _spare_pandas()
    from zoo.files import make_folder, picture_file
    from zoo.run.checkpoint import load
    from zoo.visualize.view import view_of

    predictor = load(checkpoint)
    view, task = view_of(predictor.task), predictor.task.name
    options, foreign = parser(view, task).parse_known_intermixed_args(words)
    if foreign:
        raise ConfigError(
            f"{foreign[0]}: not an option for a network that was trained for {task}; "
            f"zoo predict {checkpoint} --help lists the options"
        )
    in_a_folder = False
    if options.attention is not None:
        view.check_picture()
        path = Path(options.attention)
        in_a_folder = path.is_dir() or options.attention.endswith(("/", os.sep))
        options.attention = path if in_a_folder else picture_file("--attention", path)
    view.prepare(predictor, options)
    if getattr(options, "language_model", None) is not None:
        task_of_writing: Any = predictor.task
        task_of_writing.fuse(load(options.language_model), options.language_weight)
    if view.talks(predictor, options):
        return
    inputs = view.read(options.words, options.file)
    if all(given is None for given in inputs):
        article = "an" if view.noun[0] in "aeiou" else "a"
        raise DataError(f"nothing to predict: give {article} {view.noun}, --file FILE, or lines on standard input")
    real = [given for given in inputs if given is not None]
    if options.attention is not None and not in_a_folder and len(real) > max(options.pictures, 1):
        raise ConfigError(
            f"--attention {options.attention}: {len(real):,} inputs need a folder: "
            f"--attention {options.attention.with_suffix('')}/ gets pictures of the first {options.pictures}"
        )
    if options.attention is not None and in_a_folder:
        options.attention = options.attention / "1.png"
    for name in OUTPUTS:
        if getattr(options, name) is not None:
            make_folder(f"--{name}", getattr(options, name))
    bad: list[ZooError] = []
    found = iter(predictor(real, progress=not view.streams, unusable=bad.append))
    predictions = [None if given is None else next(found) for given in inputs]
    if len(real) == len(bad) == 1:
        raise bad[0]
    if len(bad) < len(real):
        if (options.csv or options.html) and len(real) > PRINTED and not options.json:
            _summarise(view, predictions)
        else:
            _print(view, predictions, options)
        _name_unknown(view, predictions)
        readable = [p for given, p in zip(inputs, predictions, strict=True) if given is None or p is not None]
        _write(view, predictions, readable, options)
        if options.attention is not None:
            _draw(view, predictions, options, in_a_folder=in_a_folder)
    for error in bad:
        print(f"left out: {error}", file=sys.stderr)
    if bad:  # the exit code tells a script that some inputs have no prediction
        raise DataError(
            f"{len(bad):,} of {len(real):,} {view.noun}s could not be used and have no prediction: see above"
        )


class _NoPandas(MetaPathFinder):
    """Refuses to import pandas."""

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def _spare_pandas() -> None:
    """Let pyarrow do without pandas in this program. It imports pandas at its first array, to recognise arrays of
    pandas, which takes longer than most predictions. Later imports of pandas are as usual."""
    import pyarrow

    sys.meta_path.insert(0, refusing := _NoPandas())
    pyarrow.array([])
    sys.meta_path.remove(refusing)


def _checkpoint(words: list[str]) -> str:
    """Return the checkpoint among the words after `zoo predict`; end with argparse's message where there is none.

    Raises CheckpointError for two checkpoints.
    """
    asked = [word for word in words if word not in ("-h", "--help")]
    if len(asked) < len(words) and all(word.startswith("-") for word in asked):
        parser().parse_args(words)
    general, _ = parser().parse_known_args(asked)
    found = [general.checkpoint, *general.words]  # includes the values of a task's own options
    first = found[0] if not asked[0].startswith("-") else next(filter(_looks_like_checkpoint, found), found[0])
    if more := [word for word in found if word.endswith(".ckpt") and word != first]:
        raise CheckpointError(f"expected one checkpoint, found {', '.join([first, *more])}")
    return first


def _looks_like_checkpoint(word: str) -> bool:
    return word == "last" or word.endswith(".ckpt") or word.startswith(HUB) or word in included() or Path(word).is_dir()


def _print(view: View, predictions: Sequence[Any | None], options: argparse.Namespace) -> None:
    screen = terminal()
    for number, prediction in enumerate(predictions):
        if options.json:
            print(as_json(None if prediction is None else view.as_json(prediction)))
        elif prediction is None:
            print()
        else:
            said = view.terminal(prediction, number, options)
            print(said) if isinstance(said, str) else screen.print(said)


def _summarise(view: View, predictions: Sequence[Any | None]) -> None:
    """Print how many predictions there are and, where they are few, how often each answer was given."""
    rows = [view.row(prediction) for prediction in predictions if prediction is not None]
    print(f"{len(rows):,} {view.noun}s")
    answers = Counter(str(row[1]) for row in rows if len(row) > 1)
    if len(answers) <= PRINTED:
        for answer, count in answers.most_common():
            print(f"{count:8,}  {view.columns[1]} {answer}")


def _name_unknown(view: View, predictions: Sequence[Any | None]) -> None:
    from zoo.printable import shown

    unknown = [shown(word) for prediction in predictions if prediction is not None for word in view.unknown(prediction)]
    if distinct := list(dict.fromkeys(unknown)):
        more = f" and {len(distinct) - NAMED:,} more" if len(distinct) > NAMED else ""
        print(f"unknown to the network: {', '.join(distinct[:NAMED])}{more}", file=sys.stderr)


def _write(
    view: View, predictions: Sequence[Any | None], readable: Sequence[Any | None], options: argparse.Namespace
) -> None:
    """Write the files of the options; `readable` are the predictions of the inputs that could be read or are blank."""
    from zoo.files import csv_text
    from zoo.run.folder import write_whole

    texts = dict(view.files(predictions, options))
    if options.csv is not None:
        nothing = [[""] * len(view.columns)]
        found = ((n, nothing if p is None else view.rows(p)) for n, p in enumerate(predictions, 1))
        rows = ([n, *row] for n, rows in found for row in rows)
        texts[options.csv] = csv_text(["line", *view.columns], rows)
    if options.html is not None:
        texts[options.html] = view.page(readable)
    for path, text in texts.items():
        write_whole(path, text)
        print(f"wrote {path}", file=sys.stderr)


def _draw(view: View, predictions: Sequence[Any | None], options: argparse.Namespace, *, in_a_folder: bool) -> None:
    """Draw one picture for each input: in a folder 1.png, 2.png, ...; else OUT.png, or OUT-1.png, OUT-2.png, ... for
    several. The numbers are those of the inputs, blank ones counted."""
    from zoo.data.rows import some
    from zoo.visualize.renderers.canvas import save_picture

    path, drawn = options.attention, 0
    for number, prediction in enumerate(predictions, 1):
        figure = None if prediction is None or drawn >= options.pictures else view.picture(prediction)
        if figure is None:
            continue
        several = path.with_name(f"{path.stem}-{number}{path.suffix}") if len(predictions) > 1 else path
        name = path.with_name(f"{number}.png") if in_a_folder else several
        save_picture(figure, name)
        drawn += 1
        if not in_a_folder:
            print(f"wrote {name}", file=sys.stderr)
    if in_a_folder:
        print(f"wrote {some(drawn, 'picture')} to {path.parent}", file=sys.stderr)
    real = sum(prediction is not None for prediction in predictions)
    if drawn and drawn >= options.pictures and real > drawn:
        print(f"the first {drawn:,} of {real:,} inputs; --pictures {real} draws all", file=sys.stderr)
