"""python results/pronoun_head.py RUN [PICTURE.png]: where the best head of a run of data=pronouns looks from "it",
in two sentences that differ in one word.

The head is `best_reference_head` of the run's result.json. Prints the weights, and draws them if a picture is named.
"""

import json
import sys
from pathlib import Path

import torch

import zoo
from zoo.visualize import save_picture
from zoo.visualize.blocks import Grid, Head
from zoo.visualize.renderers.figure import draw

SENTENCE = "the dog did not cross the street because it was too {} ."
WORDS = ("tired", "wide")


@torch.inference_mode()
def main() -> None:
    """Run the command line."""
    if len(sys.argv) < 2:
        raise SystemExit(f"pronoun_head.py: name a run: {str(__doc__).splitlines()[0]}")
    run = Path(sys.argv[1])
    result = json.loads((run / "result.json").read_text("utf-8"))
    if (best := result.get("best_reference_head")) is None:
        raise SystemExit(
            f"{run}: result.json has no best_reference_head: the network has no self-attention of its source"
        )
    predictor = zoo.load(run / "checkpoints" / "best.ckpt")
    texts = [SENTENCE.format(word) for word in WORDS]
    batch = predictor.encoder(texts)
    weights = predictor.task.reading(batch, [one[0] for one in predictor.task.predict_step(batch)]).attention
    columns = predictor.encoder.display(SENTENCE.format(" | ".join(WORDS)).replace(" | ", "|"))
    rows = weights[f"encoder.{best['layer']}"][:, best["head"], columns.index("it")].tolist()
    names = [f"{word}: {found.best.text}" for word, found in zip(WORDS, predictor(texts), strict=True)]
    for name, row in zip(names, rows, strict=True):
        print(
            name,
            *(f"{word} {weight:.2f}" for word, weight in zip(columns, row, strict=True) if weight >= 0.1),
            sep="\n  ",
        )
    if len(sys.argv) > 2:
        number = f"layer {best['layer'] + 1}, head {best['head'] + 1}"
        head = Head('Attention from "it"', under=f"{number} of the encoder of {result['model']}")
        save_picture(draw([head, Grid(names, columns, rows, sentences=True)]), sys.argv[2])


if __name__ == "__main__":
    main()
