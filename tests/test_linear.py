"""Packed matrices: the products of torch.nn.functional.linear, of the weights as they are now, and nowhere else."""

import copy
import gc
import pickle
import threading
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import zoo.linear
from zoo.linear import Linear, linear, multiplied, packed_matrices, repeated

pytestmark = pytest.mark.skipif(not zoo.linear._available(), reason="this torch has no oneDNN")


@pytest.fixture(autouse=True)
def every_matrix_is_large(monkeypatch):
    monkeypatch.setattr(zoo.linear, "LARGE", 1)


@pytest.fixture
def packed_products(monkeypatch) -> list[tuple[int, ...]]:
    """The shapes of the rows of each product with a packed matrix."""
    shapes, product = [], torch.ops.mkldnn._linear_pointwise
    monkeypatch.setattr(
        torch.ops.mkldnn, "_linear_pointwise", lambda x, *rest: (shapes.append(tuple(x.shape)), product(x, *rest))[1]
    )
    return shapes


def layer(dtype: torch.dtype = torch.float32, *, bias: bool = True) -> Linear:
    torch.manual_seed(0)
    return Linear(48, 40, bias=bias, dtype=dtype)


def equal(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)


@torch.no_grad()
def in_context(module: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    with packed_matrices():
        return module(x)


@pytest.mark.parametrize("shape", [(48,), (1, 48), (5, 48), (2, 3, 48), (2, 1, 5, 48)])
@pytest.mark.parametrize("bias", [True, False])
def test_a_packed_product_is_the_product(shape, bias, packed_products):
    one, x = layer(bias=bias), torch.randn(shape)
    equal(in_context(one, x), F.linear(x, one.weight, one.bias).detach())
    turned = torch.randn(48, 5).t()
    equal(in_context(one, turned), F.linear(turned, one.weight, one.bias).detach())
    assert packed_products == [shape, (5, 48)]
    assert in_context(one, x[..., :0, :] if x.dim() > 1 else x.new_zeros(0, 48)).shape[-2:] == (0, 40)


def test_some_rows_are_packed_by_themselves(packed_products):
    one, x = layer(), torch.randn(5, 48)
    for rows in (slice(0, 16), slice(16, 40), None, slice(0, 16)):
        bias = one.bias if rows is None else one.bias[rows]
        found = in_context(lambda x, rows=rows, bias=bias: linear(x, one.weight, bias, rows=rows), x)
        equal(found, F.linear(x, one.weight, one.bias).detach()[:, rows or slice(None)])
    assert len(packed_products) == 4


def optimised(one: Linear) -> None:
    optimizer = torch.optim.Adam(one.parameters(), lr=0.1, fused=True)
    one(torch.ones(1, 48)).sum().backward()
    optimizer.step()


def changed_in_place(one: Linear) -> None:
    with torch.no_grad():
        one.weight[0, 1] += 5.0  # an entry that is not compared


def loaded(one: Linear) -> None:
    one.load_state_dict({name: part + 1 for name, part in one.state_dict().items()})


def moved(one: Linear) -> None:
    one.weight.data = one.weight.data * 2


def replaced(one: Linear) -> None:
    one.weight = nn.Parameter(one.weight.detach() * 2)


def written_through_data(one: Linear) -> None:
    """Weight averaging swaps weights so: it leaves no trace in the version."""
    version = one.weight._version
    one.weight.data[7] = 1.0
    assert one.weight._version == version


@pytest.mark.parametrize("change", [optimised, changed_in_place, loaded, moved, replaced, written_through_data])
def test_changed_weights_are_packed_again(change, packed_products):
    one, x = layer(), torch.randn(5, 48)
    before = in_context(one, x)
    change(one)
    found = in_context(one, x)
    equal(found, F.linear(x, one.weight, one.bias).detach())
    assert (found - before).abs().max() > 0.1
    assert len(packed_products) == 2


def test_an_unchanged_matrix_is_packed_once(monkeypatch):
    packed, pack = [], zoo.linear._Packed.of
    monkeypatch.setattr(zoo.linear._Packed, "of", lambda *arguments: (packed.append(1), pack(*arguments))[1])
    one, x = layer(), torch.randn(5, 48)
    for _ in range(3):
        in_context(one, x)
        in_context(nn.Sequential(one, nn.Linear(40, 48), one), x)
    assert len(packed) == 1


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_types_are_not_packed(dtype, packed_products):
    one = layer(dtype)
    x = torch.randn(5, 48, dtype=dtype)
    assert torch.equal(in_context(one, x), F.linear(x, one.weight, one.bias).detach())
    assert packed_products == []


def test_nothing_is_packed_with_gradients_under_autocast_for_small_matrices_or_without_the_operators(
    packed_products, monkeypatch
):
    one, x = layer(), torch.randn(5, 48)
    with packed_matrices():
        one(x).sum().backward()
        assert one.weight.grad is not None
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            assert one(x).dtype == torch.bfloat16
    with torch.no_grad():
        one(x)
    with monkeypatch.context() as patch:
        patch.setattr(zoo.linear, "LARGE", 48 * 40 + 1)
        in_context(one, x)
    with monkeypatch.context() as patch:
        patch.setattr(zoo.linear, "_available", lambda: False)
        in_context(one, x)
    assert packed_products == []


def test_no_copy_and_no_checkpoint_has_packed_matrices(packed_products):
    one, x = layer(), torch.randn(5, 48)
    size = len(pickle.dumps(one))
    in_context(one, x)
    assert set(one.state_dict()) == {"weight", "bias"} and len(pickle.dumps(one)) == size
    for other in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        with torch.no_grad():
            other.weight += 1
        equal(in_context(other, x), F.linear(x, other.weight, other.bias).detach())
        equal(in_context(one, x), F.linear(x, one.weight, one.bias).detach())
    assert len(packed_products) == 5


def test_packed_matrices_go_with_their_parameter():
    gc.collect()
    before, one = len(zoo.linear._kept), layer()
    in_context(one, torch.randn(5, 48))
    assert len(zoo.linear._kept) == before + 1
    del one
    gc.collect()
    assert len(zoo.linear._kept) == before


def test_threads_have_contexts_of_their_own(packed_products):
    one, x, found = layer(), torch.randn(5, 48), {}
    with torch.no_grad(), packed_matrices():
        thread = threading.Thread(target=lambda: found.update(outside=one(x).detach(), within=in_context(one, x)))
        thread.start()
        thread.join()
        found["here"] = one(x)
    assert len(packed_products) == 2  # a new thread is outside
    for value in found.values():
        equal(value, F.linear(x, one.weight, one.bias).detach())


def test_a_compiled_layer_computes_the_same(packed_products):
    one, x = layer(), torch.randn(5, 48)
    compiled = torch.compile(one, backend="eager", fullgraph=True)
    equal(in_context(compiled, x), F.linear(x, one.weight, one.bias).detach())
    equal(compiled(x).detach(), F.linear(x, one.weight, one.bias).detach())
    assert packed_products == []


def test_weights_made_in_inference_mode_are_not_packed(packed_products):
    """They have no version that would show a change."""
    with torch.inference_mode():
        one, x = layer(), torch.randn(5, 48)
        assert torch.equal(in_context(one, x), F.linear(x, one.weight, one.bias))
    assert packed_products == []


@torch.no_grad()
def test_products_without_gradients_use_onednn_where_it_is_faster(monkeypatch, packed_products):
    weight, bias, x = torch.randn(40, 48), torch.randn(40), torch.randn(3, 48)
    equal(repeated(weight)(x), x @ weight.t())
    equal(repeated(weight.t().contiguous().t())(x), x @ weight.t())
    assert len(packed_products) == 2
    for amd in (True, False):
        monkeypatch.setattr(zoo.linear, "AMD", amd)
        equal(multiplied(x, weight, bias), F.linear(x, weight, bias))
        equal(multiplied(x.t(), bias[:3].expand(40, 3)), x.t() @ bias[:3].expand(40, 3).t())
        assert len(packed_products) == 4
    assert multiplied(x[:0], weight, bias).shape == (0, 40) and repeated(weight)(x[:0]).shape == (0, 40)
    exact = weight.double()
    torch.testing.assert_close(repeated(exact)(x.double()), x.double() @ exact.t())
