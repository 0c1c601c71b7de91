"""python results/ponder_steps.py RUN [PICTURE.png [TASK ...]]: how many steps a universal_transformer_encoder took in
the test of a run of data=babi, by task, for questions, supporting facts and other sentences.

Prints the means. If a picture is named, draws the shares of each number of steps, of all tasks or of those that are
named, such as qa1.
"""

import json
import sys
from pathlib import Path

import torch
from hydra.utils import instantiate

import zoo
from zoo.run.compose import compose
from zoo.visualize import save_picture
from zoo.visualize.blocks import Grid, Head
from zoo.visualize.renderers.figure import draw

KINDS = ("questions", "supporting facts", "other sentences")


@torch.inference_mode()
def main() -> None:
    """Run the command line."""
    if len(sys.argv) < 2:
        raise SystemExit(f"ponder_steps.py: name a run: {str(__doc__).splitlines()[0]}")
    run = Path(sys.argv[1])
    predictor = zoo.load(run / "checkpoints" / "best.ckpt")
    if not getattr(predictor.task.network, "ponders", ()) or not hasattr(predictor.task.spec, "tasks"):
        raise SystemExit(f"{run}: expected a run of model=universal_transformer_encoder data=babi with halting")
    data = instantiate(compose(json.loads((run / "result.json").read_text("utf-8"))["overrides"]).data, _convert_="all")
    data.prepare_data()
    data.setup("test")
    most, tasks = predictor.task.network.reader.pondering.steps, predictor.task.spec.tasks
    counts = torch.zeros(len(tasks), len(KINDS), most + 1, dtype=torch.long)  # Number 0 is that of padding
    for batch in data.test_dataloader():
        steps = predictor.task.network(batch).steps
        sentences, facts = steps["sentence"], batch.supporting
        found = steps["question"], sentences * facts, sentences * ~facts
        for kind, numbers in enumerate(found):
            place = batch.task[:, None].expand_as(numbers)
            counts[:, kind].index_put_((place, numbers.long()), torch.tensor(1), accumulate=True)
    counts[..., 0] = 0
    shares = counts / counts.sum(-1, keepdim=True).clamp(min=1)  # All 0 for a kind that a task does not have
    means = (shares * torch.arange(most + 1)).sum(-1)  # (tasks, KINDS)
    whole = (counts.sum(1) * torch.arange(most + 1)).sum(-1) / counts.sum((1, 2))
    for task, every, by_kind in zip(tasks, whole.tolist(), means.tolist(), strict=True):
        shown = [f"{kind} {mean:.3f}" for kind, mean in zip(KINDS, by_kind, strict=True) if mean]
        print(f"{task}: {every:.3f}", *shown)
    if len(sys.argv) > 2:
        drawn = [number for number, task in enumerate(tasks) if task in (sys.argv[3:] or tasks)]
        rows = [f"{tasks[number]}, {kind}" for number in drawn for kind in KINDS]
        weights, mean = shares[drawn, :, 1:].flatten(0, 1).tolist(), means[drawn].flatten().tolist()
        grid = Grid(
            rows,
            columns=[f"{number}" for number in range(1, most + 1)],
            weights=weights,
            texts=[[f"{value:.2f}" for value in row] for row in weights],
            margin={"mean": [f"{value:.2f}" if value else "–" for value in mean]},
            axes=("positions", "steps"),
        )
        under = "shares of the positions of the test that halted after 1, 2, ... steps"
        save_picture(draw([Head("How long it thinks", under=under), grid]), sys.argv[2])


if __name__ == "__main__":
    main()
