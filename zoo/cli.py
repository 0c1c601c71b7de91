"""The `zoo` command: list, train, predict, data."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoo import __version__
from zoo.errors import CheckpointError, ConfigError, DataError, ZooError, did_you_mean
from zoo.run.streams import as_json, patient_streams, stopped_by_ctrl_c

if TYPE_CHECKING:
    from rich.console import Console

    from zoo.visualize.view import View

EXAMPLES = """examples:
  zoo list
  zoo train model=han data=yelp
  zoo predict logs/han_yelp/<time>/checkpoints/best.ckpt "The food was lovely."
  zoo predict logs/luong_multi30k/<time>/checkpoints/best.ckpt "Ein Mann schläft." --beam 5 --nbest 3
  zoo data documents data.path=my.csv data.text_column=text data.label_column=label
"""
PREDICT = "the predictions of a trained network for your inputs, and its attention"
CONFIG_DIR = "for every command: a folder with your own configuration; the Python modules beside DIR can be imported"
OUTPUTS = ("csv", "html", "attention")
COMMANDS = ("list", "train", "predict", "data")
NAMED, PRINTED, PICTURES = 8, 20, 50
"""The most unknown words that are named, the most answers that are printed beside a file of them (more are summarised),
and the default of --pictures."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands except `zoo predict`, which has `predict_parser`."""
    root = argparse.ArgumentParser(
        prog="zoo",
        description="Attention and memory networks: one paper per file.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument("--version", action="version", version=f"attention-zoo {__version__}")
    root.add_argument("--config-dir", metavar="DIR", help=CONFIG_DIR)
    commands = root.add_subparsers(dest="command", required=True, metavar="list | train | predict | data")

    catalogue = commands.add_parser(
        "list", help="the models, their papers and tasks, the data that fit, the experiments"
    )
    catalogue.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="only entries with these words, e.g. models, data, experiments, a task, a name",
    )
    catalogue.add_argument("--json", action="store_true", help="as JSON")

    training = commands.add_parser("train", help="the same as python train.py, from any folder", add_help=False)
    training.add_argument("overrides", nargs=argparse.REMAINDER)

    predict = commands.add_parser("predict", help=PREDICT, add_help=False)
    predict.add_argument("words", nargs=argparse.REMAINDER)

    data = commands.add_parser(
        "data", help="prepare a data set and describe it: counts, lengths, unknown words, examples"
    )
    data.add_argument("name", help="as in data=NAME")
    data.add_argument("overrides", nargs="*", help="such as data.source=PATH")
    data.add_argument("--json", action="store_true", help="as JSON")
    data.add_argument("--write", type=Path, metavar="DIR", help="write the examples as files of their official format")
    data.add_argument(
        "--from-text",
        nargs="+",
        default=[],
        metavar="FILE",
        help="make the examples from plain text, if the data set supports it",
    )
    for command in (catalogue, data):
        command.add_argument("--config-dir", metavar="DIR", help=CONFIG_DIR)
    return root


def predict_parser(view: View | None = None, task: str = "") -> argparse.ArgumentParser:
    """Return the parser of `zoo predict`: its general options, and those of the `view` of a checkpoint's `task`."""
    noun = view.noun if view else "text"
    more = "" if view else "; with a checkpoint, --help also shows the options of its task"
    predict = argparse.ArgumentParser(prog="zoo predict", description=PREDICT + more)
    predict.add_argument("checkpoint", help="a checkpoint, the folder of a run (its best), or last: the newest run")
    predict.add_argument(
        "words",
        nargs="*",
        default=[],
        metavar=noun,
        help=f"without inputs and without --file, one {noun} per line is read from standard input",
    )
    predict.add_argument("--config-dir", metavar="DIR", help=CONFIG_DIR)
    predict.add_argument("--file", type=Path, help=f"a file with one {noun} per line")
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


@patient_streams()
@stopped_by_ctrl_c()
def main(arguments: list[str] | None = None) -> None:
    """Run one command; a ZooError ends in one line and exit code 2."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["train"]:  # Hydra reads what follows, --help and -m among it
        from zoo.run.launch import main as train

        sys.argv[1:] = words[1:]
        return train(command=("train",))
    overrides: list[str] = []
    try:
        from zoo.run import search_path

        words = search_path.take(words)
        if words[:1] == ["train"]:
            return main([*words, *search_path.overrides()])
        if words[:1] == ["predict"]:
            return _predict(words[1:])
        if words and not words[0].startswith("-") and words[0] not in COMMANDS:
            raise ConfigError(f"zoo {words[0]}: unknown command; {did_you_mean(words[0], COMMANDS, 'zoo ')}")
        options, more = parser().parse_known_args(words)  # argparse does not accept words on both sides of a flag
        if options.command == "data" and all("=" in word for word in more):
            more += [word for word in options.from_text if "=" in word and not Path(word).exists()]
            options.from_text = [word for word in options.from_text if word not in more]
            if named := [word for word in (*options.overrides, *more) if word.startswith("data=")]:
                raise ConfigError(f"{named[0]}: `zoo data {options.name}` already names the data; remove this word")
            overrides += [f"data={options.name}", *options.overrides, *more]
            _data(options, overrides)
        elif more:
            parser().error(f"unrecognized arguments: {' '.join(more)}")
        else:
            _list(options)
    except ZooError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except Exception as error:
        from zoo.run.messages import explain

        message = explain(error, overrides)  # the line that `python train.py` prints
        if message is None:
            raise
        print(message, file=sys.stderr)
        sys.exit(2)


def _list(options: argparse.Namespace) -> None:
    from zoo.run.listing import as_text, catalogue_entries

    console = _console(highlight=False)
    entries = catalogue_entries(options.words)
    if options.json:
        print(as_json(entries, indent=2))
    else:
        console.print(as_text(entries, console.width), soft_wrap=True)


def _predict(words: list[str]) -> None:
    """Run `zoo predict`. The checkpoint is loaded first, since its task has options of its own."""
    checkpoint = _checkpoint(words)

    from zoo.files import make_folder, picture_file
    from zoo.run.checkpoint import load
    from zoo.visualize.view import view_of

    predictor = load(checkpoint)
    view, task = view_of(predictor.task), predictor.task.name
    options, foreign = predict_parser(view, task).parse_known_intermixed_args(words)
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
    found = iter(predictor(real, progress=True, unusable=bad.append))
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


def _checkpoint(words: list[str]) -> str:
    """Return the checkpoint among the words after `zoo predict`; end with argparse's message where there is none.

    Raises CheckpointError for two checkpoints.
    """
    asked = [word for word in words if word not in ("-h", "--help")]
    if len(asked) < len(words) and all(word.startswith("-") for word in asked):
        predict_parser().parse_args(words)
    general, _ = predict_parser().parse_known_args(asked)
    found = [general.checkpoint, *general.words]  # includes the values of a task's own options
    first = found[0] if not asked[0].startswith("-") else next(filter(_looks_like_checkpoint, found), found[0])
    if more := [word for word in found if word.endswith(".ckpt") and word != first]:
        raise CheckpointError(f"expected one checkpoint, found {', '.join([first, *more])}")
    return first


def _looks_like_checkpoint(word: str) -> bool:
    return word == "last" or word.endswith(".ckpt") or Path(word).is_dir()


def _print(view: View, predictions: Sequence[Any | None], options: argparse.Namespace) -> None:
    console = _console()
    for number, prediction in enumerate(predictions):
        if options.json:
            print(as_json(None if prediction is None else view.as_json(prediction)))
        elif prediction is None:
            print()
        else:
            said = view.terminal(prediction, number, options)
            print(said) if isinstance(said, str) else console.print(said)


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

    texts = view.files(predictions, options)
    if options.csv is not None:
        nothing = [""] * len(view.columns)
        rows = ([n, *(nothing if p is None else view.row(p))] for n, p in enumerate(predictions, 1))
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


def _data(options: argparse.Namespace, overrides: list[str]) -> None:
    from hydra.utils import instantiate

    from zoo.data.stored import hide_bars_in_files
    from zoo.dotted import class_at
    from zoo.run.arguments import check_arguments
    from zoo.run.compose import compose
    from zoo.run.description import description
    from zoo.run.fit import check_data_and_task
    from zoo.tasks import Task

    hide_bars_in_files()
    cfg = compose(overrides)
    check_arguments(cfg.data, "data")
    data, task = instantiate(cfg.data, _convert_="all"), class_at(cfg.task._target_, Task)
    check_data_and_task(data, task)
    if options.from_text:
        data.from_text([Path(file) for file in options.from_text])
    if options.write is not None:
        for path in data.write(options.write):
            print(f"wrote {path}", file=sys.stderr)
    data.prepare_data()
    data.setup("fit")
    parts = data.describe()
    if options.json:
        print(as_json(parts, indent=2))
    else:
        _console().print(description(options.name, parts))


def _console(*, highlight: bool = True) -> Console:
    """Return a console that is 120 columns wide where the output is not a terminal."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 120, highlight=highlight)


if __name__ == "__main__":
    main()
