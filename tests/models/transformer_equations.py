"""The Transformer of the paper's equations, one vector at a time: slow, and nothing shared with the code under test."""

import math

import torch
from torch import nn

DOUBLE = torch.float64


def literal(network, source, target_input):
    """Logits (T, V) and attention of one pair, in lists of vectors. `network` gives the weights and the choices."""
    pre, size = isinstance(network.encoder_norm, nn.LayerNorm), network.neighbourhood
    dim = network.dim
    weights = {}

    def norm(layer, x):
        x = x - x.sum() / dim
        return layer.weight * x / torch.sqrt((x * x).sum() / dim + 1e-5) + layer.bias

    def position(table, p):
        if isinstance(table, nn.Embedding):
            return table.weight[min(p, len(table.weight) - 1)]
        pe = [(math.sin, math.cos)[i % 2](p / 10_000 ** ((i - i % 2) / dim)) for i in range(dim)]
        return torch.tensor(pe, dtype=DOUBLE)

    def attend(module, name, queries, memory, sees):
        w_q, w_k, w_v = (part for weight in module.weights for part in weight.split(dim))
        b_q, b_k, b_v = module.bias.split(dim)
        width, result = dim // module.heads, []
        weights[name] = torch.zeros(module.heads, len(queries), len(memory), dtype=DOUBLE)
        for i, x in enumerate(queries):
            heads = []
            for h in range(module.heads):
                rows = slice(h * width, (h + 1) * width)
                seen = [j for j in range(len(memory)) if sees(i, j)]
                q = w_q[rows] @ x + b_q[rows]
                scores = torch.stack([q @ (w_k[rows] @ memory[j] + b_k[rows]) for j in seen]) / math.sqrt(width)
                a = torch.exp(scores) / torch.exp(scores).sum()
                heads.append(sum(a[n] * (w_v[rows] @ memory[j] + b_v[rows]) for n, j in enumerate(seen)))
                weights[name][h, i, seen] = a.detach()
            result.append(module.output.weight @ torch.cat(heads) + module.output.bias)
        return result

    def sublayer(residual, x, f):
        if pre:
            y = f([norm(residual.norm, vector) for vector in x])
            return [a + b for a, b in zip(x, y, strict=True)]
        return [norm(residual.norm, a + b) for a, b in zip(x, f(x), strict=True)]

    def feedforward(net):
        first, last = net[0], net[-1]
        return lambda x: [last.weight @ torch.clamp(first.weight @ y + first.bias, min=0) + last.bias for y in x]

    def near(i, j):
        return size is None or abs(i - j) <= size // 2

    def embed(embedding, table, ids):
        return [embedding.weight[token] * math.sqrt(dim) + position(table, p) for p, token in enumerate(ids)]

    x = embed(network.source_embedding, network.source_positions, source)
    for n, layer in enumerate(network.encoder):
        x = sublayer(
            layer.self_attention_residual,
            x,
            lambda y, m=layer.self_attention, n=n: attend(m, f"encoder.{n}", y, y, near),
        )
        x = sublayer(layer.feedforward_residual, x, feedforward(layer.feedforward))
    memory = [norm(network.encoder_norm, y) for y in x] if pre else x
    x = embed(network.target_embedding, network.target_positions, target_input)
    for n, layer in enumerate(network.decoder):
        x = sublayer(
            layer.self_attention_residual,
            x,
            lambda y, m=layer.self_attention, n=n: attend(m, f"decoder.{n}", y, y, lambda i, j: j <= i and near(i, j)),
        )
        x = sublayer(
            layer.cross_attention_residual,
            x,
            lambda y, m=layer.cross_attention, n=n: attend(m, f"source.{n}", y, memory, lambda i, j: True),
        )
        x = sublayer(layer.feedforward_residual, x, feedforward(layer.feedforward))
    x = [norm(network.decoder_norm, y) for y in x] if pre else x
    return torch.stack([network.vocabulary.weight @ y + network.vocabulary.bias for y in x]), weights
