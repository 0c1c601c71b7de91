"""Show, attend and tell's training step against its floor and against a loop as tutorials write it, and its beam search
against loops. Run: python -m benchmarks.show_attend_tell

64 captions of 10 to 20 words, each of an image of its own with 14 x 14 features of 512 numbers; embedding and attention
512, LSTM 1000, vocabulary 9,000. Step: forward, cross-entropy, backward, clip of the gradient's norm, fused Adam.

Floor: forward and backward, written by hand into memory that is there beforehand, of what the equations ask for: the
keys' projection once; the tokens' part of the LSTM, and the vocabulary, on all real words at once; and step by step, of
the captions that still run, the query's product, the sum q + k, tanh, the product with u, the product of weights and
annotation vectors, and the LSTM cell's product. It has no softmax, no gate, no nonlinearity of the cell, nothing of h_0
and of s_t, no loss, clip and optimiser. `lean_floor` takes 2 sigmoid(2 x) - 1 for tanh, as we do, and keeps none of the
sums for the way back.

Beam 5 writes 20 words of 32 images. `loop` is beam search by `forward` alone, without state: at each step it runs over
all that each hypothesis has written. `straightforward` carries its state, and decodes one image after the other. All
must find the same before anything is timed.
"""

import argparse
import statistics
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from benchmarks.pairs import whole_step
from benchmarks.show_attend_tell_straightforward import Straightforward
from benchmarks.timing import paired, prepare, ratio, write
from zoo.data.images.batch import ImageBatch, ImageSpec
from zoo.decoding import BeamSearch, Greedy
from zoo.layers.loops.attention import TimeSteps
from zoo.models.show_attend_tell import ShowAttendTell

GRID, DEPTH, HIDDEN, ATTENTION, EMBEDDING, VOCABULARY = (14, 14), 512, 1000, 512, 512, 9_000
CAPTIONS, SHORTEST, LONGEST = 64, 10, 20
IMAGES, BEAM = 32, 5
SPEC = ImageSpec(DEPTH, *GRID, VOCABULARY, LONGEST, GRID, encoded=True)
ENCODER = {"_target_": "zoo.layers.images.small.SmallEncoder"}
LENGTHS: dict[str, Any] = {"min_length": (0, LONGEST), "max_length": (0, LONGEST)}


def image_batch(seed: int, count: int = CAPTIONS) -> ImageBatch:
    """Random features, as many of them 0 as a ReLU leaves, and random captions; the longest occurs."""
    generator = torch.Generator().manual_seed(seed)
    image = torch.randn(count, DEPTH, *GRID, generator=generator).relu()
    lengths = torch.randint(SHORTEST, LONGEST + 1, (count,), generator=generator)
    lengths[0] = LONGEST
    mask = torch.arange(LONGEST) < lengths[:, None]
    ids = torch.randint(4, VOCABULARY, mask.shape, generator=generator).masked_fill(~mask, SPEC.padding)
    return ImageBatch(image, GRID, target=ids.scatter(1, lengths[:, None] - 1, SPEC.end), target_mask=mask)


def network(dropout: float = 0.5) -> ShowAttendTell:
    """A batch of the benchmark's size, equal at every call."""
    torch.manual_seed(0)
    sizes = {"embedding_dim": EMBEDDING, "hidden_dim": HIDDEN, "attention_dim": ATTENTION}
    return ShowAttendTell(SPEC, encoder=ENCODER, dropout=dropout, **sizes)


# training


class Floor:
    """Forward and backward of the products, the sum and tanh; its numbers mean nothing."""

    def __init__(self, batch: ImageBatch, *, lean: bool) -> None:
        packing = batch.forced.packing
        self.steps, self.lean = TimeSteps.of(packing), lean
        n, places = len(packing.cell), GRID[0] * GRID[1]
        self.a = batch.image.flatten(2).transpose(1, 2).index_select(0, packing.order)  # (B, S, D)
        self.keys, self.d_keys = torch.empty(2, CAPTIONS, places, ATTENTION)
        self.inner = torch.empty(CAPTIONS if lean else n, places, ATTENTION)
        self.by_inner = self.inner if lean else torch.empty(CAPTIONS, places, ATTENTION)
        self.alpha, self.scores, self.d_scores = torch.rand(3, n, places)
        self.y, self.d_y, self.s, self.d_s = torch.randn(4, n, EMBEDDING)
        self.inputs, self.d_inputs = torch.randn(2, n, DEPTH + HIDDEN)
        self.queries, self.d_queries = torch.empty(2, n, ATTENTION)
        self.sums, self.d_sums = torch.randn(2, n, 4 * HIDDEN)
        self.logits, self.d_logits = torch.randn(2, n, VOCABULARY)
        self.of_key, self.of_query = torch.randn(ATTENTION, DEPTH), torch.randn(ATTENTION, HIDDEN)
        self.of_token, self.of_input = torch.randn(4 * HIDDEN, EMBEDDING), torch.randn(4 * HIDDEN, DEPTH + HIDDEN)
        self.of_word, self.v = torch.randn(VOCABULARY, EMBEDDING), torch.randn(ATTENTION)

    def __call__(self) -> None:
        """Forward, then backward."""
        self.forward()
        self.backward()

    def act(self, keys: Tensor, query: Tensor, out: Tensor) -> Tensor:
        """tanh(q + k), or with `lean` sigmoid(q + k), which is it but for factors of the weights."""
        total = torch.add(keys, query[:, None], out=out)
        return total.sigmoid_() if self.lean else total.tanh_()

    def forward(self) -> None:
        """Once, step by step, and once."""
        torch.mm(self.a.flatten(0, 1), self.of_key.T, out=self.keys.flatten(0, 1))
        torch.mm(self.y, self.of_token.T, out=self.sums)
        z, h = self.inputs.split([DEPTH, HIDDEN], 1)
        parts = z, h, self.inputs, self.queries, self.scores, self.alpha, self.sums
        begin = 0
        for z_t, h_t, inputs_t, q_t, scores_t, alpha_t, sums_t in self.steps.steps(*parts):
            size = len(z_t)
            torch.mm(h_t, self.of_query.T, out=q_t)
            inner = self.act(self.keys[:size], q_t, self._inner(begin, size))
            torch.mv(inner.flatten(0, 1), self.v, out=scores_t.view(-1))
            z_t.copy_(torch.bmm(alpha_t[:, None], self.a[:size])[:, 0])
            sums_t.addmm_(inputs_t, self.of_input.T)
            begin += size
        torch.mm(self.s, self.of_word.T, out=self.logits)

    def backward(self) -> None:
        """The products of the backward pass, by the inputs and by the weights."""
        d_word = self.d_logits.T @ self.s
        torch.mm(self.d_logits, self.of_word, out=self.d_s)
        d_v = torch.zeros_like(self.v)
        self.d_keys.zero_()
        d_z, d_h = self.d_inputs.split([DEPTH, HIDDEN], 1)
        parts = d_z, d_h, self.d_inputs, self.queries, self.d_queries, self.d_scores, self.d_sums
        end = len(self.y)
        for d_z_t, d_h_t, d_inputs_t, q_t, d_q_t, d_scores_t, d_sums_t in reversed(self.steps.steps(*parts)):
            size = len(d_z_t)
            torch.mm(d_sums_t, self.of_input, out=d_inputs_t)
            torch.bmm(d_z_t[:, None], self.a[:size].transpose(1, 2))
            inner = self._inner(end - size, size)
            if self.lean:
                inner = self.act(self.keys[:size], q_t, inner)
            d_v.addmv_(inner.flatten(0, 1).T, d_scores_t.reshape(-1))
            by_inner = self.by_inner[:size]
            slope = torch.ops.aten.sigmoid_backward if self.lean else torch.ops.aten.tanh_backward
            slope.grad_input(d_scores_t[..., None].expand_as(inner), inner, grad_input=by_inner)
            torch.sum(by_inner, 1, out=d_q_t)
            self.d_keys[:size].add_(by_inner)
            d_h_t.addmm_(d_q_t, self.of_query)
            end -= size
        d_of_input, d_of_query = self.d_sums.T @ self.inputs, self.d_queries.T @ self.inputs[:, DEPTH:]
        d_of_token, d_of_key = self.d_sums.T @ self.y, self.d_keys.flatten(0, 1).T @ self.a.flatten(0, 1)
        torch.mm(self.d_sums, self.of_token, out=self.d_y)
        self.gradients = d_word, d_v, d_of_input, d_of_query, d_of_token, d_of_key

    def _inner(self, begin: int, size: int) -> Tensor:
        return self.inner[:size] if self.lean else self.inner[begin : begin + size]


def sorted_captions(batch: ImageBatch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Annotation vectors, what is read, what is written, and how long it is, longest first."""
    assert batch.target is not None
    order = batch.forced.packing.order
    lengths = batch.forced.mask.sum(1)[order]
    return batch.image.flatten(2).transpose(1, 2)[order], batch.forced.read[order], batch.target[order], lengths


def straightforward_step(batch: ImageBatch) -> Callable[[], None]:
    """The training step as tutorials have it."""
    model = Straightforward(network())
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    vectors, read, target, lengths = sorted_captions(batch)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        scores = pack_padded_sequence(model(vectors, read, lengths), lengths, batch_first=True).data
        F.cross_entropy(scores, pack_padded_sequence(target, lengths, batch_first=True).data).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step


def the_same(batch: ImageBatch) -> None:
    """Raises AssertionError unless the straightforward network computes what ours does, loss and gradient."""
    ours, theirs = network(0.0), Straightforward(network(0.0))
    vectors, read, target, lengths = sorted_captions(batch)
    scores = pack_padded_sequence(theirs(vectors, read, lengths), lengths, batch_first=True).data
    logits = ours(batch).logits
    torch.testing.assert_close(scores, logits, rtol=1e-3, atol=1e-3)
    F.cross_entropy(logits, batch.true_tokens).backward()
    F.cross_entropy(scores, pack_padded_sequence(target, lengths, batch_first=True).data).backward()
    for one, other in ((ours.key, theirs.attention.encoder_att), (ours.vocabulary, theirs.fc)):
        torch.testing.assert_close(one.weight.grad, other.weight.grad, rtol=1e-2, atol=1e-5)


def training(rounds: int, batches: int) -> dict[str, Any]:
    """Ratios of the training step, the medians over the batches and each batch's quartiles."""
    ratios = {
        "step_by_floor": ("step", "floor"),
        "step_by_lean_floor": ("step", "lean_floor"),
        "step_by_straightforward": ("step", "straightforward"),
    }
    found = []
    for seed in range(batches):
        batch = image_batch(seed)
        steps = {
            "step": whole_step(network(), batch),
            "floor": Floor(batch, lean=False),
            "lean_floor": Floor(batch, lean=True),
            "straightforward": straightforward_step(batch),
        }
        seconds = paired(steps, rounds=rounds, warmup=2)
        one: dict[str, Any] = {key: ratio(seconds, *names) for key, names in ratios.items()}
        one["milliseconds"] = {key: round(1000 * statistics.median(times), 1) for key, times in seconds.items()}
        found.append(one)
        print(one, flush=True)
    middle = {key: statistics.median([one[key][1] for one in found]) for key in ratios}
    return {**middle, "batches": found}


# decoding


@torch.no_grad()
def by_forward(model: ShowAttendTell, batch: ImageBatch) -> tuple[list[tuple[int, ...]], Tensor]:
    """Beam search by `forward` alone: ids of the best hypotheses and their log-probabilities (B,)."""
    count = len(batch)
    flat = torch.arange(count).repeat_interleave(BEAM)
    ids = torch.zeros(count, BEAM, 0, dtype=torch.long)
    live = torch.full((count, BEAM), -torch.inf)
    live[:, 0] = 0.0
    for position in range(1, LONGEST + 1):
        written = torch.cat([ids, ids.new_full((count, BEAM, 1), SPEC.end)], 2).flatten(0, 1)
        mask = torch.ones_like(written, dtype=torch.bool)
        copies = ImageBatch(batch.image, GRID, target=written, target_mask=mask, picture=flat)
        logits = model(copies, need_weights=False).logits[-count * BEAM :]
        scores = logits.log_softmax(-1).view(count, BEAM, -1) + live[:, :, None]
        forbidden = torch.ones(VOCABULARY, dtype=torch.bool)
        forbidden[SPEC.end] = False
        if position < LONGEST:
            forbidden = ~forbidden
            forbidden[[SPEC.padding, SPEC.begin]] = True
        live, cells = scores.masked_fill(forbidden, -torch.inf).flatten(1).topk(BEAM)
        parents, tokens = cells // VOCABULARY, cells % VOCABULARY
        ids = torch.cat([ids.gather(1, parents[:, :, None].expand_as(ids)), tokens[:, :, None]], 2)
    return [tuple(row) for row in ids[:, 0].tolist()], live[:, 0]


def decoding(rounds: int) -> dict[str, Any]:
    """Ratios of the ways to decode. Raises AssertionError where they find something else."""
    model, batch = network().eval(), image_batch(0, IMAGES).each_image()
    plain = Straightforward(model).eval()
    vectors = batch.image.flatten(2).transpose(1, 2)
    beam, greedy = BeamSearch(beam_size=BEAM, **LENGTHS), Greedy(**LENGTHS)
    never = [SPEC.padding, SPEC.begin]

    def straightforward() -> tuple[list[tuple[int, ...]], Tensor]:
        found = [plain.caption(one, BEAM, SPEC.begin, SPEC.end, LONGEST, never) for one in vectors]
        return [tuple(ids) for ids, _ in found], torch.tensor([log_prob for _, log_prob in found])

    expected = [best for best, *_ in beam(model, batch, SPEC)]
    for ids, log_probs in (by_forward(model, batch), straightforward()):
        same = [best.ids == row for best, row in zip(expected, ids, strict=True)]
        assert sum(same) >= 0.9 * len(same)  # rounding may separate equally good ones
        torch.testing.assert_close(torch.tensor([best.log_prob for best in expected]), log_probs, rtol=1e-3, atol=1e-3)
    ways: dict[str, Callable[[], object]] = {
        "beam": lambda: beam(model, batch, SPEC),
        "greedy": lambda: greedy(model, batch, SPEC),
        "loop": lambda: by_forward(model, batch),
        "straightforward": straightforward,
    }
    seconds = paired(ways, rounds=max(2, rounds), warmup=1)
    result: dict[str, Any] = {
        "loop_by_beam": ratio(seconds, "loop", "beam"),
        "straightforward_by_beam": ratio(seconds, "straightforward", "beam"),
        "beam_by_greedy": ratio(seconds, "beam", "greedy"),
    }
    rates = {name: round(IMAGES / sorted(times)[len(times) // 2], 1) for name, times in seconds.items()}
    print(result, rates, flush=True)
    return {**result, "images_per_second": rates}


def main() -> None:
    """Measure both, print and write the ratios to results/show_attend_tell.json."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20, help="timed rounds of the training step per batch")
    parser.add_argument("--batches", type=int, default=3, help="batches of different captions")
    parser.add_argument("--decoding-rounds", type=int, default=5, help="timed rounds of decoding")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    environment = prepare(arguments.threads)
    the_same(image_batch(0))
    trained = training(arguments.rounds, arguments.batches)
    decoded = decoding(arguments.decoding_rounds)
    write("show_attend_tell", {"environment": environment, "rounds": arguments.rounds, **trained, "decoding": decoded})


if __name__ == "__main__":
    main()
