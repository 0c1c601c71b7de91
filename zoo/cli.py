"""The `zoo` command: list, train, predict, data."""

from __future__ import annotations

import argparse
import codecs
import gzip
import json
import sys
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding

from zoo.errors import CheckpointError, ConfigError, DataError, ZooError

EXAMPLES = """examples:
  zoo list
  zoo train model=han data=yelp
  zoo predict logs/han_yelp/<time>/checkpoints/best.ckpt "The food was great."
  zoo predict logs/luong_multi30k/<time>/checkpoints/best.ckpt "Ein Mann schläft." --beam 5 --nbest 3
  zoo data documents data.path=my.csv data.text_column=text data.label_column=label
"""


def parser() -> argparse.ArgumentParser:
    """The arguments of every command."""
    root = argparse.ArgumentParser(
        prog="zoo",
        description="Attention and memory networks: one paper a file.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = root.add_subparsers(dest="command", required=True, metavar="list | train | predict | data")

    catalogue = commands.add_parser(
        "list", help="the models, their papers and tasks, the data that fit, the experiments"
    )
    catalogue.add_argument("--json", action="store_true", help="as JSON")

    training = commands.add_parser("train", help="the same as python train.py, from any folder", add_help=False)
    training.add_argument("overrides", nargs=argparse.REMAINDER)

    predict = commands.add_parser("predict", help="what a trained network says of your texts, and what it attended to")
    predict.add_argument("checkpoint", type=Path)
    predict.add_argument("text", nargs="*", help="texts; without texts and --file, one text a line from standard input")
    predict.add_argument("--file", type=Path, help="one text a line")
    predict.add_argument("--json", action="store_true", help="one JSON object a line")
    predict.add_argument("--html", type=Path, metavar="OUT", help="documents: write a page to look at")
    predict.add_argument("--beam", type=int, metavar="K", help="translations: search with K hypotheses")
    predict.add_argument(
        "--nbest", type=int, metavar="N", help="translations: the N best, as `number ||| text ||| score`"
    )
    predict.add_argument(
        "--replace-unknown",
        nargs="?",
        const="",
        metavar="DICTIONARY",
        help="translations: an unknown word becomes the source word it attended to most, or what that is in a file of "
        "lines `source<tab>target`",
    )
    predict.add_argument(
        "--attention",
        type=Path,
        metavar="OUT.png",
        help="translations: draw what was attended to; of several lines OUT-1.png, OUT-2.png, ...",
    )
    predict.add_argument(
        "--pharaoh",
        type=Path,
        metavar="OUT",
        help="translations: write pairs i-j of a source and a target token, counted from 0 in those that --json shows",
    )

    data = commands.add_parser(
        "data", help="prepare a data set and describe it: counts, lengths, unknown words, examples"
    )
    data.add_argument("name", help="as in data=NAME")
    data.add_argument("overrides", nargs="*", help="such as data.source=PATH")
    data.add_argument("--json", action="store_true", help="as JSON")
    return root


def main(arguments: list[str] | None = None) -> None:
    """Runs one command; a ZooError ends in one line and exit code 2."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["train"]:  # Hydra reads what follows, --help and -m among it
        from zoo.run.launch import main as train

        sys.argv[1:] = words[1:]
        return train(command=("train",))
    options, more = parser().parse_known_args(words)  # argparse does not take words on both sides of a flag
    if options.command == "data" and all("=" in word for word in more):
        options.overrides += more
    elif options.command == "predict" and not any(word.startswith("-") for word in more):
        options.text += more
    elif more:
        parser().error(f"unrecognized arguments: {' '.join(more)}")
    try:
        {"list": _list, "predict": _predict, "data": _data}[options.command](options)
    except ZooError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stderr.close()
    except Exception as error:
        _explain(error, options)
    return None


def _explain(error: Exception, options: argparse.Namespace) -> None:
    """Ends in the one line that `python train.py` prints for `error`; raises it where there is none."""
    from zoo.run.messages import explain

    message = explain(error, getattr(options, "overrides", []))
    if message is None:
        raise error
    print(message, file=sys.stderr)
    sys.exit(2)


def _list(options: argparse.Namespace) -> None:
    from zoo.run import catalogue

    models, experiments = catalogue.models(), catalogue.experiments()
    if options.json:
        listing = {
            "models": [asdict(m) | {"data": catalogue.data_for(m.tasks)} for m in models.values()],
            "data": [asdict(d) for d in catalogue.datasets().values()],
            "experiments": [asdict(e) for e in experiments.values()],
        }
        print(json.dumps(listing, indent=2))
        return
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    console.print("[bold]Models[/bold]: model=NAME")
    for model in models.values():
        console.print(f"\n[bold]{model.name}[/bold]  {model.title}")
        console.print(Padding(f"{model.source}\ntask: {', '.join(model.tasks)}", (0, 0, 0, 4)))
        console.print(Padding(f"data=: {', '.join(catalogue.data_for(model.tasks))}", (0, 0, 0, 4)))
    console.print(
        "\n[bold]Experiments[/bold], whole runs on real data, a paper's or beside public numbers: experiment=NAME\n"
    )
    for experiment in experiments.values():
        console.print(f"[bold]{experiment.name}[/bold]  {experiment.about}")


def _predict(options: argparse.Namespace) -> None:
    from zoo.run.checkpoint import load
    from zoo.tasks import Translation

    texts = _texts(options)
    if more := [text for text in options.text if text.endswith(".ckpt")]:
        raise CheckpointError(f"one checkpoint at a time: {options.checkpoint}, and then {', '.join(more)}")
    predictor = load(options.checkpoint)
    translates = isinstance(predictor.task, Translation)
    _fits(
        options,
        ("html",) if translates else ("beam", "nbest", "replace_unknown", "attention", "pharaoh"),
        predictor.task.name,
    )
    if isinstance(predictor.task, Translation):
        _looks(options, predictor)
        if options.beam is not None or options.nbest is not None:
            predictor.task.search(options.beam, options.nbest)
        if options.replace_unknown is not None:
            predictor.task.replace_unknown = True
            predictor.task.dictionary = _dictionary(options.replace_unknown)
        _print_translations(options, texts, predictor)
    else:
        _print_documents(options, predictor([text for text in texts if text.strip()]))


def _dictionary(path: str) -> dict[str, str]:
    """The words of a file of lines `source<tab>target`; none without a path."""
    if not path:
        return {}
    found = {}
    for number, line in enumerate(_read_lines(Path(path), "--replace-unknown", "source<tab>target in each line"), 1):
        if line.strip():
            words = line.split("\t")
            if len(words) != 2:
                raise DataError(f"{path}, line {number}: found {len(words)} columns; expected source<tab>target")
            found[words[0].strip()] = words[1].strip()
    return found


def _fits(options: argparse.Namespace, foreign: tuple[str, ...], task: str) -> None:
    """Raises ConfigError where an option was given that the task of the checkpoint has no use for."""
    if given := ["--" + name.replace("_", "-") for name in foreign if getattr(options, name) not in (None, False)]:
        raise ConfigError(f"{', '.join(given)}: not for a network that was trained for {task}")


def _print_documents(options: argparse.Namespace, predictions: list[Any]) -> None:
    from zoo.visualize import document_html, document_text

    if options.html:
        from zoo.run.folder import write_whole

        write_whole(options.html, document_html(predictions))
        print(f"wrote {options.html}", file=sys.stderr)
    if options.json:
        for prediction in predictions:
            print(json.dumps(prediction.to_dict(), ensure_ascii=False))
    else:
        console = Console(width=None if sys.stdout.isatty() else 120)
        for prediction in predictions:
            console.print(document_text(prediction))


def _print_translations(options: argparse.Namespace, texts: list[str], predictor: Any) -> None:
    """A line out for each line in, blank ones included; several with --nbest."""
    real = [text for text in texts if text.strip()]
    found = iter(predictor(real, progress=len(real) > 200))
    predictions = [next(found) if text.strip() else None for text in texts]
    for number, prediction in enumerate(predictions):
        if options.json:
            print(json.dumps(prediction and prediction.to_dict(), ensure_ascii=False))
        elif prediction is None:
            print()
        elif options.nbest is not None:
            for translated in prediction.translations:
                print(f"{number} ||| {translated.text} ||| {translated.score:.4f}")
        else:
            print(prediction.best.text)
    if options.pharaoh:
        from zoo.run.folder import write_whole

        lines = ["" if prediction is None else prediction.best.pharaoh for prediction in predictions]
        write_whole(options.pharaoh, "".join(line + "\n" for line in lines))
        print(f"wrote {options.pharaoh}", file=sys.stderr)
    if options.attention:
        _draw_alignments(options.attention, predictions)


def _looks(options: argparse.Namespace, predictor: Any) -> None:
    """Raises ConfigError where attention is asked of a network that has none, before anything is translated; and where
    a file could not be written."""
    asked = [name for name in ("attention", "pharaoh", "replace_unknown") if getattr(options, name) is not None]
    if asked and predictor(["."])[0].best.attention is None:
        name = asked[0].replace("_", "-")
        raise ConfigError(f"--{name}: this network has no attention; train one that has, such as model=luong")
    for name in ("attention", "pharaoh"):
        path = getattr(options, name)
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"--{name} {path}: {error.strerror}; give a file that can be written") from error


def _draw_alignments(path: Path, predictions: list[Any]) -> None:
    """One picture at `path`; of several lines OUT-1.png, OUT-2.png, ..., numbered as the lines, none for blank ones."""
    from zoo.visualize import alignment_figure, save_png

    for number, prediction in enumerate(predictions, 1):
        if prediction is not None:
            name = path if len(predictions) == 1 else path.with_name(f"{path.stem}-{number}{path.suffix or '.png'}")
            save_png(alignment_figure(prediction.source, prediction.best), name)
            print(f"wrote {name}", file=sys.stderr)


def _texts(options: argparse.Namespace) -> list[str]:
    texts = list(options.text)
    if options.file:
        texts += _read_lines(options.file, "--file", "a text file, one text a line")
    elif not texts:
        texts = _lines_of(sys.stdin.buffer.read(), "standard input")
    if not any(text.strip() for text in texts):
        raise DataError("nothing to predict: give a text, --file FILE, or lines on standard input")
    return texts


def _read_lines(path: Path, option: str, expected: str) -> list[str]:
    try:
        raw = path.read_bytes()
        if path.suffix == ".gz":
            raw = gzip.decompress(raw)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path}: no whole gzip file: {error}; compress it again") from error
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; {option} takes {expected}") from error
    return _lines_of(raw, str(path))


def _lines_of(raw: bytes, where: str) -> list[str]:
    """The lines, cut where those of training files are: at line feeds alone. Raises DataError for what is no text."""
    lines = []
    for number, line in enumerate(raw.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        try:
            lines.append(line.decode("utf-8").rstrip("\r"))
        except UnicodeDecodeError as error:
            raise DataError(
                f"{where}, line {number}: not UTF-8 at byte {error.start + 1} of the line; convert it first"
            ) from error
        if "\0" in lines[-1]:
            raise DataError(f"{where}, line {number}: a NUL byte; expected text")
    return lines[:-1] if lines[-1] == "" else lines


def _data(options: argparse.Namespace) -> None:
    from hydra.utils import instantiate

    from zoo.run.check import check_arguments
    from zoo.run.compose import compose

    options.overrides = [f"data={options.name}", *options.overrides]
    cfg = compose(options.overrides)
    check_arguments(cfg.data, "data")
    data = instantiate(cfg.data, _convert_="all")
    data.prepare_data()
    data.setup("fit")
    facts = data.describe()
    if options.json:
        print(
            json.dumps({"name": options.name, "source": data.source_description, **facts}, indent=2, ensure_ascii=False)
        )
        return
    from zoo.visualize.describe import description

    Console(width=None if sys.stdout.isatty() else 120).print(
        description(data.task, options.name, data.source_description, facts)
    )


if __name__ == "__main__":
    main()
