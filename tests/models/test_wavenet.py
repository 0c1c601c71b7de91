"""WaveNet beside its equations: sizes, the field, and equality with a network that does not pad."""

import torch
import torch.nn.functional as F

from zoo.data.waves.batch import WaveBatch, WaveSpec
from zoo.models.wavenet import WaveNet


def sounds(levels):
    return WaveBatch(levels, torch.ones_like(levels, dtype=torch.bool))


def small(**arguments):
    torch.manual_seed(0)
    sizes = {"residual_dim": 5, "gate_dim": 4, "skip_dim": 6, "head_dim": 7, "num_blocks": 2, "layers_per_block": 3}
    return WaveNet(WaveSpec(rate=8000), **sizes | arguments).double().eval()


def test_fields_and_parameters_of_published_sizes():
    fields = [1024, 2047, 3070, 4093, 5116]  # of blocks of ten layers, the first with a kernel of 1
    spec, thin = WaveSpec(rate=16000), {"residual_dim": 1, "gate_dim": 1, "skip_dim": 1, "head_dim": 1}
    found = [WaveNet(spec, num_blocks=n, layers_per_block=10, first_kernel=1, **thin).field for n in range(1, 6)]
    assert found == fields
    assert WaveNet(spec, num_blocks=3, layers_per_block=10, kernel_size=3, first_kernel=1, **thin).field == 6139
    sizes = {"residual_dim": 32, "gate_dim": 32, "skip_dim": 512, "head_dim": 512}
    network = WaveNet(spec, num_blocks=5, layers_per_block=10, first_kernel=2, **sizes)
    assert network.field == 5117
    # 1,515,968 of tensorflow-wavenet, without 49 biases of skips and the last layer's way on, which nothing reads, and
    # with a row of zeros in each table of the first layer
    assert sum(part.numel() for part in network.parameters()) == 1_515_968 - 49 * 512 - (32 * 32 + 32) + 2 * 32


def test_a_sample_changes_the_scores_of_its_field():
    network = small(skip_dim=32, head_dim=32)
    levels = torch.randint(0, 255, (1, 60), dtype=torch.uint8)
    other = levels.clone()
    other[0, 20] += 1
    changed = (network(sounds(levels)).logits != network(sounds(other)).logits).any(-1)[0].nonzero()[:, 0]
    assert network.field == 16 and changed.tolist() == list(range(21, 21 + 16))


def unpadded(network, levels):
    """The equations with convolutions that do not pad: scores after each sample whose whole field is known."""
    first, second = (table.weight for table in network.first)
    words = levels.long() + 1
    x = (first[words[:, :-1]] + second[words[:, 1:]]).transpose(1, 2)
    opened = []
    for number, layer in enumerate(network.layers):
        a, b = F.conv1d(x, layer.weight, layer.bias, dilation=layer.dilation).chunk(2, 1)
        z = a.tanh() * b.sigmoid()
        opened.append(z)
        if number < len(network.residual):
            x = x[:, :, -z.shape[2] :] + network.residual[number](z)
    length = opened[-1].shape[2]
    return network.head(network.skip(torch.cat([z[:, :, -length:] for z in opened], 1)))


@torch.no_grad()
def test_rings_that_have_read_silence_equal_a_network_without_padding():
    network = small()
    levels = torch.randint(0, 256, (2, 30), dtype=torch.uint8)
    silence = torch.full((2, network.field - 1), 128, dtype=torch.uint8)
    expected = unpadded(network, torch.cat([silence, levels], 1))  # (B, L, N)
    found, state = network.start(sounds(silence))
    for place in range(30):
        found, state = network.step(levels[:, place], state)
        torch.testing.assert_close(found, expected[:, :, place], rtol=0, atol=1e-12)
    cold, state = network.start(sounds(levels[:, :0]))
    differs = []
    for place in range(30):
        cold, state = network.step(levels[:, place], state)
        differs.append(bool((cold - expected[:, :, place]).abs().amax() > 1e-12))
    assert differs == [place < network.field - 1 for place in range(30)]
