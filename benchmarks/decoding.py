"""Beam search against that of an earlier commit, in one process. Run: python -m benchmarks.decoding

The earlier code is read from git and imported beside the present one, under the name `zoo_before`. Both get the same
weights and examples, and must find the same hypotheses with the same log-probabilities (to 1e-6 of them). Sizes:
Transformer 3 + 3 layers, pre-norm, 8 heads, 256 and 512 wide; Luong (1 layer, input feeding), RNNSearch and ConvS2S
(4 + 4), 512 wide; vocabulary 10,000, sources of 20 to 40 tokens, 30 tokens written, beam 5. ShowAttendTell, LSTM 1000,
vocabulary 9,000, features of 14 x 14 places, 20 words, beam 5. PointerNet, 256 wide, 50 points, beam 3. Times are
processor time with one thread.
"""

import argparse
import atexit
import importlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor

from benchmarks.timing import paired, prepare, ratio, write

BEFORE, NOW = "zoo_before", "zoo"
COMMIT = "ce32a8bb"
VOCABULARY, STEPS, BEAM = 10_000, 30, 5
Search = Callable[[], list[list[Any]]]


def import_before(commit: str) -> None:
    """Make the package zoo of `commit` importable as `zoo_before`."""
    archive = subprocess.run(["git", "archive", commit, NOW], check=True, capture_output=True).stdout
    home = Path(tempfile.mkdtemp(prefix=BEFORE))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(home, filter="data")
    (home / NOW).rename(home / BEFORE)
    for path in home.rglob("*.py"):
        path.write_text(re.sub(r"\bzoo\b", BEFORE, path.read_text()))
    sys.path.insert(0, str(home))


def part(package: str, name: str) -> Any:
    """The module `name` of one of both packages."""
    return importlib.import_module(f"{package}.{name}")


def sources(count: int) -> tuple[Tensor, Tensor]:
    """Ids (B, S) of `count` random sources, with the end token, and their mask."""
    generator = torch.Generator().manual_seed(0)
    lengths = torch.randint(20, 41, (count,), generator=generator)
    mask = torch.arange(int(lengths.max())) < lengths[:, None]
    ids = torch.randint(4, VOCABULARY, mask.shape, generator=generator).masked_fill(~mask, 0)
    return ids.scatter(1, lengths[:, None] - 1, 3), mask


def searching(package: str, network: Any, batch: Any, spec: Any, *, steps: int, beam: int = BEAM) -> Search:
    """Beam search that writes `steps` tokens."""
    search = part(package, "decoding").BeamSearch(beam_size=beam, min_length=(0, steps), max_length=(0, steps))
    return lambda: search(network, batch, spec)


def translation(name: str, count: int, **sizes: Any) -> Callable[[str], Search]:
    """Returns a function of the package: the beam search of the translation model `name` over `count` sentences."""

    def search(package: str) -> Search:
        pairs = part(package, "data.pairs.batch")
        spec = pairs.PairSpec(VOCABULARY, VOCABULARY, 40, 40)
        torch.manual_seed(0)
        network = getattr(part(package, "models"), name)(spec, **sizes).eval()
        return searching(package, network, pairs.PairBatch(*sources(count)), spec, steps=STEPS)

    return search


def transformer(width: int, count: int) -> Callable[[str], Search]:
    """Returns a function of the package: the beam search of a Transformer."""
    return translation("Transformer", count, hidden_dim=width, layers=3, heads=8, feedforward_dim=4 * width, norm="pre")


def captions(count: int) -> Callable[[str], Search]:
    """Returns a function of the package: the beam search of ShowAttendTell over `count` images."""

    def search(package: str) -> Search:
        images, grid = part(package, "data.images.batch"), (14, 14)
        spec = images.ImageSpec(512, *grid, 9_000, 20, grid, encoded=True)
        torch.manual_seed(0)
        encoder = {"_target_": f"{package}.layers.images.small.SmallEncoder"}
        network = part(package, "models").ShowAttendTell(spec, encoder=encoder, hidden_dim=1000).eval()
        features = torch.randn(count, 512, *grid, generator=torch.Generator().manual_seed(0)).relu()
        return searching(package, network, images.ImageBatch(features, grid), spec, steps=20)

    return search


def tours(count: int) -> Callable[[str], Search]:
    """Returns a function of the package: the beam search of PointerNet over `count` sets of 50 points."""

    def search(package: str) -> Search:
        points = part(package, "data.points.batch")
        spec = points.PointSpec(width=2, longest=50, longest_target=51, goal="tour", groups=("n50",))
        torch.manual_seed(0)
        network = part(package, "models").PointerNet(spec, embedding_dim=256, hidden_dim=256).eval()
        places = torch.rand(count, 50, 2, generator=torch.Generator().manual_seed(0))
        batch = points.PointBatch(places, torch.ones(count, 50, dtype=torch.bool))
        return searching(package, network, batch, spec, steps=51, beam=3)

    return search


RECURRENT = {"embedding_dim": 512, "hidden_dim": 512}
CASES: dict[str, Callable[[int], Callable[[str], Search]]] = {
    "transformer_256": lambda count: transformer(256, count),
    "transformer_512": lambda count: transformer(512, count),
    "luong": lambda count: translation("Luong", count, num_layers=1, **RECURRENT),
    "rnnsearch": lambda count: translation("RNNSearch", count, **RECURRENT),
    "conv_s2s": lambda count: translation("ConvS2S", count, encoder_layers=4, decoder_layers=4, **RECURRENT),
    "show_attend_tell": captions,
    "pointer_net": tours,
}


def agree(one: Search, other: Search) -> None:
    """Raise AssertionError unless both find the same hypotheses with the same log-probabilities."""
    for (first, *_), (second, *_) in zip(one(), other(), strict=True):
        assert first.ids == second.ids
        assert abs(first.log_prob - second.log_prob) <= 1e-6 * abs(first.log_prob)


def measured(searches: dict[str, Search], rounds: int) -> dict[str, Any]:
    """Quartiles of the ratio of each search to the first over the rounds, and medians in milliseconds."""
    seconds = paired(searches, rounds=rounds, warmup=1, clock=time.process_time)
    first, *others = searches
    ratios = {f"{name}_by_{first}": ratio(seconds, name, first) for name in others}
    return {**ratios, "milliseconds": {name: round(1000 * median(times), 1) for name, times in seconds.items()}}


def main() -> None:
    """Measure one example and 32 of them; print and write the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40, help="timed rounds of one example; a quarter of them for 32")
    parser.add_argument("--commit", default=COMMIT, help="the earlier code")
    parser.add_argument("--only", choices=CASES, nargs="+", default=list(CASES))
    arguments = parser.parse_args()
    import_before(arguments.commit)
    result: dict[str, Any] = {"environment": prepare(1), "before": arguments.commit, "rounds": arguments.rounds}
    for name in arguments.only:
        for count in (1, 32):
            searches = {"before": CASES[name](count)(BEFORE), "now": CASES[name](count)(NOW)}
            agree(*searches.values())
            found = measured(searches, max(4, arguments.rounds // (1 if count == 1 else 4)))
            result[f"{name}, {count}"] = found
            print(name, count, found, flush=True)
    if arguments.only == list(CASES):
        write("decoding", result)


if __name__ == "__main__":
    main()
