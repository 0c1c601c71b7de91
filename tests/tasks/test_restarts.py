"""Several networks trained as one: the same numbers as one by one."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

from tests.families.answering import FAMILY
from zoo.data.stories.batch import StoryBatch
from zoo.models.memn2n import MemN2N
from zoo.models.output import Output
from zoo.tasks.restarts import Restarts


class Plain(nn.Module):
    """A small network that knows nothing of restarts, with a loss of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(FAMILY.spec.vocabulary_size, 5)
        self.answer = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, FAMILY.spec.vocabulary_size))

    def forward(self, batch: StoryBatch) -> Output:
        asked = (self.embedding(batch.question) * batch.question_mask[..., None]).sum(1)
        return Output(self.answer(asked), losses={"size": asked.square().mean()})


class Tied(Plain):
    """With one parameter in two modules, and one module in two places."""

    def __init__(self) -> None:
        super().__init__()
        self.answer[2] = nn.Linear(5, FAMILY.spec.vocabulary_size)
        self.answer[0] = nn.Linear(5, 5)
        self.answer[2].weight = self.embedding.weight
        self.again = self.answer

    def forward(self, batch: StoryBatch) -> Output:
        output = super().forward(batch)
        return Output(output.logits + self.again(self.embedding(batch.question[:, 0])), losses=output.losses)


def trained(networks: list[nn.Module], steps: int = 5) -> list[nn.Module]:
    """Each by itself."""
    for network in networks:
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
        for seed in range(steps):
            batch = FAMILY.batch(seed)
            output = network(batch)
            loss = F.cross_entropy(output.logits, batch.answer, reduction="sum") + sum(output.losses.values())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return networks


def together(networks: list[nn.Module], steps: int = 5) -> Restarts:
    """The weights of the same networks, trained side by side."""
    others = iter(networks[1:])
    restarts = Restarts(networks[0], lambda: next(others), len(networks))
    optimizer = torch.optim.SGD(restarts.parameters(), lr=0.1)
    for seed in range(steps):
        batch = FAMILY.batch(seed)
        output = restarts(batch)
        answer = batch.answer.expand(len(networks), -1)
        loss = F.cross_entropy(output.logits.flatten(0, 1), answer.flatten(), reduction="sum")
        loss = loss + sum(part.sum() for part in output.losses.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return restarts


def test_side_by_side_is_one_after_the_other() -> None:
    """For networks that torch.func.vmap follows and for one that stacks by itself."""
    for build in (Plain, Tied, lambda: MemN2N(FAMILY.spec, embedding_dim=6, time_noise=0.0)):
        torch.manual_seed(0)
        networks = [build().double() for _ in range(3)]
        alone = trained(copy.deepcopy(networks))
        restarts = together(networks)
        for number, expected in enumerate(alone):
            restarts.put(number)
            for one, other in zip(networks[0].parameters(), expected.parameters(), strict=True):
                torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)
        assert not torch.equal(*(next(iter(network.parameters())) for network in alone[:2]))


def test_the_one_with_the_fewest_errors_is_best() -> None:
    restarts = Restarts(Plain(), Plain, 3)
    restarts.settle()
    assert restarts.errors.isnan().all() and restarts.best is None
    restarts.count(torch.tensor([5, 2, 3]), 10)
    restarts.count(torch.tensor([0, 2, 0]), 10)
    restarts.settle()
    torch.testing.assert_close(restarts.errors, torch.tensor([0.25, 0.2, 0.15]))
    assert restarts.best == 2
    again = Restarts(Plain(), Plain, 3)
    again.load_state_dict(restarts.state_dict())
    torch.testing.assert_close(again.errors, restarts.errors)
    again.counts = restarts.counts.clone()  # a resumed epoch goes on counting
    again.count(torch.tensor([0, 10, 10]), 20)
    again.settle()
    torch.testing.assert_close(again.errors, torch.tensor([5 / 40, 14 / 40, 13 / 40]))
    again.begin()
    again.settle()  # nothing was counted since
    assert again.best == 0
    again.count(torch.tensor([3, 2, 0]), 4)
    again.settle()
    torch.testing.assert_close(again.errors, torch.tensor([0.75, 0.5, 0.0]))


def test_the_network_is_no_part_of_its_restarts() -> None:
    network = Plain()
    restarts = Restarts(network, Plain, 2)
    names = [name for name, _ in restarts.named_parameters()]
    assert len(names) == len(list(network.parameters())) and all(name.startswith("stacked.") for name in names)


class Recorded(nn.Module):
    """Returns the shape of its parameter, and random numbers, as scores."""

    def __init__(self, stacks: bool) -> None:
        super().__init__()
        self.stacks, self.shapes = stacks, []
        self.weight = nn.Parameter(torch.zeros(2))

    def forward(self, batch: StoryBatch) -> Output:
        self.shapes.append(tuple(self.weight.shape))
        return Output(self.weight[..., None] * 0 + torch.rand(4))


def test_a_network_that_stacks_gets_all_restarts_in_one_call() -> None:
    """Its parameters have an axis more, (R, 2) here; the others are called as if they were alone."""
    for stacks, shape in ((True, (3, 2)), (False, (2,))):
        network = Recorded(stacks)
        output = Restarts(network, lambda: Recorded(stacks), 3)(FAMILY.batch(0))  # noqa: B023
        assert network.shapes == [shape] and output.logits.shape == (3, 2, 4)


def test_random_numbers_are_shared() -> None:
    network = Recorded(False)
    one, *others = Restarts(network, lambda: Recorded(False), 3)(FAMILY.batch(0)).logits
    assert one[0].unique().numel() == 4 and all(torch.equal(one, other) for other in others)
