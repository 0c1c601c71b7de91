"""The training step of las with the listener of the paper. Run: python -m benchmarks.las

16 utterances of 300 to 600 frames of 40 mel bands, 600 the longest, and 40 to 90 letters out of 30; 256 units per
direction, 3 pyramids, a speller of 2 layers of 512, attention 512. Step: forward, loss, backward, without and with
location-aware attention (10 filters of 101) and CTC. Floor: torch's bidirectional LSTM of each layer on the joined
states of the one below, in the faster of two forms, packed or padded; the keys; for each letter, in the rows that have
it, the two cells of the speller, the query, its products with the keys, the softmax and the context; for all letters at
once the readout, the vocabulary and the cross-entropy. `padded` is the same on the padded grid, with torch's LSTM over
padded rows and a loop over all letters of all rows, as in most public versions.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence

from benchmarks.timing import over_batches, paired, ratio
from zoo.data.audio.batch import AudioBatch, AudioSpec
from zoo.models.las import LAS
from zoo.objectives import CrossEntropy

UTTERANCES, LONGEST, BANDS, LETTERS, MOST = 16, 600, 40, 30, 90
WIDTH, PYRAMIDS, EMBEDDING, SPELLER, LAYERS, ATTENTION = 256, 3, 256, 512, 2, 512
SPEC = AudioSpec(features=BANDS, target_size=LETTERS, longest_target=MOST, hop=0.01)
RATIOS = {
    "step_by_floor": ("step", "floor"),
    "location_and_ctc_by_floor": ("location_and_ctc", "floor"),
    "padded_by_step": ("padded", "step"),
}


def batch_of(seed: int) -> AudioBatch:
    """Random frames and letters; long utterances have long transcripts."""
    draw = torch.Generator().manual_seed(seed)
    share = torch.rand(UTTERANCES, generator=draw)
    share[0] = 1
    frames = (LONGEST * (1 + share) / 2).long()
    letters = (40 + (MOST - 40) * share).long()
    mask = torch.arange(MOST) < letters[:, None]
    target = torch.randint(4, LETTERS, mask.shape, generator=draw).scatter(1, letters[:, None] - 1, SPEC.end)
    frame_mask = torch.arange(LONGEST) < frames[:, None]
    values = torch.randn(UTTERANCES, LONGEST, BANDS, generator=draw) * frame_mask[..., None]
    return AudioBatch(values, frame_mask, target=target.masked_fill(~mask, SPEC.padding), target_mask=mask)


def whole_step(batch: AudioBatch, **options: Any) -> Callable[[], None]:
    """The zoo's step."""
    sizes = {"embedding_dim": EMBEDDING, "decoder_dim": SPELLER, "decoder_layers": LAYERS, "attention_dim": ATTENTION}
    model = LAS(SPEC, hidden_dim=WIDTH, pyramids=PYRAMIDS, **sizes, **options)
    objective = CrossEntropy()

    def step() -> None:
        model.zero_grad(set_to_none=True)
        found = objective(model, batch, spec=SPEC, step=0, need_weights=False)
        term = found.terms[0]
        loss = term.total / term.count + sum(found.output.losses.values(), torch.zeros(()))
        loss.backward()

    return step


class Parts(nn.Module):
    """The layers of the network, made of torch's."""

    def __init__(self) -> None:
        super().__init__()
        inputs = [BANDS, *[4 * WIDTH] * PYRAMIDS]
        self.listener = nn.ModuleList(nn.LSTM(size, WIDTH, bidirectional=True, batch_first=True) for size in inputs)
        self.embedding = nn.Embedding(LETTERS, EMBEDDING)
        sizes = [EMBEDDING + 2 * WIDTH, SPELLER]
        self.cells = nn.ModuleList(nn.LSTMCell(size, SPELLER) for size in sizes)
        self.query, self.key = nn.Linear(SPELLER, ATTENTION), nn.Linear(2 * WIDTH, ATTENTION)
        self.readout = nn.Linear(SPELLER + 2 * WIDTH, SPELLER)
        self.vocabulary = nn.Linear(SPELLER, LETTERS)

    def spell(self, h: Tensor, mask: Tensor, read: list[Tensor]) -> list[Tensor]:
        """[s; c] of each letter, whose rows are the first ones of h (R, U, D)."""
        keys, state = self.key(h).tanh(), [(h.new_zeros(len(h), SPELLER),) * 2] * LAYERS
        c, found = h.new_zeros(len(h), 2 * WIDTH), []
        for y in read:
            rows = len(y)
            x = torch.cat([y, c[:rows]], 1)
            for number, cell in enumerate(self.cells):
                state[number] = cell(x, tuple(part[:rows] for part in state[number]))
                x = state[number][0]
            energies = torch.bmm(keys[:rows], self.query(x).tanh()[:, :, None])[:, :, 0]
            a = energies.masked_fill(~mask[:rows], -torch.inf).softmax(1)
            c = torch.bmm(a[:, None], h[:rows])[:, 0]
            found.append(torch.cat([x, c], 1))
        return found

    def loss(self, found: Tensor, truth: Tensor) -> Tensor:
        """The mean cross-entropy of (N, n + D)."""
        return F.cross_entropy(self.vocabulary(self.readout(found).tanh()), truth, ignore_index=SPEC.padding)


def lengths_of(batch: AudioBatch) -> list[Tensor]:
    """The lengths of the rows in each layer, the longest first."""
    found = [batch.frame_mask.sum(1).sort(descending=True).values]
    for _ in range(PYRAMIDS):
        found.append((found[-1] + 1) // 2)
    return found


def floor_step(batch: AudioBatch, packed: bool) -> Callable[[], None]:
    """The library calls. Every layer of the listener reads random states of the right lengths."""
    assert batch.target is not None and batch.target_packing is not None
    parts, lengths, packing = Parts(), lengths_of(batch), batch.target_packing
    longest = [int(length.max()) for length in lengths]
    inputs = [torch.randn(UTTERANCES, longest[0], BANDS)]
    inputs += [torch.randn(UTTERANCES, most, 4 * WIDTH, requires_grad=True) for most in longest[1:]]
    mask = torch.arange(longest[-1]) < lengths[-1][:, None]
    read, truth = packing.pack(batch.forced.read), packing.pack(batch.target)

    def step() -> None:
        parts.zero_grad(set_to_none=True)
        total = torch.zeros(())
        for number, (layer, x, length) in enumerate(zip(parts.listener, inputs, lengths, strict=True)):
            x.grad = None
            if not packed:
                h = layer(x)[0]
            elif number < PYRAMIDS:
                h = layer(pack_padded_sequence(x, length, batch_first=True))[0].data
            else:
                h = nn.utils.rnn.pad_packed_sequence(
                    layer(pack_padded_sequence(x, length, batch_first=True))[0], batch_first=True
                )[0]
            total = total + h.mean() if number < PYRAMIDS else total
        found = parts.spell(h, mask, list(parts.embedding(read).split(packing.batch_sizes)))
        (parts.loss(torch.cat(found), truth) + total).backward()

    return step


def padded_step(batch: AudioBatch) -> Callable[[], None]:
    """The network on the padded grid."""
    parts, length = Parts(), lengths_of(batch)[-1]
    mask = torch.arange(int(length.max())) < length[:, None]

    def step() -> None:
        parts.zero_grad(set_to_none=True)
        h = parts.listener[0](batch.frames)[0]
        for layer in list(parts.listener)[1:]:
            h = F.pad(h, (0, 0, 0, h.shape[1] % 2))
            h = layer(h.reshape(UTTERANCES, -1, 4 * WIDTH))[0]
        found = parts.spell(h, mask, list(parts.embedding(batch.forced.read).unbind(1)))
        assert batch.target is not None
        parts.loss(torch.cat(found), batch.target.T.flatten()).backward()

    return step


def measured(seed: int, rounds: int) -> dict[str, Any]:
    """The ratios of one batch."""
    torch.manual_seed(seed)
    batch = batch_of(seed)
    steps = {
        "step": whole_step(batch),
        "location_and_ctc": whole_step(batch, location=[10, 101], ctc=0.5),
        "packed_floor": floor_step(batch, True),
        "padded_floor": floor_step(batch, False),
        "padded": padded_step(batch),
    }
    seconds = paired(steps, rounds=rounds, warmup=1, clock=time.process_time)
    forms = [seconds.pop(name) for name in ("packed_floor", "padded_floor")]
    seconds["floor"] = min(forms, key=statistics.median)
    found: dict[str, Any] = {key: ratio(seconds, *names) for key, names in RATIOS.items()}
    found["milliseconds"] = {key: round(1000 * statistics.median(times)) for key, times in seconds.items()}
    return found


if __name__ == "__main__":
    over_batches("las", __doc__ or "", measured, RATIOS, rounds=5, threads=1, examples="utterances")
