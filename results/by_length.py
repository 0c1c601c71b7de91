"""python results/by_length.py CHECKPOINT [OVERRIDE ...]: BLEU of a checkpoint's test translations, with a beam of 5, by
the number of words of their source.

The overrides are those of the run, as `experiment=transformer_multi30k data.source=PATH`. BLEU is sacrebleu's of
lower-cased text; a length of translations by references below 1 means that words are missing.
"""

import argparse

import sacrebleu
from hydra.utils import instantiate

import zoo
from zoo.run.compose import compose, plain

EDGES = (8, 11, 15)


def main() -> None:
    """Reads the command line and prints a line for each range of lengths, and one for all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint")
    parser.add_argument("override", nargs="*")
    options = parser.parse_args()
    predictor = zoo.load(options.checkpoint)
    predictor.task.search(5, 1)
    data = instantiate(plain(compose(options.override).data))
    data.prepare_data()
    data.setup("test")
    sources, references = [], []
    for batch in data.test_dataloader():
        sources += batch.source_text
        references += batch.target_text
    rows = list(zip(sources, (found.best.text for found in predictor(sources)), references, strict=True))
    for low, high in zip((0, *EDGES), (*EDGES, None), strict=True):
        among = [row for row in rows if low < len(row[0].split()) and (high is None or len(row[0].split()) <= high)]
        show(f"{low + 1} to {high} words" if high else f"from {low + 1} words", among)
    show("all", rows)


def show(name: str, rows: list[tuple[str, str, str]]) -> None:
    """BLEU of (source, translation, reference) rows."""
    if not rows:
        return
    _, found, true = zip(*rows, strict=True)
    score = sacrebleu.corpus_bleu(found, [true], lowercase=True)
    print(f"{name}: {len(rows)} sentences, BLEU {score.score:.1f}, length {score.sys_len / score.ref_len:.2f}")


if __name__ == "__main__":
    main()
