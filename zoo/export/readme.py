"""The README of an exported network: how a program runs it, without this package."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

OPEN = {
    "onnx": """import json

import numpy as np
import onnxruntime

manifest = json.load(open("manifest.json", encoding="utf-8"))


def opened(name):
    session = onnxruntime.InferenceSession(manifest["graphs"][name]["file"])
    names = [output.name for output in session.get_outputs()]
    return lambda inputs: dict(zip(names, session.run(names, inputs)))

""",
    "torch": """import json

import numpy as np
import torch

manifest = json.load(open("manifest.json", encoding="utf-8"))


def opened(name):
    module = torch.export.load(manifest["graphs"][name]["file"]).module()

    def run(inputs):
        with torch.no_grad():
            found = module(**{key: torch.from_numpy(part) for key, part in inputs.items()})
        return {key: part.numpy() for key, part in found.items()}

    return run

""",
}
"""The beginning of a program: `opened(name)` gives a graph as a function of arrays by their names."""

INTRODUCTION = (
    "A network of attention-zoo for the task {task}, as a graph of tensors. `manifest.json` has the same tables, and "
    "under `spec` the sizes, classes and special ids of the data. A mask is true at real positions, and the values at "
    "other positions change nothing."
)

PREDICT = """
network = opened("network")


def predict(**inputs):
    return network(inputs)
"""

GREEDY = """
start, step = opened("start"), opened("step")


def greedy(longest, **inputs):
    \"\"\"The token ids (B, T) of at most `longest` tokens, the end included, and the log-probability of each row.\"\"\"
    padding, begin, end = (manifest["spec"][name] for name in ("padding", "begin", "end"))
    state = start(inputs)
    count = len(next(iter(inputs.values())))
    tokens, written, total = np.full((count, 1), begin), [], np.zeros(count)
    for position in range(1, longest + 1):
        read = {name: state[name] for name in manifest["graphs"]["step"]["inputs"] if name != "tokens"}
        found = step({"tokens": tokens, **read})
        state |= {name.removeprefix("next_"): part for name, part in found.items() if name.startswith("next_")}
        scores = found["log_probs"][:, 0]  # (B, V)
        ids = np.arange(scores.shape[1])
        scores[:, (ids == padding) | (ids == begin) | ((position == longest) & (ids != end))] = -np.inf
        ended = np.zeros(count, bool) if not written else written[-1] == end
        tokens = np.where(ended, end, scores.argmax(1))[:, None]
        total += np.where(ended, 0, scores.max(1))
        written.append(tokens[:, 0])
        if (tokens == end).all():
            break
    return np.stack(written, 1), total
"""


def readme(about: dict[str, Any], to: str, files: Mapping[str, str]) -> str:
    """The text of README.md for a manifest, whose graphs were written for the target `to`, beside `files`."""
    program = OPEN[to] + (GREEDY if "step" in about["graphs"] else PREDICT)
    lines = [f"# {about['network']}", "", INTRODUCTION.format(**about), ""]
    for graph in about["graphs"].values():
        lines += [f"## {graph['file']}", "", graph["about"], ""]
        for kind in ("inputs", "outputs"):
            lines += [f"| {kind} | type | shape | values |", "| --- | --- | --- | --- |"]
            lines += [
                f"| `{name}` | {port['dtype']} | {', '.join(map(str, port['shape']))} | {port.get('values', '')} |"
                for name, port in graph[kind].items()
            ]
            lines += [""]
    lines += ["## A program", "", "```python", program.strip(), "```", ""]
    if about["rule"]:
        rule = ", ".join(f"`{name}` {value}" for name, value in about["rule"].items())
        lines += [f"The scores become an answer by the `rule` of the manifest: {rule}.", ""]
    if files:
        lines += ["## Files", "", *map(_file, files, files.values()), ""]
    return "\n".join(lines)


def _file(name: str, text: str) -> str:
    if name.endswith(".json") and (about := json.loads(text).get("about")) is not None:
        return f"- `{name}`: {about}"
    if name.endswith(".tokenizer.json"):
        return (
            f"- `{name}` is read by Hugging Face's `tokenizers.Tokenizer.from_file`; its ids are those of the network."
        )
    return (
        f"- `{name}`: under `tokens` each token in the order of its id; under `text` the rules that cut a text; "
        "`ends_with`, if it is not null, is the token to append."
    )
