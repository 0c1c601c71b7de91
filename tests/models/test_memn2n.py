"""End-to-end memory networks against the paper's equations as loops, and what the fast form must not change."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.families.answering import FAMILY
from tests.models.variants import VARIANTS
from zoo.data.stories.batch import StoryBatch, StorySpec
from zoo.models.memn2n import MemN2N

FORMS: list[dict[str, Any]] = [
    {},
    *VARIANTS["memn2n"],
    {"value": "same"},
    {"empty": "mask"},
    {"encoding": "bag"},
    {"encoding": "position_paper"},
    {"memory_size": 2},
]


def network(**arguments: Any) -> MemN2N:
    torch.manual_seed(0)
    model = MemN2N(FAMILY.spec, **{"embedding_dim": 4, "memory_size": 5, **arguments}).double().eval()
    for parameter in model.parameters():
        parameter.data *= 5  # so that the softmax is not flat
    return model


def place_weight(model: MemN2N, j: int, length: int, k: int) -> float:
    """l_kj of the paper, or of its code; j and k from 1."""
    width = model.tables.shape[-1]
    if model.encoding == "bag":
        return 1.0
    if model.encoding == "position_paper":
        return (1 - j / length) - (k / width) * (1 - 2 * j / length)
    longest = FAMILY.spec.longest_sentence + 1
    return 1 + 4 * (k - (width + 1) / 2) * (j - (longest + 1) / 2) / (width * longest)


def embedded(model: MemN2N, table: Tensor, words: list[int]) -> Tensor:
    """sum_j l_j * E x_j."""
    places, width = range(1, len(words) + 1), table.shape[-1]
    weights = [[place_weight(model, j, len(words), k) for k in range(1, width + 1)] for j in places]
    return (torch.tensor(weights, dtype=torch.double).view(-1, width) * table[words]).sum(0)


def by_loops(model: MemN2N, batch: StoryBatch, *, linear: bool = False) -> tuple[Tensor, Tensor]:
    """Scores (B, V) and attention (K, B, S) by the equations, one question, one hop and one place after the other.

    As in the authors' code, sentences are padded to the longest, and memories with sentences of padding.
    """
    vocabulary, tables, longest = FAMILY.spec.vocabulary_size, model.tables, FAMILY.spec.longest_sentence

    def padded(words: list[int]) -> list[int]:
        return words + [0] * (longest - len(words)) * (model.encoding != "position_paper")

    if model.question_table is None:  # A_{k + 1} = C_k, B = A_1, W = C_K
        hops = [(0, 0) if len(tables) == 1 else (k, k + 1) for k in range(model.hops)]
    else:
        hops = [(0, len(tables) - 1)] * model.hops
    scores, attention = [], []
    for row in range(len(batch)):
        story = [words[mask].tolist() for words, mask in zip(batch.words[row], batch.word_mask[row], strict=True)]
        story = [sentence for sentence in story if sentence]
        question = batch.question[row][batch.question_mask[row]].tolist()
        u = embedded(model, tables[0] if model.question_table is None else model.question_table, padded(question))
        looks = []
        for matched, read in hops:
            places = []
            for age in range(model.memory_size):
                if age < len(story):
                    made = [embedded(model, tables[table], padded(story[-1 - age])) for table in (matched, read)]
                    if model.times:
                        made = [m + tables[t][vocabulary + age] for m, t in zip(made, (matched, read), strict=True)]
                    places.append(made)
                elif model.sink:
                    places.append([embedded(model, tables[table], [0] * (longest + 1)) for table in (matched, read)])
            p = torch.stack([m @ u for m, _ in places]) if places else torch.zeros(0, dtype=torch.double)
            p = p if linear or not places else p.softmax(0)
            o = sum((weight * c for weight, (_, c) in zip(p, places, strict=True)), torch.zeros_like(u))
            u = (u if model.hop is None else model.hop @ u) + o
            u = u.relu() if model.nonlinearity else u
            here = min(len(story), model.memory_size)
            weights = torch.zeros(batch.sentence_mask.shape[1], dtype=torch.double)
            weights[len(story) - here : len(story)] = p[:here].detach().flip(0)
            looks.append(weights)
        answers = tables[-1] if model.answer_table is None else model.answer_table
        scores.append(answers[:vocabulary] @ u)
        attention.append(torch.stack(looks))
    return torch.stack(scores), torch.stack(attention, 1)


@pytest.mark.parametrize("linear", [False, True], ids=["softmax", "linear"])
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_the_equations_as_loops(form: dict[str, Any], linear: bool) -> None:
    """Scores, attention, gradients; that of the row of padding, which is part of what is clipped, is the authors'."""
    batch, model = FAMILY.batch(1), network(**form)
    model.linear = linear
    output, (scores, attention) = model(batch), by_loops(model, batch, linear=linear)
    scale = float(scores.detach().abs().max())
    torch.testing.assert_close(output.logits / scale, scores / scale, rtol=1e-12, atol=1e-12)
    found = torch.stack([output.attention[f"hop.{k}"] for k in range(model.hops)])
    torch.testing.assert_close(found, attention, rtol=1e-11, atol=1e-12)
    parameters = list(model.parameters())
    ours, theirs = (
        torch.autograd.grad(F.cross_entropy(logits / scale, batch.answer), parameters)
        for logits in (output.logits, scores)
    )
    for (name, _), one, other in zip(model.named_parameters(), ours, theirs, strict=True):
        real = slice(name != "hop" and (linear or model.encoding == "position_paper"), None)
        torch.testing.assert_close(one[..., real, :], other[..., real, :], rtol=1e-10, atol=1e-12)


def test_several_networks_at_once() -> None:
    """Parameters with an axis more in front: each slice is the network with those parameters alone."""
    batch = FAMILY.batch(1)
    for form in FORMS:
        models = [network(**form) for _ in range(3)]
        for number, model in enumerate(models):
            for parameter in model.parameters():
                parameter.data *= 1 + number
        names = dict(models[0].named_parameters())
        stacked = {name: torch.stack([dict(m.named_parameters())[name] for m in models]) for name in names}
        together = torch.func.functional_call(models[0], stacked, (batch,))
        for number, model in enumerate(models):
            alone = model(batch)
            torch.testing.assert_close(together.logits[number], alone.logits, rtol=1e-12, atol=1e-10)
            for name, weights in alone.attention.items():
                torch.testing.assert_close(together.attention[name][number], weights, rtol=1e-12, atol=1e-12)


def test_noise_keeps_the_order_of_the_sentences() -> None:
    """In training n sentences keep their order in n + r places of time, r from 0 to a tenth of n, rounded up."""
    spec = StorySpec(vocabulary_size=9, longest_sentence=4, tasks=("one",))
    model = MemN2N(spec, memory_size=50).train()
    number = torch.tensor([[40], [7], [50]])
    age = number - 1 - torch.arange(50)
    age = age.where(age >= 0, 50)
    torch.manual_seed(0)
    seen: list[set[int]] = [set(), set(), set()]
    for _ in range(300):
        times, most = model._times(age, number, 50)
        assert most == 50
        for row, count in enumerate(number.flatten().tolist()):
            found = times[row, :count]  # the oldest first
            steps = found[:-1] - found[1:]
            assert (steps[(found[:-1] < 49)] >= 1).all() and found[-1] >= 0
            seen[row].add(int(found[0]) - (count - 1))
    assert seen[1] == {0, 1}  # one place more, at most, and sometimes between the sentences
    assert seen[0] == {0, 1, 2, 3, 4} and seen[2] == {0}  # the memory has no more times than places
    assert torch.equal(model.eval()._times(age, number, 50)[0][0, :40], torch.arange(39, -1, -1))


def test_linear_start_travels_with_the_weights() -> None:
    model = network()
    model.linear = True
    state = model.state_dict()
    again = network()
    again.load_state_dict(state)
    assert again.linear is True
    batch = FAMILY.batch(1)
    assert torch.equal(again(batch).logits, model(batch).logits)
    assert "_extra_state" in state and state["_extra_state"].dtype == torch.bool
