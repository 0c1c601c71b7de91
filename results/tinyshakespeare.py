"""python results/tinyshakespeare.py FILE.csv TEXT [seed=N]: a GPT by nanoGPT's published recipe for a CPU, in torch.

The recipe: 4 layers of 4 heads, 128 wide, without dropout, and windows of 64 characters from random places. 2,000 steps
with 12 windows in a batch. AdamW with betas .9 and .99, and a decay of 0.1 of the matrices. 100 steps of warm-up to a
rate of 1e-3, then half a cosine down to 1e-4. The norm of a gradient is at most 1. The first 90 % of the text are for
training. The rest is cut into the halves of data=tinyshakespeare. Nothing is chosen, and the last weights are scored.

A score counts every character of a half but the first, once. `bits_per_character` reads windows that overlap by half:
at least 32 characters are known before each that counts, except at the start. `bits_per_character_windows` reads
windows in sequence, each without the text before it. The computation has one thread, and the minutes are those of the
training alone.
"""

import argparse
import math
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from rows import command, committed, merge
from torch import Tensor, nn

from zoo.run.report import git_commit

LAYERS, HEADS, WIDTH, WINDOW, BATCH = 4, 4, 128, 64, 12
STEPS, WARMUP, HIGHEST, LOWEST = 2000, 100, 1e-3, 1e-4


class Layer(nn.Module):
    """Causal self-attention and a feed-forward net with GELU, both after a norm and beside a path around them."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH, bias=False), nn.LayerNorm(WIDTH, bias=False)
        self.project = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.merge = nn.Linear(WIDTH, WIDTH, bias=False)
        self.widen = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.narrow = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        q, k, v = (
            self.project(self.first(x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        )  # (B, H, T, D/H) each
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.merge(attended.transpose(1, 2).flatten(2))
        return x + self.narrow(F.gelu(self.widen(self.second(x))))


class Network(nn.Module):
    """A decoder with learned positions, whose output layer is the embedding."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.embedding, self.places = nn.Embedding(vocabulary, WIDTH), nn.Embedding(WINDOW, WIDTH)
        self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                last = name.endswith(("merge.weight", "narrow.weight"))
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * LAYERS) if last else 0.02)

    def forward(self, ids: Tensor) -> Tensor:
        """(B, T) ids -> (B, T, V) scores of the next characters."""
        x = self.embedding(ids) + self.places.weight[: ids.shape[1]]
        return F.linear(self.norm(self.layers(x)), self.embedding.weight)


def rate(step: int) -> float:
    """The learning rate of a step, counted from 0."""
    if step < WARMUP:
        return HIGHEST * (step + 1) / (WARMUP + 1)
    share = (step - WARMUP) / (STEPS - WARMUP)
    return LOWEST + 0.5 * (1 + math.cos(math.pi * share)) * (HIGHEST - LOWEST)


def train(network: Network, ids: Tensor) -> None:
    """All steps of the recipe."""
    matrices = [parameter for parameter in network.parameters() if parameter.dim() > 1]
    gains = [parameter for parameter in network.parameters() if parameter.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": gains, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.99), fused=True)
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        begins = torch.randint(len(ids) - WINDOW, (BATCH, 1))
        windows = ids[begins + torch.arange(WINDOW + 1)]
        loss = F.cross_entropy(network(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()


@torch.inference_mode()
def bits(network: Network, ids: Tensor, stride: int) -> float:
    """Bits per character of a text, read in windows that begin every `stride` characters."""
    total, counted = 0.0, 0
    for begin in range(0, len(ids) - 1, stride):
        window = ids[begin : begin + WINDOW + 1]
        fresh = counted - begin  # The characters before it have counted in the window before
        logits = network(window[None, :-1])[0, fresh:]
        total += F.cross_entropy(logits.double(), window[1 + fresh :], reduction="sum").item()
        counted = begin + len(window) - 1
        if counted == len(ids) - 1:
            break
    return total / counted / math.log(2)


def main() -> None:
    """Reads the command line, trains, prints and writes rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("seed", nargs="?", default="seed=1")
    options = parser.parse_args()
    seed = options.seed.removeprefix("seed=")
    commit = committed(git_commit(), "not written")
    torch.set_num_threads(1)
    torch.manual_seed(int(seed))
    text = options.text.read_text("utf-8")
    letters = sorted(set(text))
    ids = torch.tensor([letters.index(letter) for letter in text])
    first, second = int(0.9 * len(ids)), int(0.95 * len(ids))
    network = Network(len(letters))
    began = time.perf_counter()
    train(network, ids[:first])
    found = {"parameters": str(sum(parameter.numel() for parameter in network.parameters()))}
    found["minutes"] = f"{(time.perf_counter() - began) / 60:.1f}"
    for split, half in {"": ids[second:], "val_": ids[first:second]}.items():
        found[f"{split}bits_per_character"] = f"{bits(network, half, WINDOW // 2):.4f}"
        found[f"{split}bits_per_character_windows"] = f"{bits(network, half, WINDOW):.4f}"
    print(found)
    words = [options.file.as_posix(), "PATH", options.seed]
    row = {
        "model": "nanoGPT's recipe",
        "data": "tinyshakespeare",
        "source": options.text.name,
        "paper": "",
        "seed": seed,
        "command": command("python results/tinyshakespeare.py", words),
        "commit": commit,
    }
    merge(options.file, [row | {"metric": metric, "ours": value} for metric, value in found.items()])


if __name__ == "__main__":
    main()
