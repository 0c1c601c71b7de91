"""Batch normalisation against torch's in one process, against a loop over classes, and over two processes."""

import pytest
import torch
from torch import nn

from tests.contract import equal
from tests.run.programs import ROOT, ranks
from zoo.layers.batch_norm import BatchNorm


def picture(count=6, channels=4, size=(3, 5), seed=0):
    torch.manual_seed(seed)
    return torch.randn(count, channels, *size, dtype=torch.float64) * 3 + 2


@pytest.mark.parametrize("training", [True, False])
def test_it_equals_torchs_in_one_process(training):
    ours, theirs = BatchNorm(4).double(), nn.BatchNorm2d(4).double()
    with torch.no_grad():
        for one, two in ((ours.gain, theirs.weight), (ours.bias, theirs.bias)):
            two.copy_(torch.randn(4))
            one.copy_(two)
    for seed in (1, 2):  # running statistics other than those of the start
        equal(ours(picture(seed=seed)), theirs(picture(seed=seed)))
    found = []
    for module in (ours.train(training), theirs.train(training)):
        x = picture().requires_grad_()
        y = module(x)
        slope = torch.linspace(-1, 1, y.numel(), dtype=torch.float64).view_as(y)
        found.append([y, *torch.autograd.grad(y, [x, *module.parameters()], slope)])
        found[-1] += [module.running_mean, module.running_var]
    for one, two in zip(*found, strict=True):
        equal(one, two)


@pytest.mark.parametrize("training", [True, False])
def test_each_class_has_its_own_gain_and_bias(training):
    torch.manual_seed(3)
    module, plain = BatchNorm(4, 3).double(), nn.BatchNorm2d(4, affine=False).double()
    with torch.no_grad():
        module.gain.copy_(torch.randn(3, 4))
        module.bias.copy_(torch.randn(3, 4))
    label = torch.tensor([2, 0, 2, 1, 0, 2])
    module(picture(seed=1), label)
    plain(picture(seed=1))
    found = []
    for ours in (True, False):
        x = picture().requires_grad_()
        if ours:
            y = module.train(training)(x, label)
        else:
            normal = plain.train(training)(x)
            y = torch.stack([normal[n] * module.gain[c, :, None, None] + module.bias[c, :, None, None]
                             for n, c in enumerate(label.tolist())])  # fmt: skip
        slope = torch.linspace(-1, 1, y.numel(), dtype=torch.float64).view_as(y)
        found.append([y, *torch.autograd.grad(y, [x, *module.parameters()], slope)])
    for one, two in zip(*found, strict=True):
        equal(one, two)
    equal(module.running_mean, plain.running_mean)
    equal(module.running_var, plain.running_var)


def test_classes_need_labels():
    with pytest.raises(ValueError, match="label"):
        BatchNorm(4, 3)(picture().float())


def test_half_precision_is_normalised_in_single_precision():
    x = picture().bfloat16()
    y = BatchNorm(4)(x)
    assert y.dtype == torch.float32
    equal(y, BatchNorm(4)(x.float()), 1e-6)


@pytest.mark.slow
def test_two_processes_equal_one(program_env):
    first, second = ranks(["-m", "tests.layers.batch_norm_ranks"], ROOT, program_env)
    expected = ["batch norm", "batch norm of classes", "sagan, label", "sagan, none"]
    assert first.stdout.splitlines() == second.stdout.splitlines() == expected


@pytest.mark.parametrize("classes", [0, 3])
def test_weights_of_bfloat16_are_used_with_precise_statistics(classes):
    torch.manual_seed(4)
    module, exact = BatchNorm(4, classes).bfloat16(), BatchNorm(4, classes)
    x, label = picture().bfloat16(), torch.tensor([2, 0, 2, 1, 0, 2])
    y = module(x, label)
    assert y.dtype == torch.bfloat16
    equal(y, exact(x.float(), label).bfloat16())
    y.square().sum().backward()
    assert module.gain.grad.dtype == torch.bfloat16
    equal(module.running_mean, exact.running_mean.bfloat16())
    equal(module.running_var, exact.running_var.bfloat16())
    equal(module.eval()(x, label).float(), exact.eval()(x.float(), label), 2e-2)
    assert exact(x, label).dtype == torch.float32, "as under autocast"
