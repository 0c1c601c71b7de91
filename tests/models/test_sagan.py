"""SAGAN against its two networks in plain operations, and numbers worked by hand."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrize

from tests.contract import equal
from zoo.data.pictures.batch import PictureBatch, PictureSpec, scaled, to_levels
from zoo.errors import ConfigError
from zoo.models.sagan import SAGAN

CLASSES = tuple("abcdefghij")
SMALL = {"noise_dim": 5, "generator_dim": 16, "discriminator_dim": 8}
SIZES = {12: 6, 16: 8, 28: 14, 32: 16}
"""The sides of a picture, and of the map that attends."""


def spec_of(side=12, channels=3, classes=CLASSES):
    return PictureSpec(channels, side, side, classes=classes)


def batch_of(spec, count=3, noise=7, seed=1):
    draw = torch.Generator().manual_seed(seed)
    shape = (count, spec.channels, spec.height, spec.width)
    image = torch.randint(spec.levels, shape, generator=draw, dtype=torch.uint8)
    label = torch.randint(len(spec.classes), (count,), generator=draw) if spec.classes else None
    return PictureBatch(image, label, noise=torch.randn(count, noise, generator=draw, dtype=torch.float64))


def network_of(spec, *, seed=0, **options):
    """A network in double precision whose attention is not silent and whose running statistics are not those of the
    start."""
    torch.manual_seed(seed)
    network = SAGAN(spec, **{**SMALL, "attention_size": SIZES[spec.height], **options}).double()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith(("gamma", "bias", "gain")):
                parameter.add_(torch.randn_like(parameter), alpha=0.5)
    network.generate(torch.randn(20, 5), torch.arange(20) % 10)
    return network


def count_of(module):
    return sum(parameter.numel() for parameter in module.parameters())


def test_the_numbers_of_parameters_are_those_of_studiogan():
    network = SAGAN(spec_of(32))
    assert count_of(network.generator) == 4_386_308
    assert count_of(network.discriminator) == 1_075_586


@pytest.mark.parametrize(("form", "keys"), [("code", 64), ("paper", 256)])
def test_rows_sum_to_one_over_the_keys(form, keys):
    spec = spec_of(32)
    output = network_of(spec, attention=form)(batch_of(spec))
    assert set(output.attention) == {"generator", "discriminator"} == set(output.memories)
    for name, weights in output.attention.items():
        assert weights.shape == (3, 256, keys)
        equal(weights.sum(2), torch.ones(3, 256, dtype=torch.float64))
        assert (weights.sum(1) - 1).abs().max() > 0.01
        assert output.memories[name].mask.shape == (3, keys) and output.memories[name].mask.all()


def test_every_weight_is_spectrally_normalised():
    network = network_of(spec_of())
    layers = [one for one in network.modules() if isinstance(one, nn.Conv2d | nn.Linear | nn.Embedding)]
    assert len(layers) == (1 + 2 * 3 + 1 + 4) + (3 + 3 + 2 + 2 + 4 + 2)
    for layer in layers:
        assert parametrize.is_parametrized(layer, "weight")


def vectors(network):
    return {name: one.clone() for name, one in network.named_buffers() if name.endswith(("._u", "._v"))}


def test_evaluation_keeps_the_vectors_and_repeats_exactly():
    spec = spec_of()
    network, batch = network_of(spec).eval(), batch_of(spec)
    before, first = vectors(network), network(batch)
    assert len(before) == 2 * 28 and torch.equal(network(batch).logits, first.logits)
    assert all(torch.equal(one, before[name]) for name, one in vectors(network).items())
    network.train()(batch)
    assert all(not torch.equal(one, before[name]) for name, one in vectors(network).items() if one.numel() > 1)


def test_a_pass_is_one_step_of_power_iteration():
    spec = spec_of()
    network = network_of(spec)
    before, batch = vectors(network), batch_of(spec)
    network(batch)
    for name, one in vectors(network).items():
        if name.endswith("._u"):
            layer = name.removesuffix(".0._u")
            matrix = network.get_parameter(f"{layer}.original").detach().flatten(1)
            equal(one, F.normalize(matrix @ before[f"{layer}.0._v"], dim=0))


def test_training_moves_the_vectors_to_the_largest_singular_value():
    spec = spec_of()
    network, batch = network_of(spec), batch_of(spec)
    torch.manual_seed(5)
    layers = [one for one in network.modules() if parametrize.is_parametrized(one)]
    with torch.no_grad():
        for layer in layers:
            nn.init.normal_(layer.parametrizations.weight.original)

    def largest():
        return torch.stack([torch.linalg.svdvals(layer.weight.flatten(1))[0] for layer in layers])

    network.eval()
    assert (largest() - 1).abs().max() > 0.1
    network.train()
    for _ in range(600):
        for layer in layers:
            _ = layer.weight
    network(batch)
    network.eval()
    equal(largest(), torch.ones(len(layers), dtype=torch.float64), 1e-6)


def plain_network(network, noise, pictures, label):
    """Generated pictures and scores, by StudioGAN's order of plain operations."""

    def norm(module, x):
        x = F.batch_norm(x, None, None, training=True)
        of_class = [part[label] if part.dim() == 2 else part[None] for part in (module.gain, module.bias)]
        return x * of_class[0][:, :, None, None] + of_class[1][:, :, None, None]

    def convolution(layer, x):
        return F.conv2d(x, layer.weight, layer.bias, padding=layer.kernel_size[0] // 2)

    attended = set()

    def attend(part, x):
        if part.attention is None or x.shape[2] != part.side or part in attended:
            return x
        attended.add(part)
        return part.attention(x)[0]

    generator, discriminator = network.generator, network.discriminator
    x = generator.linear(noise[:, : network.noise_dim]).unflatten(1, (*generator.base, -1)).permute(0, 3, 1, 2)
    x = attend(generator, x)
    for block in generator.blocks:
        y = F.interpolate(norm(block.norms[0], x).relu(), scale_factor=2)
        y = convolution(block.second, norm(block.norms[1], convolution(block.first, y)).relu())
        x = attend(generator, y + convolution(block.shortcut, F.interpolate(x, scale_factor=2)))
    made = convolution(generator.output, norm(generator.norm, x).relu()).tanh()

    x = pictures
    for number, block in enumerate(discriminator.blocks):
        y = convolution(block.first, x.relu() if number else x)
        y = convolution(block.second, y.relu())
        if block.shortcut is not None:
            y, x = F.avg_pool2d(y, 2), F.avg_pool2d(convolution(block.shortcut, x), 2)
        x = attend(discriminator, x + y)
    h = x.relu().sum((2, 3))
    score = discriminator.linear(h)[:, 0]
    if discriminator.embedding is not None:
        score = score + (discriminator.embedding(label) * h).sum(1)
    return made, score


@pytest.mark.parametrize(
    ("side", "options"),
    [
        (12, {}),
        (32, {}),
        (12, {"attention_size": 3}),
        (28, {"condition": "none", "attention": "paper"}),
        (16, {"attention": "none"}),
    ],
    ids=str,
)
def test_both_networks_equal_plain_operations(side, options):
    spec = spec_of(side, channels=1 if side == 28 else 3)
    network, batch = network_of(spec, **options), batch_of(spec)
    pictures = scaled(batch.image, spec.levels, batch.noise).requires_grad_()
    other = copy.deepcopy(network)
    parameters = [list(one.parameters()) for one in (network, other)]
    made, _ = network.generate(batch.noise, batch.label)
    scores, _ = network.criticise(pictures, batch.label)
    expected = plain_network(other, batch.noise, pictures, batch.label)
    equal(made, expected[0])
    equal(scores, expected[1])
    torch.manual_seed(3)
    slopes = [torch.randn_like(made), torch.randn_like(scores)]
    gradients = [
        torch.autograd.grad(pair, [pictures, *own], slopes)
        for pair, own in zip(([made, scores], list(expected)), parameters, strict=True)
    ]
    for one, two in zip(*gradients, strict=True):
        equal(one, two, 1e-10)


def test_the_projection_by_hand():
    spec = spec_of()
    network, batch = network_of(spec).eval(), batch_of(spec)
    seen = []
    network.discriminator.blocks[-1].register_forward_hook(lambda *call: seen.append(call[2]))
    pictures = scaled(batch.image, spec.levels, batch.noise)
    scores, _ = network.criticise(pictures, batch.label)
    linear, embedding = network.discriminator.linear, network.discriminator.embedding
    w, bias, classes = linear.weight[0].tolist(), linear.bias.item(), embedding.weight.tolist()
    for score, features, label in zip(scores.tolist(), seen[0].flatten(2).tolist(), batch.label.tolist(), strict=True):
        expected = bias
        for channel, values in enumerate(features):
            expected += (w[channel] + classes[label][channel]) * sum(max(value, 0) for value in values)
        assert score == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("side", SIZES)
def test_sizes(side, channels):
    spec = spec_of(side, channels)
    network, batch = network_of(spec), batch_of(spec)
    pictures, attention = network.generate(batch.noise, batch.label)
    assert pictures.shape == batch.image.shape and pictures.abs().max() <= 1
    places = SIZES[side] ** 2
    assert attention["generator"].shape == (3, places, math.ceil(SIZES[side] / 2) ** 2)
    assert network.generator.base == {12: (3, 3), 16: (4, 4), 28: (7, 7), 32: (4, 4)}[side]
    assert [one.shortcut is not None for one in network.discriminator.blocks] == [True, True, False, False]
    assert network(batch).logits.shape == (3, 2)


def test_pictures_of_unequal_sides():
    spec = PictureSpec(1, 12, 20, classes=CLASSES)
    network = SAGAN(spec, **SMALL, attention_size=6).double()
    output = network(batch_of(spec))
    assert network.generator.base == (3, 5)
    assert output.attention["generator"].shape == (3, 60, 15)


@pytest.mark.parametrize(
    ("side", "options", "words"),
    [
        (13, {}, "the sides of 13 x 13 pictures cannot be halved"),
        (1, {}, "choose even sides of 6 or more, such as 12, 16, 28 or 32"),
        (4, {}, "the sides of 4 x 4"),
        (12, {"attention_size": 16}, "maps with 6 or 3 rows"),
        (14, {"attention_size": 14}, "maps with 7 rows"),
        (
            12,
            {"attention_size": 6, "generator_dim": 12},
            "generator_dim=12: .*a multiple of 8, such as 16",
        ),
    ],
)
def test_what_cannot_be_built_is_refused(side, options, words):
    with pytest.raises(ValueError, match=words) as caught:
        SAGAN(spec_of(side), **{**SMALL, **options})
    assert "\n" not in str(caught.value)


def test_an_unknown_form_is_refused():
    with pytest.raises(ConfigError, match="attention"):
        SAGAN(spec_of(), attention="both")


def test_pictures_without_classes():
    spec = spec_of(classes=())
    with pytest.raises(ValueError, match="condition=none"):
        SAGAN(spec, **SMALL, attention_size=6)
    network, batch = network_of(spec, condition="none").eval(), batch_of(spec)
    scores = network(batch).logits
    labelled = PictureBatch(batch.image, torch.tensor([1, 2, 3]), noise=batch.noise)
    assert torch.equal(network(labelled).logits, scores)
    assert network.discriminator.embedding is None and network.generator.blocks[0].norms[0].gain.dim() == 1


def test_without_attention_there_are_no_weights():
    spec = spec_of()
    network = network_of(spec, attention="none", attention_size=99)
    output = network(batch_of(spec))
    assert network.attends == output.attention == output.memories == {}
    assert SAGAN.attends == {"generator": None, "discriminator": None}


def test_a_pass_is_both_faces():
    spec = spec_of()
    network, batch = network_of(spec).eval(), batch_of(spec)
    output = network(batch)
    made, of_generator = network.generate(batch.noise, batch.label)
    generated, _ = network.criticise(made, batch.label)
    real, of_discriminator = network.criticise(scaled(batch.image, spec.levels, made), batch.label)
    equal(output.logits, torch.stack([real, generated], 1))
    equal(output.attention["generator"], of_generator["generator"])
    equal(output.attention["discriminator"], of_discriminator["discriminator"])


def test_the_class_changes_both_networks():
    spec = spec_of()
    network, batch = network_of(spec).eval(), batch_of(spec)
    other = (batch.label + 1) % 10
    made, changed = (network.generate(batch.noise, label)[0] for label in (batch.label, other))
    assert ((made - changed).flatten(1).norm(dim=1) > 0.01).all()
    first, second = (network.criticise(made, label)[0] for label in (batch.label, other))
    assert ((first - second).abs() > 1e-4).all()
    with pytest.raises(ValueError, match="condition=label"):
        network.generate(batch.noise)
    with pytest.raises(ValueError, match="condition=label"):
        network.criticise(made)


def test_noise_has_as_many_columns_as_the_network_needs():
    spec = spec_of()
    network, batch = network_of(spec).eval(), batch_of(spec)
    more = PictureBatch(batch.image, batch.label, noise=torch.cat([batch.noise[:, :5], batch.noise.new_ones(3, 9)], 1))
    torch.testing.assert_close(network(more).logits, network(batch).logits, rtol=1e-13, atol=0)
    with pytest.raises(ValueError, match="noise_dim=5: the batch has 4 numbers per picture"):
        network.generate(batch.noise[:, :4], batch.label)
    with pytest.raises(ValueError, match="no noise"):
        network(PictureBatch(batch.image, batch.label))


@pytest.mark.parametrize("levels", [2, 17, 256])
def test_pictures_go_back_to_their_levels(levels):
    image = torch.arange(levels, dtype=torch.uint8).view(1, 1, 1, -1)
    pictures = scaled(image, levels, torch.zeros(()))
    assert torch.equal(to_levels(pictures, levels), image)
    assert to_levels(pictures, levels).dtype == torch.uint8
    nearly = pictures + 0.9 / (levels - 1)
    assert torch.equal(to_levels(nearly, levels), image)
    assert to_levels(torch.tensor([-1.5, 1.5]), levels).tolist() == [0, levels - 1]


def test_half_precision_is_close():
    spec = spec_of()
    network, batch = network_of(spec).float(), batch_of(spec)
    exact = copy.deepcopy(network)
    with torch.autocast("cpu", torch.bfloat16):
        output = network(batch)
        output.logits.sum().backward()
        pictures, _ = network.generate(batch.noise, batch.label)
    expected = exact(batch).logits
    assert output.logits.dtype == pictures.dtype == torch.float32
    assert (output.logits - expected).abs().max() < 0.1 * expected.abs().max()
    equal(output.attention["generator"].sum(2), torch.ones(3, 36), 1e-5)
    assert all(one.grad.isfinite().all() for one in network.parameters())


def test_autocast_does_not_reach_the_weights():
    spec, seen = spec_of(), []
    network, batch = network_of(spec).float(), batch_of(spec)
    layers = [one for one in network.modules() if parametrize.is_parametrized(one)]
    for layer in layers:
        norm = layer.parametrizations.weight[0]
        norm.register_forward_pre_hook(lambda *_: seen.append(torch.is_autocast_enabled("cpu")))
    with torch.autocast("cpu", torch.bfloat16):
        network(batch)
        assert network.generator.blocks[0].first._wide().dtype == torch.float32
    assert len(seen) == len(layers) + 1 and not any(seen)
