"""Every network of the catalogue keeps the contract, and the contract can be broken."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests import broken, contract, contract_copying, contract_generation
from tests.catalogue import MODELS
from tests.contract import Case, by_steps
from tests.families import Family, family_of
from tests.models.variants import VARIANTS
from zoo.models.output import Output

WIDEST = 16


def small(arguments: dict[str, Any], widest: int = WIDEST) -> dict[str, Any]:
    """Arguments with every width cut down, those of a part such as the image encoder too, without dropout, noise,
    penalties and losses of a part alone: the contract does not depend on them, its speed does."""

    def cut(name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return small(value, WIDEST // 2)  # wider, an image encoder diverges at the rate that the contract learns by
        wide = isinstance(value, int) and (name.endswith("_dim") or name in ("dim", "width"))
        return min(value, widest) if wide else value

    def off(name: str) -> bool:
        return "dropout" in name or name == "ctc" or name.endswith(("_noise", "_penalty"))

    return {name: 0.0 if off(name) else cut(name, value) for name, value in arguments.items()}


def clauses(family: Family, cls: type[nn.Module] = nn.Module) -> tuple[Callable[[Case], None], ...]:
    """The clauses for a network of this family, and of this class."""
    streams = contract.FOR_STREAMS if getattr(cls, "carries", False) else ()
    written = contract_generation.FOR_GENERATION if family.generates else contract.FOR_CLASSES
    pixels = contract.FOR_PIXELS if family.ordered else contract.IN_ORDER if family.in_order else ()
    samples = contract.FOR_SAMPLES if family.sampled else ()
    copying = contract_copying.FOR_COPYING if getattr(cls, "copies", False) else ()
    return tuple(dict.fromkeys((*contract.FOR_ALL, *written, *streams, *pixels, *samples, *copying)))


def cases() -> Iterator[Any]:
    for model in MODELS.values():
        for task in model.cls.tasks:
            for variant in ({}, *VARIANTS.get(model.name, ())):
                arguments = small(model.arguments | variant)
                build = functools.partial(model.cls, family_of(task).spec, **arguments)
                words = [model.name, task, *(f"{name}={value}" for name, value in variant.items())]
                yield pytest.param(Case(build, family_of(task)), id="-".join(words))


CASES = list(cases())
PAIRED = [
    pytest.param(*case.values, clause, id=f"{case.id}-{clause.__name__}")
    for case in CASES
    for clause in clauses(case.values[0].family, case.values[0].build.func)
]


@pytest.mark.parametrize(("case", "clause"), PAIRED)
def test_contract(case: Case, clause: Callable[[Case], None]) -> None:
    clause(case)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("case", CASES)
def test_cuda_gives_what_the_cpu_gives(case: Case) -> None:
    def found(network: nn.Module, batch: Any) -> tuple[Output, list[Tensor], Tensor]:
        """The output of `forward`, the gradients of the loss, and the scores of the steps."""
        output = network(batch)
        learning = [parameter for parameter in network.parameters() if parameter.requires_grad]
        gradients = torch.autograd.grad(case.family.loss(output, batch), learning)
        if not case.family.generates:
            return output, list(gradients), output.logits
        return output, list(gradients), by_steps(network, batch, case.family.without_targets(batch))[0]

    # in double precision, since cuDNN rounds float32 to TF32 by itself; cuDNN has no gradient in evaluation
    batch, network = case.family.batch(1).cast(torch.float64), case.network().double().train()
    if not torch.equal(network(batch).logits, network(batch).logits):
        pytest.skip("it samples in training")
    expected = found(network, batch)
    ours = found(network.cuda(), batch.to("cuda"))

    def equal(one: Tensor, other: Tensor) -> None:
        torch.testing.assert_close(one.cpu(), other, rtol=1e-6, atol=1e-6)

    equal(ours[0].logits, expected[0].logits)
    for name, weights in ours[0].attention.items():
        equal(weights, expected[0].attention[name])
    for one, other in zip(ours[1], expected[1], strict=True):
        equal(one, other)
    equal(ours[2], expected[2])


def case_of(cls: Any) -> Case:
    spec = getattr(cls.family, "spec", None)
    return Case(lambda: cls(spec), cls.family)


SOUND = [
    (cls, clause)
    for cls in (broken.Sound, broken.BringsWeights, broken.Writes, broken.Reads)
    for clause in clauses(cls.family, cls)
]


@pytest.mark.parametrize(
    ("cls", "clause"),
    [*SOUND, *((broken.Pixels, clause) for clause in contract.FOR_PIXELS)],
    ids=lambda value: value.__name__,
)
def test_a_sound_network_keeps_the_contract(cls: type[nn.Module], clause: Callable[[Case], None]) -> None:
    clause(case_of(cls))


@pytest.mark.parametrize(
    ("cls", "clause"),
    [(cls, clause) for clause, networks in broken.FAULTS.items() for cls in networks],
    ids=lambda value: value.__name__,
)
def test_a_broken_network_is_found(cls: type[nn.Module], clause: Callable[[Case], None]) -> None:
    with pytest.raises(RuntimeError if cls in (broken.MixesTypes, broken.MixesTypesInSteps) else AssertionError):
        clause(case_of(cls))


def test_every_clause_can_be_broken() -> None:
    every = (
        contract.FOR_ALL,
        contract.FOR_CLASSES,
        contract.FOR_STREAMS,
        contract.FOR_PIXELS,
        contract_generation.FOR_GENERATION,
    )
    assert set(broken.FAULTS) == {clause for kind in every for clause in kind}
