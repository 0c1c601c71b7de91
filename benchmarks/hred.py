"""HRED's whole training step, relative to its unavoidable library kernels. Run: python -m benchmarks.hred

The sizes of `conf/experiment/hred_ubuntu.yaml`, which are those of the authors' code, but with 10,000 words: E 300, H
500, C 1000, L 300; 80 dialogues of 3 to 10 turns of 10 to 30 words, and a reply to each turn. Step: forward, loss,
backward; no optimiser. Floor: embedding, torch's GRUs over the words of all turns, over turns and over the words of all
replies (the decoder's reads the words alone), packed or padded, whichever is faster; the products of the context, of
the output and of the vocabulary, and the cross-entropy.

Attention: 10 of these dialogues. Its floor is the same with packed GRUs, and step by step, in the replies that have a
word there, the sum of a query and the keys, tanh, the product with v, the softmax and the mean: of words, and then of
turns.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence

from benchmarks.timing import over_batches, paired, ratio
from zoo.data.dialogues.batch import DialogueBatch, DialogueSpec
from zoo.layers.packing import Packing
from zoo.models.hred import HRED
from zoo.objectives import CrossEntropy

DIALOGUES, ATTENDED, TURNS, WORDS, VOCABULARY = 80, 10, (3, 10), (10, 30), 10_000
EMBEDDING, HIDDEN, CONTEXT, OUTPUT, ATTENTION = 300, 500, 1000, 300, 300
SPEC = DialogueSpec(vocabulary_size=VOCABULARY, longest_source=TURNS[1] * WORDS[1], longest_target=WORDS[1])
RATIOS = {
    "step_by_floor": ("step", "floor"),
    "attention_by_floor": ("attention", "attention_floor"),
    "attention_by_step": ("attention", "without_attention"),
}
Attention = Literal["none", "hierarchical"]


def batch_of(seed: int, dialogues: int) -> DialogueBatch:
    """Random words. The last turn of a dialogue is a reply alone."""
    draw = torch.Generator().manual_seed(seed)
    turns = torch.randint(TURNS[0], TURNS[1] + 1, (dialogues, 1), generator=draw)
    turns[0] = TURNS[1]
    lengths = torch.randint(WORDS[0], WORDS[1] + 1, (dialogues, TURNS[1]), generator=draw)
    lengths[0] = WORDS[1]
    lengths = lengths.masked_fill(torch.arange(TURNS[1]) >= turns, 0)
    mask = torch.arange(WORDS[1]) < lengths[..., None]
    words = torch.randint(4, VOCABULARY, mask.shape, generator=draw).masked_fill(~mask, 0)
    dialogue, turn = (lengths[:, 1:] > 0).nonzero(as_tuple=True)
    read = mask[:, :-1] & (torch.arange(TURNS[1] - 1) < turns - 1)[..., None]
    return DialogueBatch(
        turns=words[:, :-1].masked_fill(~read, 0),
        word_mask=read,
        dialogue=dialogue,
        turn=turn + 1,
        target=words[dialogue, turn + 1],
        target_mask=mask[dialogue, turn + 1],
        index=torch.arange(len(turn)),
    )


def whole_step(batch: DialogueBatch, attention: Attention = "none") -> Callable[[], None]:
    """The zoo's step."""
    model = HRED(
        SPEC,
        embedding_dim=EMBEDDING,
        hidden_dim=HIDDEN,
        context_dim=CONTEXT,
        output_dim=OUTPUT,
        bidirectional=False,
        attention=attention,
        attention_dim=ATTENTION,
    )
    objective = CrossEntropy()

    def step() -> None:
        model.zero_grad(set_to_none=True)
        term = objective(model, batch, spec=SPEC, step=0, need_weights=False).terms[0]
        (term.total / term.count).backward()

    return step


def packed(gru: nn.GRU, x: Tensor, packing: Packing, first: Tensor | None = None) -> Tensor:
    """The states (N, ...) at packed positions x (N, ...)."""
    found: Tensor = gru(PackedSequence(x, torch.tensor(packing.batch_sizes)), first)[0].data
    return found


def padded(gru: nn.GRU, x: Tensor, packing: Packing, first: Tensor | None = None) -> Tensor:
    """As `packed`, on the grid of all rows that are not empty, longest first and time first."""
    rows, steps = len(packing.order), len(packing.batch_sizes)
    sizes = torch.tensor(packing.batch_sizes)
    cell = (torch.arange(rows) < sizes[:, None]).flatten().nonzero().squeeze(1)
    grid = x.new_zeros(steps * rows, x.shape[1]).index_copy(0, cell, x).view(steps, rows, -1)
    return gru(grid, first)[0].flatten(0, 1).index_select(0, cell)


def floor_step(
    batch: DialogueBatch, run: Callable[..., Tensor] = packed, attention: Attention = "none"
) -> Callable[[], None]:
    """The library calls, with GRUs that `run` packed or padded."""
    assert batch.target is not None and batch.target_packing is not None
    words, turns, replies = batch.word_packing, batch.turn_packing, batch.target_packing
    embedding, encoder = nn.Embedding(VOCABULARY, EMBEDDING), nn.GRU(EMBEDDING, HIDDEN)
    context, decoder = nn.GRU(HIDDEN, CONTEXT), nn.GRU(EMBEDDING, HIDDEN)
    start, gates = nn.Linear(CONTEXT, HIDDEN), nn.Linear(CONTEXT, 3 * HIDDEN)
    of_hidden, of_token, of_context = (nn.Linear(width, OUTPUT) for width in (HIDDEN, EMBEDDING, CONTEXT))
    vocabulary = nn.Linear(OUTPUT, VOCABULARY)
    modules = [embedding, encoder, context, decoder, start, gates, of_hidden, of_token, of_context, vocabulary]
    parameters = [parameter for module in modules for parameter in module.parameters()]
    ids, read = words.pack(batch.turns), replies.pack(batch.forced.read)
    truth = replies.pack(batch.target)
    rank, place = (torch.zeros(batch.turn_mask.numel(), dtype=torch.long) for _ in range(2))
    rank[words.order] = torch.arange(len(words.order))
    place[turns.cell] = torch.arange(len(turns.cell))
    last = place[batch.dialogue * batch.turn_mask.shape[1] + batch.turn - 1]
    attend = attended(batch) if attention == "hierarchical" else None

    def step() -> None:
        for parameter in parameters:
            parameter.grad = None
        h = run(encoder, embedding(ids), words)
        s = run(context, h.index_select(0, words.last[rank[turns.cell]]), turns)
        before = s.index_select(0, last)
        y, first = embedding(read), start(before).tanh().index_select(0, replies.order)[None]
        d = run(decoder, y, replies, first)
        o = of_hidden(d) + of_token(y) + of_context(before).index_select(0, replies.row)
        loss = F.cross_entropy(vocabulary(o), truth) + gates(before).mean()
        (loss if attend is None else loss + attend(h, s)).backward()

    return step


def attended(batch: DialogueBatch) -> Callable[[Tensor, Tensor], Tensor]:
    """The sums, softmaxes and means of the attention, from the states of words and of turns. Queries are given."""
    assert batch.target_packing is not None
    keys, of_turn, read = nn.Linear(HIDDEN, ATTENTION), nn.Linear(CONTEXT, ATTENTION), nn.Linear(HIDDEN, ATTENTION)
    v, w = (nn.Parameter(torch.randn(ATTENTION) / 20) for _ in range(2))
    parameters = [v, w, *keys.parameters(), *of_turn.parameters(), *read.parameters()]
    packing = batch.target_packing
    queries = torch.randn(len(packing.cell), ATTENTION)
    rows = batch.dialogue.index_select(0, packing.order)

    def attend(of_words: Tensor, of_turns: Tensor) -> Tensor:
        for parameter in parameters:
            parameter.grad = None
        memory, k = (batch.word_packing.unpack(part)[rows] for part in (of_words, keys(of_words)))  # (B, M, W, ...)
        g = batch.turn_packing.unpack(of_turn(of_turns))[rows]
        found = []
        for q in queries.split(packing.batch_sizes):
            n = len(q)
            a = ((k[:n] + q[:, None, None]).tanh() @ v).softmax(-1)
            r = (a[:, :, None] @ memory[:n])[:, :, 0]  # (B, M, H)
            b = ((g[:n] + read(r) + q[:, None]).tanh() @ w).softmax(-1)
            found.append((b[:, None] @ r)[:, 0])
        return torch.cat(found).mean()

    return attend


def measured(seed: int, rounds: int) -> dict[str, Any]:
    """The ratios of one batch."""
    torch.manual_seed(seed)
    batch, few = batch_of(seed, DIALOGUES), batch_of(seed, ATTENDED)
    how: dict[str, Any] = {"rounds": rounds, "warmup": 1, "clock": time.process_time}
    both = {"packed": floor_step(batch, packed), "padded": floor_step(batch, padded)}
    seconds = paired({"step": whole_step(batch), **both}, **how)
    seconds["floor"] = min((seconds[name] for name in both), key=statistics.median)
    seconds |= paired(
        {
            "attention": whole_step(few, "hierarchical"),
            "attention_floor": floor_step(few, attention="hierarchical"),
            "without_attention": whole_step(few),
        },
        **how,
    )
    found: dict[str, Any] = {key: ratio(seconds, *names) for key, names in RATIOS.items()}
    found["replies"] = {"step": len(batch.turn), "attention": len(few.turn)}
    found["milliseconds"] = {key: round(1000 * statistics.median(times)) for key, times in seconds.items()}
    return found


if __name__ == "__main__":
    over_batches("hred", __doc__ or "", measured, RATIOS, rounds=5, threads=1, examples="dialogues")
