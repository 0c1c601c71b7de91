"""python results/query_attention.py CHECKPOINT data=books data.path=... [data.kind=...]: the words of the query that a
reader with attention `query` attends to, as a mean over the questions of validation.

The blank, the word before it, the query's last token, and all others share the attention; where the blank is the last
token, or the word before it is, it counts as the first that fits.
"""

import sys

import torch
from hydra.utils import instantiate

import zoo
from zoo.data.cloze.module import ClozeData
from zoo.errors import ZooError
from zoo.run.compose import compose

PLACES = ("the blank", "the word before it", "the last token", "all others")


def shares(query: torch.Tensor, query_mask: torch.Tensor, weights: torch.Tensor, blank: int) -> torch.Tensor:
    """Queries (B, Q) and the attention to them (B, Q) -> the sum of the attention at each of PLACES (4)."""
    at_blank = query == blank
    before = torch.nn.functional.pad(at_blank[:, 1:], (0, 1)) & ~at_blank
    last = torch.arange(query.shape[1]) == query_mask.sum(1, keepdim=True) - 1
    last = last & ~at_blank & ~before
    return torch.stack([weights[at].sum() for at in (at_blank, before, last, ~(at_blank | before | last))])


@torch.inference_mode()
def main() -> None:
    """Reads the command line, prints a line for each place."""
    if len(sys.argv) < 3:
        raise SystemExit(f"query_attention.py: give a checkpoint and the data: {str(__doc__).splitlines()[0]}")
    predictor = zoo.load(sys.argv[1])
    data = instantiate(compose(["model=aoa_reader", *sys.argv[2:]]).data, _convert_="all")
    if not isinstance(data, ClozeData):
        raise SystemExit("query_attention.py: give data=cbt, data=cnn, data=dailymail or data=books")
    data.prepare_data()
    data.setup()
    if data.spec != predictor.task.spec:
        raise SystemExit(f"query_attention.py: {sys.argv[1]} was trained on other data: {predictor.task.spec}")
    total, count = torch.zeros(len(PLACES)), 0
    for batch in data.val_dataloader():
        weights = predictor.task(batch).attention.get("query")
        if weights is None:
            raise SystemExit(f"query_attention.py: the network of {sys.argv[1]} has no attention to the query")
        total += shares(batch.query, batch.query_mask, weights, data.spec.blank)
        count += len(batch)
    for place, share in zip(PLACES, (total / count).tolist(), strict=True):
        print(f"{place:20} {share:.3f}")


if __name__ == "__main__":
    try:
        main()
    except ZooError as error:
        raise SystemExit(f"error: {error}") from error
