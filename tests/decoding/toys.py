"""Small networks that follow the protocol, batches for them, and slow searches written out from the definitions."""

import math

import torch
from torch import Tensor, nn

from tests.objectives.toy import Toy
from zoo.attention import masked_softmax
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.layers.state import State, Step

DOUBLE = torch.float64
SPEC = PairSpec(source_size=9, target_size=7, longest_source=6, longest_target=6)
"""Writable: unknown (1), end (3) and the words 4, 5, 6."""
WORDS = (1, 4, 5, 6)


def batch_of(*lengths: int, first: int = 0, width: int | None = None) -> PairBatch:
    """Sentences of these lengths, padded to `width`; sentence i is `first + i` to a Table."""
    mask = torch.arange(width or max(lengths)) < torch.tensor(lengths)[:, None]
    number = torch.arange(first, first + len(lengths))[:, None]
    ids = 4 + (number + torch.arange(mask.shape[1])) % 5
    batch = PairBatch(ids.masked_fill(~mask, SPEC.padding), mask, index=number[:, 0])
    return batch


def pick(batch: PairBatch, rows: list[int], width: int | None = None) -> PairBatch:
    """Some sentences of a batch in a given order, cut or padded to `width`."""
    width = width or int(batch.source_mask[rows].sum(1).max())
    source, mask = (
        nn.functional.pad(part, (0, width - part.shape[1]))[rows] for part in (batch.source, batch.source_mask)
    )
    return PairBatch(source, mask, index=batch.index[rows])


class Table:
    """Random trigram tables, one for each sentence: the same values in every batch, to the last bit."""

    def __init__(self, seed: int = 0, sentences: int = 8, end_bias: float = 0.0, sharpness: float = 1.5) -> None:
        generator = torch.Generator().manual_seed(seed)
        size = SPEC.target_size
        logits = sharpness * torch.randn(sentences, size, size, size, generator=generator, dtype=DOUBLE)
        logits[..., SPEC.end] += end_bias
        self.log_probs = logits.log_softmax(-1)  # [sentence, token before last, last token] -> (V,)
        self.looks = 2 * torch.randn(sentences, size, 12, generator=generator, dtype=DOUBLE)  # [sentence, last token]
        self.read: list[tuple[int, ...]] = []  # the shape of the tokens that each step read

    def start(self, batch: PairBatch) -> State:
        memory = {"sentence": batch.index, "mask": batch.source_mask}
        return State(memory, {"last": torch.full((len(batch), 1), SPEC.padding)})

    def step(self, tokens: Tensor, state: State) -> Step:
        self.read.append(tuple(tokens.shape))
        sentence, mask = state.memory["sentence"][:, None], state.memory["mask"][:, None]
        looks = self.looks[sentence, tokens][..., : mask.shape[2]]
        heads = torch.stack([looks, -looks], 2)  # (B, K, 2, S)
        weights = {"source.0": masked_softmax(looks, mask), "source.1": masked_softmax(heads, mask[:, :, None])}
        after = State(state.memory, {"last": tokens})
        return Step(self.log_probs[sentence, state.hypotheses["last"], tokens], after, weights)

    def after(self, sentence: int, ids: tuple[int, ...]) -> list[float]:
        """The log-probabilities of what follows `ids`, looked up."""
        last = (SPEC.padding, SPEC.begin, *ids)[-2:]
        return self.log_probs[sentence][last].tolist()

    def looked(self, sentence: int, ids: tuple[int, ...], length: int) -> list[float]:
        """The attention, mean over layers and heads, of the step after `ids`."""
        looks = self.looks[sentence, (SPEC.begin, *ids)[-1], :length]
        return (0.75 * looks.softmax(0) + 0.25 * (-looks).softmax(0)).tolist()


def decoder(seed: int = 0) -> Toy:
    """A recurrent network with attention and large random weights."""
    network = Toy(SPEC, width=8, seed=seed)
    for parameter in network.parameters():
        nn.init.normal_(parameter, 0.0, 0.8)
    return network


def forced(network, batch, row, ids) -> tuple[list[float], dict[str, Tensor]]:
    """Log-probability of each of `ids` and the attention (T, S) at each, by reading them one after another."""
    alone = pick(batch, [row])
    state, token = network.start(alone), SPEC.begin
    log_probs, seen = [], []
    for id in ids:
        step, state_before = network.step(torch.tensor([[token]]), state), state
        assert state_before is not step.state
        state, token = step.state, id
        log_probs.append(float(step.log_probs[0, 0, id].detach()))
        seen.append({name: a.mean(2) if a.dim() == 4 else a for name, a in step.attention.items()})
    names = seen[0] if seen else ()
    return log_probs, {name: torch.cat([a[name][0].detach() for a in seen]) for name in names}


def assert_recomputable(network, batch, row, hypothesis) -> list[float]:
    """Log-probability, attention and alignment are those of reading the ids one by one; the log-probability of each."""
    log_probs, attention = forced(network, batch, row, hypothesis.ids)
    assert not {SPEC.padding, SPEC.begin} & set(hypothesis.ids)
    assert hypothesis.finished == (hypothesis.ids[-1] == SPEC.end) and SPEC.end not in hypothesis.ids[:-1]
    assert abs(hypothesis.log_prob - sum(log_probs)) < 1e-10
    torch.testing.assert_close(hypothesis.attention, attention, rtol=0, atol=1e-12)
    torch.testing.assert_close(hypothesis.alignment, sum(attention.values()) / len(attention))
    assert not any(weights.requires_grad for weights in hypothesis.attention.values())
    return log_probs


def every_sequence(network, batch, row, longest: int):
    """All sequences of writable tokens that end, of at most `longest` tokens: (ids, log-probabilities, attention with
    one row (S,) of its mean over layers and heads a token), each found by its own path of single steps."""

    def extend(ids, log_probs, rows, state):
        step = network.step(torch.tensor([[ids[-1] if ids else SPEC.begin]]), state)
        means = [(a.mean(2) if a.dim() == 4 else a)[0, 0] for a in step.attention.values()]
        rows = [*rows, torch.stack(means).mean(0).tolist()]
        after = step.log_probs[0, 0].tolist()
        yield (*ids, SPEC.end), [*log_probs, after[SPEC.end]], rows
        if len(ids) < longest - 1:
            for word in WORDS:
                yield from extend((*ids, word), [*log_probs, after[word]], rows, step.state)

    with torch.no_grad():
        yield from extend((), [], [], network.start(pick(batch, [row])))


def repeats(ids, n: int) -> bool:
    """Whether an n-gram comes twice."""
    grams = [tuple(ids[i : i + n]) for i in range(len(ids) - n + 1)]
    return len(grams) > len(set(grams))


def literal_score(
    log_probs: list[float],
    attention: list[list[float]],
    *,
    length_penalty=0.0,
    length_form="gnmt",
    coverage_penalty=0.0,
    length_reward=0.0,
) -> float:
    """The score as the papers write it, one sum at a time; the last column of `attention` is the end of the source."""
    length = len(log_probs)
    if length_form == "gnmt":
        lp = (5 + length) ** length_penalty / (5 + 1) ** length_penalty
    else:
        lp = length**length_penalty
    cp = 0.0
    if coverage_penalty:
        for i in range(len(attention[0]) - 1):
            cp += math.log(min(max(sum(row[i] for row in attention), 1e-10), 1.0))
    return sum(log_probs) / lp + coverage_penalty * cp + length_reward * length


def slow_beam(
    table: Table, batch: PairBatch, row: int, *, size: int, nbest: int, longest: int, stop_at: int = 0, **penalties
) -> list[tuple[float, tuple[int, ...]]]:
    """Beam search on one sentence, a candidate at a time, run to the longest length: (score, ids), best first.

    `stop_at` = n: the rule of many public decoders, which stop as soon as n hypotheses have ended.
    """
    sentence, length = int(batch.index[row]), int(batch.source_mask[row].sum())

    def score(ids, log_probs):
        covers = bool(penalties.get("coverage_penalty"))
        looked = [table.looked(sentence, ids[:t], length) for t in range(covers * len(ids))]
        return literal_score(log_probs, looked, **penalties)

    live, found = [((), [])], []
    for position in range(1, longest + 1):
        candidates = []
        for rank, (ids, log_probs) in enumerate(live):
            after = table.after(sentence, ids)
            for token in (1, 3, 4, 5, 6) if position < longest else (3,):
                candidates.append((-sum([*log_probs, after[token]]), rank, token, [*log_probs, after[token]]))
        candidates = [(*live[rank][0], token, lp) for _, rank, token, lp in sorted(candidates)[: 2 * size]]
        candidates = [(tuple(ids), lp) for *ids, lp in candidates]
        found += [(score(ids, lp), ids) for ids, lp in candidates[:size] if ids[-1] == SPEC.end]
        live = [(ids, lp) for ids, lp in candidates if ids[-1] != SPEC.end][:size]
        if stop_at and len(found) >= stop_at:
            break
    return sorted(found, key=lambda entry: -entry[0])[:nbest]
