"""How many tokens of a text reach a prediction, against what each language model says of itself."""

from typing import Any

import pytest
import torch

import zoo.models as models
from zoo.data.language.batch import LanguageSpec, StreamBatch

LENGTH = 23
NETWORKS: dict[str, tuple[type, dict[str, Any], int]] = {
    "rnn_lm": (models.RNNLanguageModel, {"embedding_dim": 4, "hidden_dim": 4}, LENGTH),
    "gcnn": (models.GCNN, {"embedding_dim": 4, "layers": 3, "hidden_dim": 4, "kernel_size": 3}, 7),
    "memn2n_lm": (models.MemN2NLanguageModel, {"embedding_dim": 4, "memory_size": 6}, 6),
    "transformer_lm": (models.TransformerLanguageModel, {"hidden_dim": 4, "heads": 2, "layers": 2, "window": 9}, 9),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_no_more_tokens_reach_a_prediction_than_its_context(name: str) -> None:
    kind, settings, most = NETWORKS[name]
    torch.manual_seed(0)
    network = kind(LanguageSpec(vocabulary_size=LENGTH), **settings).double().eval()
    ids = torch.arange(LENGTH)[None]  # each token occurs once, so that its number is its place
    batch = StreamBatch(target=ids, target_input=ids, target_mask=torch.ones_like(ids, dtype=torch.bool))
    tables = [table for table in network.modules() if isinstance(table, torch.nn.Embedding)]
    scores, reached = network(batch).logits, []
    for t in range(LENGTH):
        gradients = torch.autograd.grad(scores[t].sum(), [table.weight for table in tables], retain_graph=True)
        reached.append(int(sum(part.abs().sum(1) for part in gradients).count_nonzero()))
    assert max(reached) == most
    assert network.context == (None if most == LENGTH else most)
