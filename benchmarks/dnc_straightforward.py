"""A differentiable neural computer as public code usually writes it: one module for the memory, called once per step.

It follows the layout of public implementations: an LSTM cell, one linear layer for each part of the interface, cosine
by torch, usage sorted and multiplied up, the links updated from the outer product of the weightings, autograd through
all of it. It is not slowed down on purpose: heads are batched and the output layer is outside the loop.

Notation: B sequences, T steps, R heads that read, N rows of the memory, W their width, C units of the controller.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.data.bits.batch import BitBatch, BitSpec

DELTA = 1e-6


def content(memory: Tensor, keys: Tensor, strengths: Tensor) -> Tensor:
    """Memory (B, N, W), keys (B, H, W) and strengths (B, H) -> weightings (B, H, N)."""
    cosine = F.cosine_similarity(keys[:, :, None], memory[:, None] + DELTA, dim=3)
    return F.softmax(cosine * strengths[:, :, None], 2)


class StraightforwardDNC(nn.Module):
    """An LSTM and a memory with usage and links, step by step."""

    def __init__(
        self, spec: BitSpec, *, memory_size: int, memory_width: int, controller_dim: int, read_heads: int
    ) -> None:
        super().__init__()
        self.rows, self.width, self.heads = memory_size, memory_width, read_heads
        self.controller = nn.LSTMCell(spec.in_width + read_heads * memory_width, controller_dim)
        sizes = {
            "read_keys": read_heads * memory_width,
            "read_strengths": read_heads,
            "write_key": memory_width,
            "write_strength": 1,
            "erase": memory_width,
            "add": memory_width,
            "free": read_heads,
            "allocation": 1,
            "write": 1,
            "modes": 3 * read_heads,
        }
        self.parts = nn.ModuleDict({name: nn.Linear(controller_dim, size) for name, size in sizes.items()})
        self.output = nn.Linear(controller_dim + read_heads * memory_width, spec.out_width)

    def forward(self, batch: BitBatch) -> Tensor:
        """Logits (B, T, O)."""
        inputs = batch.inputs
        count, rows, heads = len(inputs), self.rows, self.heads
        memory, link = inputs.new_zeros(count, rows, self.width), inputs.new_zeros(count, rows, rows)
        usage, precedence, write = (inputs.new_zeros(count, rows) for _ in range(3))
        read, vectors = inputs.new_zeros(count, heads, rows), inputs.new_zeros(count, heads * self.width)
        state = None
        outputs = []
        for x in inputs.unbind(1):
            state = self.controller(torch.cat([x, vectors], 1), state)
            told = {name: part(state[0]) for name, part in self.parts.items()}
            free = torch.sigmoid(told["free"])
            retention = torch.prod(1 - free[:, :, None] * read, 1)
            usage = (usage + write.detach() - usage * write.detach()) * retention
            write_content = content(memory, told["write_key"][:, None], 1 + F.softplus(told["write_strength"]))[:, 0]
            write = self.write_weighting(usage, write_content, told)
            erase = torch.bmm(write[:, :, None], torch.sigmoid(told["erase"])[:, None])
            memory = memory * (1 - erase) + torch.bmm(write[:, :, None], told["add"][:, None])
            scale = 1 - write[:, :, None] - write[:, None]
            link = scale * link + torch.bmm(write[:, :, None], precedence[:, None])
            link = link * (1 - torch.eye(rows))
            precedence = (1 - write.sum(1, keepdim=True)) * precedence + write
            keys = told["read_keys"].view(count, heads, self.width)
            read_content = content(memory, keys, 1 + F.softplus(told["read_strengths"]))
            modes = F.softmax(told["modes"].view(count, heads, 3), 2)
            backward, forward = torch.bmm(read, link), torch.bmm(read, link.transpose(1, 2))
            read = modes[:, :, :1] * backward + modes[:, :, 1:2] * read_content + modes[:, :, 2:] * forward
            vectors = torch.bmm(read, memory).flatten(1)
            outputs.append(torch.cat([state[0], vectors], 1))
        logits: Tensor = self.output(torch.stack(outputs, 1))
        return logits

    def write_weighting(self, usage: Tensor, by_content: Tensor, told: dict[str, Tensor]) -> Tensor:
        """Where the head writes (B, N)."""
        ordered, order = torch.sort(DELTA + (1 - DELTA) * usage, 1)
        ahead = torch.cumprod(torch.cat([torch.ones_like(ordered[:, :1]), ordered], 1), 1)[:, :-1]
        allocation = torch.zeros_like(usage).scatter(1, order, (1 - ordered) * ahead)
        gate, share = torch.sigmoid(told["write"]), torch.sigmoid(told["allocation"])
        return gate * (share * allocation + (1 - share) * by_content)
