"""ConvS2S's equations written as loops over one sentence, and the models and batches that its tests look at."""

import math

import torch
from torch.nn import functional as F

from tests.models.equations import DOUBLE
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.models import ConvS2S

SPEC = PairSpec(source_size=11, target_size=13, longest_source=9, longest_target=9)
SMALL = {"embedding_dim": 6, "hidden_dim": 5, "output_dim": 4, "positions": 12, "dropout": 0.0}
DEEP = {**SMALL, "encoder_layers": 2, "decoder_layers": 3}
WIDE = {**SMALL, "encoder_layers": [[4, 3], [6, 1], [6, 5]], "decoder_layers": [[4, 2], [7, 3], [7, 1]]}
SOURCES = [[4, 5, 6, 7, 3], [3], [8, 9, 3]]
TARGETS = [[4, 5, 3], [6, 7, 8, 9, 10, 3], [3]]


def padded(rows):
    width = max(map(len, rows))
    mask = torch.arange(width) < torch.tensor([len(row) for row in rows])[:, None]
    return torch.tensor([row + [0] * (width - len(row)) for row in rows]), mask


def batch_of(sources, targets=None):
    ids, mask = padded(targets) if targets else (None, None)
    return PairBatch(*padded(sources), target=ids, target_mask=mask)


def build(settings, seed=0):
    """A model of doubles with every parameter away from its start."""
    torch.manual_seed(seed)
    model = ConvS2S(SPEC, **settings).to(DOUBLE).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(("length", "bias")):
                parameter.add_(0.3 * torch.randn_like(parameter))
    return model


# one position after the other


def matrix(linear):
    """W of V and g, row by row."""
    rows = zip(linear.length, linear.direction, strict=True)
    return torch.stack([g * v / v.square().sum().sqrt() for g, v in rows])


def affine(linear, x):
    return matrix(linear) @ x + linear.bias


def convolve(convolution, frames, before, after):
    """[A; B] of all positions by torch's convolution, then A * sigmoid(B)."""
    kernel, channels = convolution.kernel, len(frames[0])
    weight = matrix(convolution).view(-1, kernel, channels).transpose(1, 2)
    x = torch.cat([frames[0].new_zeros(before, channels), torch.stack(frames), frames[0].new_zeros(after, channels)])
    sums = F.conv1d(x.T[None], weight, convolution.bias)[0].T
    width = sums.shape[1] // 2
    return [row[:width] * (1 / (1 + (-row[width:]).exp())) for row in sums]


def through(block, x):
    return x if block.residual is None else affine(block.residual, x)


def embedded(words, positions, ids):
    return [words.weight[token] + positions.weight[min(i, len(positions.weight) - 1)] for i, token in enumerate(ids)]


def encode(model, source, keep=1.0):
    """z and e of each source word; `keep` multiplies what is dropped out."""
    e = [keep * x for x in embedded(model.source_embedding, model.source_positions, source)]
    h = [affine(model.encoder_in, x) for x in e]
    for block in model.encoder:
        k = block.convolution.kernel
        y = convolve(block.convolution, [keep * x for x in h], k // 2, k // 2)
        h = [(new + through(block, old)) * math.sqrt(0.5) for new, old in zip(y, h, strict=True)]
    return [affine(model.encoder_out, x) for x in h], e


def decode(model, z, e, target, keep=1.0):
    """The logits of each target position, and the weights of each layer."""
    g = [keep * x for x in embedded(model.target_embedding, model.target_positions, [SPEC.begin, *target[:-1]])]
    h, weights = [affine(model.decoder_in, x) for x in g], []
    for block in model.decoder:
        y = convolve(block.convolution, [keep * x for x in h], block.convolution.kernel - 1, 0)
        after, rows = [], []
        for i, new in enumerate(y):
            d = (affine(block.query, new) + g[i]) * math.sqrt(0.5)
            exponentials = [(d @ z[j]).exp() for j in range(len(z))]
            a = [value / sum(exponentials) for value in exponentials]
            c = sum(a[j] * (z[j] + e[j]) * math.sqrt(0.5) for j in range(len(z)))
            c = c * len(z) * math.sqrt(1 / len(z))
            new = (affine(block.context, c) + new) * math.sqrt(0.5)
            after.append((new + through(block, h[i])) * math.sqrt(0.5))
            rows.append(torch.stack(a))
        h = after
        weights.append(torch.stack(rows))
    return torch.stack([affine(model.vocabulary, keep * affine(model.decoder_out, x)) for x in h]), weights


def literal(model, source, target, factor):
    """Logits and weights of one pair; the gradient into z times `factor`."""
    z, e = encode(model, source)
    return decode(model, [factor * x + (1 - factor) * x.detach() for x in z], e, target)


# what the tests compare


def probe(batch):
    """Random numbers (B, T, V) that depend on the pair and not on its position in the batch."""
    generator = torch.Generator().manual_seed(5)
    return torch.randn(*batch.target.shape, SPEC.target_size, dtype=DOUBLE, generator=generator)
