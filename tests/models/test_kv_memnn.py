"""Key-value memory networks against the paper's equations as loops."""

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.families.answering import FAMILY
from tests.models.variants import VARIANTS
from zoo.data.stories.batch import StoryBatch
from zoo.models.kv_memnn import KeyValueMemNN


def network(**arguments: Any) -> KeyValueMemNN:
    torch.manual_seed(0)
    model = KeyValueMemNN(FAMILY.spec, **{"embedding_dim": 4, "common_words": 9, **arguments}).double().eval()
    for name, parameter in model.named_parameters():
        parameter.data *= 1 if name == "transforms" else 8
    return model


def by_loops(model: KeyValueMemNN, batch: StoryBatch) -> tuple[Tensor, list[Tensor], list[bool]]:
    """Scores (B, V), the attention of each hop (B, S), and whether hashing left something out of each memory."""
    table, scores, attention, cut = model.embedding.weight, [], [], []
    for row in range(len(batch)):
        lengths = batch.word_mask[row].sum(1).tolist()
        story = [batch.words[row, s, :length].tolist() for s, length in enumerate(lengths) if length]
        question = batch.question[row][batch.question_mask[row]].tolist()
        rare = {word for word in question if word >= 2 + 9 or (word >= 2 and model.first_rare == 2)}
        slots = []  # (sentence, words of the key, words of the value)
        for s, sentence in enumerate(story):
            if len(story) - s > model.memory_size:
                continue
            if not model.windows:
                slots.append((s, sentence, sentence))
            for t in range(len(sentence) if model.windows else 0):
                slots.append((s, sentence[max(0, t - model.side) : t + model.side + 1], [sentence[t]]))
        kept = [slot for slot in slots if rare & set(slot[1])]
        cut.append(0 < len(kept) < len(slots))
        kept = kept or slots
        q = table[question].sum(0)
        looks = []
        for transform in model.transforms:
            time = [0 if model.times is None else model.times.weight[len(story) - 1 - s] for s, _, _ in kept]
            weights = torch.zeros(batch.sentence_mask.shape[1], dtype=torch.double)
            o = torch.zeros_like(q)
            if kept:
                keys = torch.stack([table[key].sum(0) + t for (_, key, _), t in zip(kept, time, strict=True)])
                values = torch.stack([table[value].sum(0) + t for (_, _, value), t in zip(kept, time, strict=True)])
                p = (keys @ q).softmax(0)
                o = p @ values
                for (s, _, _), share in zip(kept, p.detach(), strict=True):
                    weights[s] += share
            q = transform @ (q + o)
            looks.append(weights)
        scores.append(model.answers.weight @ q)
        attention.append(torch.stack(looks))
    return torch.stack(scores), list(torch.stack(attention, 1)), cut


@pytest.mark.parametrize("form", [{}, *VARIANTS["kv_memnn"]], ids=str)
def test_the_equations_as_loops(form: dict[str, Any]) -> None:
    batch, model = FAMILY.batch(3), network(**form)
    output, (scores, attention, cut) = model(batch), by_loops(model, batch)
    torch.testing.assert_close(output.logits, scores, rtol=1e-11, atol=1e-11)
    for hop, weights in enumerate(attention):
        torch.testing.assert_close(output.attention[f"hop.{hop}"], weights, rtol=1e-11, atol=1e-11)
    assert any(cut), "no slot was left out: the test does not see hashing"
