"""Digests of all batches and of a few training steps: what a change of the code must leave equal.

    python -m benchmarks.digests write before.json [--real FOLDER] [--data yelp,sst] [--only batches]
    python -m benchmarks.digests compare before.json after.json

`write` prepares every data set of the catalogue and hashes the first 50 batches of each split, one hash per field of
the batch. It also trains every fitting model for three steps and hashes the weights. `--real` names a folder with real
data sets in their official formats; data that have no sample are read from there. `compare` prints each difference and
exits with 1 if there is one. Digests of training depend on the processor and on the number of threads: compare files
of one machine.
"""

import argparse
import json
import os
import sys
from contextlib import chdir
from dataclasses import fields, is_dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from hydra.utils import instantiate
from lightning import seed_everything

from zoo.run import catalogue
from zoo.run.build import build
from zoo.run.compose import compose

BATCHES = 50
STEPS = 3
REAL = {
    "documents": ["data.path={}/movie_reviews/movie_reviews.zip"],
    "trees": ["data.path={}/sst"],
    "parallel": [
        "data.source_path={}/multi30k/data/task1/raw/val.de.gz",
        "data.target_path={}/multi30k/data/task1/raw/val.en.gz",
        "data.text.source_language=de",
    ],
    "books": ["data.path={}/childrens_books/books", "data.stride=21"],
    "movie_reviews": ["data.path={}/movie_reviews/movie_reviews.zip"],
    "nlvr": ["data.path={}/nlvr/nlvr"],
    "stories": ["data.path={}/babi/tasks_1-20_v1-2/en/qa1_single-supporting-fact_train.txt"],
    "captions": ["data.path={}/scenes/captions.csv", "data.picture.size=64", "data.picture.resize=null"],
    "points": ["data.path={}/tsp", "data.goal=tour"],
    "sst@real": ["data.source={}/sst"],
    "sst@roots": ["data.train_on=roots"],
    "sick@real": ["data.source={}/sick", "data.vectors={}/sick/glove_of_sick.txt"],
    "sick@constituency": ["data.parse=constituency"],
    "babi@real": ["data.source={}/babi/tasks_1-20_v1-2", "data.tasks=[1,2,3]"],
    "multi30k@real": ["data.source={}/multi30k/data"],
    "multi30k@subwords": ["data.text.tokenizer=bpe", "data.text.vocabulary_size=500"],
    "multi30k@joint": ["data.text.tokenizer=unigram", "data.text.vocabulary_size=500", "data.text.joint=true"],
    "documents@subwords": [
        "data.path={}/movie_reviews/movie_reviews.zip",
        "data.text.tokenizer=bpe",
        "data.text.vocabulary_size=2000",
    ],
    "scenes@lengths": ["data.batches=lengths"],
}
"""Overrides by name of the data, and what follows @ where they are one more case of it; {} is the folder."""


def digest(value: Any) -> str:
    """A hash of a tensor, a dataclass or plain data, types and shapes included."""
    found = sha256()

    def add(one: Any) -> None:
        if isinstance(one, torch.Tensor):
            found.update(f"{one.dtype}{tuple(one.shape)}".encode())
            found.update(one.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        elif is_dataclass(one):
            for field in fields(one):
                found.update(field.name.encode())
                add(getattr(one, field.name))
        elif isinstance(one, dict):
            for key in sorted(one, key=str):
                found.update(str(key).encode())
                add(one[key])
        elif isinstance(one, (list, tuple)):
            found.update(f"[{len(one)}".encode())
            for part in one:
                add(part)
        else:
            found.update(repr(one).encode())

    add(value)
    return found.hexdigest()[:16]


def overrides_of(case: str, real: str | None) -> list[str] | None:
    """The overrides of a case; None if its files are missing."""
    name, special = case.partition("@")[0], REAL.get(case, [])
    if any("{}" in word for word in special) and real is None:
        return None
    return [f"data={name}", *(word.replace("{}", str(real)) for word in special)]


def batches(case: str, real: str | None) -> dict[str, Any] | None:
    """Digests of the batches of each split by field."""
    words = overrides_of(case, real)
    if words is None:
        return None
    model = catalogue.models_for(catalogue.datasets()[case.partition("@")[0]].tasks)[0]
    cfg = compose([f"model={model}", *words])
    data = instantiate(cfg.data, _convert_="all")
    seed_everything(1, verbose=False)
    data.prepare_data()
    data.setup()
    found: dict[str, Any] = {"spec": str(data.spec)}
    for split in ("train", "val", "test"):
        loader = getattr(data, f"{split}_dataloader")()
        seen = list(islice(loader, BATCHES))
        found[split] = {
            field.name: digest([getattr(batch, field.name) for batch in seen]) for field in fields(seen[0])
        } | {"batches": len(seen)}
    return found


def training(model: str, data: str, real: str | None) -> dict[str, Any] | None:
    """Digests of the weights after three steps."""
    words = overrides_of(data, real)
    if words is None:
        return None
    quick = [f"trainer.max_steps={STEPS}", "trainer.limit_val_batches=0", "trainer.enable_progress_bar=false"]
    cfg = compose([f"model={model}", *words, "trainer=cpu", *quick, "callbacks=none", "logger=none"])
    cfg.trainer.default_root_dir = "."
    seed_everything(1, verbose=False)
    parts = build(cfg)
    with TemporaryDirectory() as folder, chdir(folder):  # the last checkpoint is written here
        parts.trainer.fit(parts.task, datamodule=parts.data)
    losses = {name: value.item() for name, value in sorted(parts.trainer.callback_metrics.items())}
    weights = {name: digest(value) for name, value in parts.task.state_dict().items()}
    total = sum(float(value.double().sum()) for value in parts.task.state_dict().values() if torch.is_tensor(value))
    return {"weights": digest(weights), "sum": total, "metrics": losses}


def write(file: Path, real: str | None, only: list[str], kinds: tuple[str, ...]) -> None:
    """Add what is missing to a file of digests."""
    torch.set_num_threads(1)
    cases = [*catalogue.datasets(), *(case for case in REAL if "@" in case)]
    found: dict[str, Any] = json.loads(file.read_text()) if file.is_file() else {"batches": {}, "training": {}}
    for case in cases:
        name = case.partition("@")[0]
        if only and case not in only and name not in only:
            continue
        models = catalogue.models_for(catalogue.datasets()[name].tasks) if "@" not in case else []
        jobs = [("batches", case, lambda case=case: batches(case, real))]
        jobs += [("training", f"{m}/{case}", lambda m=m, case=case: training(m, case, real)) for m in models]
        for kind, key, job in jobs:
            if key in found[kind] or kind not in kinds:
                continue
            try:
                result = job()
            except Exception as error:  # one that fails must not cost the others
                result = {"error": f"{type(error).__name__}: {str(error)[:200]}"}
            print(kind, key, "left out" if result is None else result.get("error", "written"), flush=True)
            if result is not None:
                found[kind][key] = result
                file.write_text(json.dumps(found, indent=1))


def compare(first: Path, second: Path) -> int:
    """Print what differs; the number of differences."""
    before, after = (flat(json.loads(file.read_text())) for file in (first, second))
    shared = [key for key in before if key in after]
    gone = [key for key in shared if before[key] != after[key]]
    for key in gone:
        print(f"{key}: {before[key]} -> {after[key]}")
    groups = {".".join(key.split("\t")[:2]) for key in shared}
    print(f"{len(shared)} digests of {len(groups)} cases compared, {len(gone)} differ")
    return len(gone)


def flat(node: Any, above: str = "") -> dict[str, Any]:
    """The leaves of nested dictionaries by the path of their keys."""
    if not isinstance(node, dict):
        return {above: node}
    return {k: v for key, part in node.items() for k, v in flat(part, f"{above}\t{key}" if above else key).items()}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("file", type=Path)
    writing.add_argument("--real")
    writing.add_argument("--data", default="")
    writing.add_argument("--only", choices=("batches", "training"))
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    given = parser.parse_args()
    if given.command == "write":
        real = str(Path(given.real).resolve()) if given.real else None
        kinds = (given.only,) if given.only else ("batches", "training")
        write(given.file, real, list(filter(None, given.data.split(","))), kinds)
    elif compare(given.before, given.after):
        sys.exit(1)


if __name__ == "__main__":
    main()
