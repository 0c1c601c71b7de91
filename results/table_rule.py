"""python results/table_rule.py CHECKPOINT [OVERRIDE ...]: the perplexities of a translation checkpoint by the rule of
bentrevett/pytorch-seq2seq: the exponential of the mean, over batches of 128 test pairs sorted by the length of the
source, of their mean loss. A batch of long sentences counts there no more than one of short ones.

The overrides are those of the run, as `experiment=transformer_multi30k data.source=PATH`.
"""

import argparse
from math import exp

import torch
from hydra.utils import instantiate

import zoo
from zoo.objectives.feeding import likeliest, walk
from zoo.run.compose import compose, plain

BATCH = 128


@torch.no_grad()
def main() -> None:
    """Reads the command line and prints both perplexities, by the table's rule and over all tokens."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint")
    parser.add_argument("override", nargs="*")
    options = parser.parse_args()
    task = zoo.load(options.checkpoint).task
    network, encoder, spec = task.network.eval(), task.encoder, task.spec
    data = instantiate(plain(compose(options.override).data))
    data.prepare_data()
    data.setup("test")
    texts = [zip(batch.source_text, batch.target_text, strict=True) for batch in data.test_dataloader()]
    pairs = sorted((pair for part in texts for pair in part), key=lambda pair: len(encoder.display(pair[0])))
    losses: dict[str, list[torch.Tensor]] = {"teacher-forced": [], "free-running": []}
    for first in range(0, len(pairs), BATCH):
        batch = encoder(*zip(*pairs[first : first + BATCH], strict=True))
        own = walk(network, batch, lambda log_probs, _: likeliest(log_probs, spec), need_weights=False)
        for name, output in (("teacher-forced", network(batch, need_weights=False)), ("free-running", own)):
            log_probs = output.logits.double().log_softmax(-1)
            losses[name].append(-log_probs.gather(1, batch.true_tokens[:, None]))
    for name, parts in losses.items():
        rule = sum(part.mean().item() for part in parts) / len(parts)
        print(f"{name}: {exp(rule):.4f} by the table's rule, {exp(torch.cat(parts).mean().item()):.4f} over all tokens")


if __name__ == "__main__":
    main()
