"""python results/cloze_baselines.py FILE.csv data=cbt [data.source=... data.kind=...]: the accuracy of
counting rules; that on the test set is written to the file.

The rules are those of `results/cloze_rules.py`; questions of validation and test, each once.
"""

import sys
from pathlib import Path

from cloze_rules import BASELINES
from hydra.utils import instantiate
from rows import merge, of_program

from zoo.data.cloze.module import ClozeData
from zoo.errors import ZooError
from zoo.run.compose import compose


def measure(data: ClozeData, split: str) -> dict[str, float]:
    """The accuracy of each rule on a split that is evaluated."""
    right, count = dict.fromkeys(BASELINES, 0), 0
    for batch in {"val": data.val_dataloader, "test": data.test_dataloader}[split]():
        for text, answer in zip(batch.text, batch.answer.tolist(), strict=True):
            count += 1
            for name, baseline in BASELINES.items():
                right[name] += baseline(text) == answer
    return {name: number / count for name, number in right.items()}


def main() -> None:
    """Reads the command line, prints a line for each rule."""
    if len(sys.argv) < 3 or not sys.argv[1].endswith(".csv"):
        raise SystemExit(f"cloze_baselines.py: give a results file and the data: {str(__doc__).splitlines()[0]}")
    file, overrides = Path(sys.argv[1]), sys.argv[2:]
    # any network will do: none is built
    cfg = compose(["model=aoa_reader", *overrides])
    data = instantiate(cfg.data, _convert_="all")
    if not isinstance(data, ClozeData):
        raise SystemExit("cloze_baselines.py: give data=cbt, data=cnn, data=dailymail or data=books")
    data.prepare_data()
    data.setup()
    print(data.source_description)
    found = {split: measure(data, split) for split in ("val", "test")}
    for name in BASELINES:
        print(f"{name:24} val {found['val'][name]:.4f}  test {found['test'][name]:.4f}")
    row = of_program("cloze_baselines", file, overrides, cfg, data.source_description) | {"metric": "accuracy"}
    merge(file, [row | {"model": name, "ours": f"{found['test'][name]:.4f}"} for name in BASELINES])


if __name__ == "__main__":
    try:
        main()
    except ZooError as error:
        raise SystemExit(f"error: {error}") from error
