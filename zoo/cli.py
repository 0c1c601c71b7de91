"""The `zoo` command: list, train, predict, data."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.padding import Padding

from zoo.errors import CheckpointError, DataError, ZooError

EXAMPLES = """examples:
  zoo list
  zoo train model=han data=yelp
  zoo predict logs/han_yelp/<time>/checkpoints/best.ckpt "The food was great."
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
    predict.add_argument("--html", type=Path, metavar="OUT", help="write a page to look at")

    data = commands.add_parser("data", help="prepare a data set and describe it: counts, classes, lengths, examples")
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
    options, more = parser().parse_known_args(words)  # argparse does not take overrides on both sides of a flag
    if options.command == "data" and all("=" in word for word in more):
        options.overrides += more
    elif more:
        parser().error(f"unrecognized arguments: {' '.join(more)}")
    try:
        {"list": _list, "predict": _predict, "data": _data}[options.command](options)
    except ZooError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stderr.close()
    return None


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
    console.print("\n[bold]Experiments[/bold], a paper's own run on its real data: experiment=NAME\n")
    for experiment in experiments.values():
        console.print(f"[bold]{experiment.name}[/bold]  {experiment.about}")


def _predict(options: argparse.Namespace) -> None:
    from zoo.run.checkpoint import load
    from zoo.visualize import document_html, document_text

    texts = _texts(options)
    if more := [text for text in options.text if text.endswith(".ckpt")]:
        raise CheckpointError(f"one checkpoint at a time: {options.checkpoint}, and then {', '.join(more)}")
    predictions = load(options.checkpoint)(texts)
    if options.html:
        from zoo.run.report import write_whole

        write_whole(options.html, document_html(predictions))
        print(f"wrote {options.html}", file=sys.stderr)
    if options.json:
        for prediction in predictions:
            print(json.dumps(prediction.to_dict(), ensure_ascii=False))
    else:
        console = Console(width=None if sys.stdout.isatty() else 120)
        for prediction in predictions:
            console.print(document_text(prediction))


def _texts(options: argparse.Namespace) -> list[str]:
    texts = list(options.text)
    if options.file:
        try:
            texts += options.file.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise DataError(f"{options.file}: {error.strerror}; --file takes a text file, one text a line") from error
        except UnicodeDecodeError as error:
            raise DataError(f"{options.file}: not UTF-8 at byte {error.start}; convert it first") from error
    elif not texts:
        texts = sys.stdin.read().splitlines()
    texts = [text for text in texts if text.strip()]
    if not texts:
        raise DataError("nothing to predict: give a text, --file FILE, or lines on standard input")
    return texts


def _data(options: argparse.Namespace) -> None:
    from hydra.errors import HydraException
    from hydra.utils import instantiate

    from zoo.run.build import check_arguments, compose
    from zoo.run.messages import explain

    overrides = [f"data={options.name}", *options.overrides]
    try:
        cfg = compose(overrides)
    except HydraException as error:
        message = explain(error, overrides)
        if message is None:
            raise
        print(message, file=sys.stderr)
        sys.exit(2)
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
    from zoo.visualize.describe import describe_documents

    Console(width=None if sys.stdout.isatty() else 120).print(
        describe_documents(options.name, data.source_description, facts)
    )


if __name__ == "__main__":
    main()
