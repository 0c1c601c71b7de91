"""python results/pronoun_head.py RUN [PICTURE.png]: where the best head of a run of data=pronouns looks in two
sentences that differ in one word, while the pronoun is written.

The head is that of `best_reference_heads` to the source in the run's result.json. Prints its largest weights, and draws
all of them if a picture is named.
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
PRONOUNS = {"tired": "er", "wide": "sie"}
"""The German pronoun that each word asks for."""


@torch.inference_mode()
def main() -> None:
    """Run the command line."""
    if len(sys.argv) < 2:
        raise SystemExit(f"pronoun_head.py: name a run: {str(__doc__).splitlines()[0]}")
    run = Path(sys.argv[1])
    result = json.loads((run / "result.json").read_text("utf-8"))
    if "best_reference_heads" not in result:
        raise SystemExit(f"{run}/result.json has no best_reference_heads: name a run of data=pronouns")
    best = result["best_reference_heads"]["source"]
    predictor, rows, names = zoo.load(run / "checkpoints" / "best.ckpt"), [], []
    columns = predictor.encoder.display(SENTENCE.format("|".join(PRONOUNS)))
    for word, pronoun in PRONOUNS.items():
        batch = predictor.encoder([SENTENCE.format(word)])
        written = predictor.task.predict_step(batch)[0][0]
        tokens = predictor.encoder.target_vocabulary.decode(written.ids)
        weights = predictor.task.reading(batch, [written]).attention[best["attention"]][0]  # (H, T, S), or (T, S)
        at = tokens.index(pronoun) if pronoun in tokens else len(tokens) - 1
        rows.append((weights[best["head"]] if weights.dim() == 3 else weights)[at].tolist())
        names.append(f"{word}: {tokens[at]}")
        shown = [f"{column} {weight:.2f}" for column, weight in zip(columns, rows[-1], strict=True) if weight >= 0.05]
        print(names[-1], *shown, sep="\n  ")
    if len(sys.argv) > 2:
        under = f"{best['attention']}, head {best['head'] + 1} of {result['model']}, while the pronoun is written"
        save_picture(draw([Head("One word decides", under=under), Grid(names, columns, rows)]), sys.argv[2])


if __name__ == "__main__":
    main()
