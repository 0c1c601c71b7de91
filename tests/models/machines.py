"""Parts of the tests of the Turing machine and of the differentiable neural computer."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from tests.families.algorithmic import FAMILY
from tests.models.equations import assert_equal


def filled(model: nn.Module, size: float) -> nn.Module:
    """The network with random weights of this size."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape) * size)
    return model


def assert_trace(model: Any) -> None:
    """The record of the heads is what `forward` attends to, and its memory that of each sequence's last step."""
    batch = FAMILY.batch(1)
    trace, output = model.memory_trace(batch), model(batch)
    for name in ("read", "write"):
        assert_equal(trace[name], output.attention[name])
    for row in range(len(batch)):
        state = model.start(1)
        for x in batch.inputs[row, batch.step_mask[row]].double():
            _, state = model.step(x[None], state)
        assert_equal(trace["memory"][row], state.memory[0])


def assert_compiled_once(network: Callable[[], Any], results: Callable[[Any, Any], tuple[Tensor, Tensor]]) -> None:
    """A compiled cell gives the same results and gradients, and is compiled once for several sequences and once more
    for a single one, whatever their length."""
    graphs = []

    def backend(graph: torch.fx.GraphModule, inputs: list[Any]) -> Any:
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    model, plain, whole = network(), network(), FAMILY.batch(1)
    model.compile(backend=backend)
    for batch in (whole, FAMILY.part(whole, [4, 1, 4]), FAMILY.part(whole, [1])):
        ours, theirs = results(model, batch), results(plain, batch)
        assert_equal(ours, theirs)
        random = [torch.randn_like(part) for part in theirs]
        gradients = [
            torch.autograd.grad(sum((a * b).sum() for a, b in zip(parts, random, strict=True)), list(net.parameters()))
            for parts, net in ((ours, model), (theirs, plain))
        ]
        assert_equal(*gradients, rtol=1e-10, atol=1e-10)
    assert len(graphs) == 2
    assert model.state_dict().keys() == plain.state_dict().keys()
