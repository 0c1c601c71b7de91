"""Networks that choose what can be attended, name by name; the error where an attention does not fit its mask; unknown
words that are replaced by the source word with the most attention."""

import pytest
import torch

from tests.decoding.toys import SPEC, Table, batch_of, literal_score
from zoo.decoding import BeamSearch, Greedy, Hypothesis, Sampling, replace_unknown
from zoo.decoding.constraint import Constrained
from zoo.errors import ConfigError
from zoo.layers.state import MemoryPositions, State

BATCH = batch_of(4, 7, 1)
WAYS = [Greedy(), BeamSearch(beam_size=3), Sampling(samples=2)]


def halves(mask):
    """(B, S) -> (B, S / 2, rounded up): positions two by two."""
    return torch.nn.functional.pad(mask, (0, mask.shape[1] % 2)).view(len(mask), -1, 2).any(2)


class Pyramid(Table):
    """Attends to positions two by two."""

    def __init__(self, *, says: bool = True, content: bool = False) -> None:
        super().__init__()
        self.says, self.content = says, content

    def start(self, batch):
        state, mask = super().start(batch), halves(batch.source_mask)
        content = mask & (torch.arange(mask.shape[1]) > 0) if self.content else None
        memories = {"source": MemoryPositions.of(mask, content=content)} if self.says else {}
        return State(state.memory | {"mask": mask}, state.hypotheses, memories)


class Wide(Table):
    """Attends to each position, and once more to each."""

    def step(self, tokens, state):
        step = super().step(tokens, state)
        return step._replace(attention={name: one.repeat_interleave(2, -1) / 2 for name, one in step.attention.items()})


class WordsAndTurns(Table):
    """Attends to the words of the batch, and equally to turns of two words."""

    def __init__(self, *, says: bool = True) -> None:
        super().__init__()
        self.says = says

    def start(self, batch):
        state, turns = super().start(batch), halves(batch.source_mask)
        memories = {"turn": MemoryPositions.of(turns)} if self.says else {}
        return State(state.memory | {"turns": turns}, state.hypotheses, memories)

    def step(self, tokens, state):
        step, turns = super().step(tokens, state), state.memory["turns"][:, None].double()
        weights = (turns / turns.sum(2, keepdim=True)).expand(-1, tokens.shape[1], -1)
        return step._replace(attention=step.attention | {"turn": weights})


@pytest.mark.parametrize("way", WAYS, ids=lambda way: type(way).__name__)
def test_a_width_that_does_not_fit_its_mask_is_an_error(way):
    """Beam search cut the columns silently, so that rows summed to 0.5, and greedy search ended in an IndexError."""
    with pytest.raises(ConfigError, match=r"attention source\.0: its weights have 4 columns, batch.memory_mask has 7"):
        way(Pyramid(says=False), BATCH, SPEC)
    with pytest.raises(ConfigError, match=r"attention source\.0: its weights have 14 columns, batch.memory_mask has 7"):
        way(Wide(), BATCH, SPEC)
    with pytest.raises(ConfigError, match=r"attention turn: its weights have 4 columns, batch.memory_mask has 7"):
        way(WordsAndTurns(says=False), BATCH, SPEC)


def test_the_error_names_the_mask_that_the_network_gave():
    class Wider(Pyramid):
        def start(self, batch):
            state = super().start(batch)
            return State(state.memory, state.hypotheses, {"source": MemoryPositions.of(batch.source_mask)})

    with pytest.raises(ConfigError, match=r"4 columns, the mask of memories\['source'\] has 7"):
        Greedy()(Wider(), BATCH, SPEC)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: type(way).__name__)
def test_a_shortened_memory_has_its_own_columns(way):
    for hypotheses, length in zip(way(Pyramid(), BATCH, SPEC), (2, 4, 1), strict=True):
        for hypothesis in hypotheses:
            assert set(hypothesis.attention) == {"source.0", "source.1"}
            for weights in hypothesis.attention.values():
                assert weights.shape == (len(hypothesis.ids), length)
                torch.testing.assert_close(weights.sum(1), torch.ones(len(weights), dtype=torch.float64))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: type(way).__name__)
def test_each_attention_has_a_width_of_its_own(way):
    for hypotheses, words in zip(way(WordsAndTurns(), BATCH, SPEC), (4, 7, 1), strict=True):
        for hypothesis in hypotheses:
            turns = (words + 1) // 2
            widths = {name: weights.shape[1] for name, weights in hypothesis.attention.items()}
            assert widths == {"source.0": words, "source.1": words, "turn": turns}
            assert (hypothesis.attention["turn"] == 1 / turns).all()
            assert hypothesis.alignment is not None and hypothesis.alignment.shape[1] == words


def test_lengths_are_relative_to_the_shortened_memory():
    longest = {"min_length": (9.0, 0.0), "max_length": (2.0, 1.0)}  # the maximum holds
    for way in (Greedy(**longest), BeamSearch(beam_size=2, **longest)):
        assert [len(best.ids) for best, *_ in way(Pyramid(), BATCH, SPEC)] == [5, 9, 3]
        assert [len(best.ids) for best, *_ in way(WordsAndTurns(), BATCH, SPEC)] == [9, 15, 3]


def test_coverage_is_that_of_the_shortened_memory():
    """The score of each hypothesis, from the weights of its own steps; the first position has no content."""
    search = BeamSearch(beam_size=3, nbest=3, coverage_penalty=0.7, length_penalty=0.4)
    for hypotheses in search(Pyramid(content=True), BATCH, SPEC):
        for found in hypotheses:
            rows = (0.5 * (found.attention["source.0"] + found.attention["source.1"])).tolist()
            counted = [[*row[1:], 0.0] for row in rows]  # `literal_score` leaves out the last column
            shares = [found.log_prob, *[0.0] * (len(rows) - 1)]
            expected = literal_score(shares, counted, length_penalty=0.4, coverage_penalty=0.7)
            assert found.score == pytest.approx(expected, rel=1e-12)


def test_no_word_of_the_source_belongs_to_a_position_that_the_network_chose():
    (best,), *_ = Greedy()(Pyramid(), BATCH, SPEC)
    assert best.alignment is None
    with pytest.raises(ConfigError, match="no attention on the words of the source"):
        replace_unknown(["?"] * len(best.ids), best, ["a"], unknown=best.ids[0])


def test_a_constraint_passes_on_what_the_network_chose():
    class Everything:
        def memory(self, batch):
            return {"count": batch.index}

        def begin(self, memory):
            return {"read": memory["count"][:, None]}

        def read(self, tokens, memory, written):
            return {"read": tokens}

        def allowed(self, memory, written):
            return torch.ones(*written["read"].shape, SPEC.target_size, dtype=torch.bool)

    own = Greedy()(Pyramid(), BATCH, SPEC)
    for (free,), (bound,) in zip(own, Greedy()(Constrained(Pyramid(), Everything()), BATCH, SPEC), strict=True):
        assert free.ids == bound.ids
        torch.testing.assert_close(free.attention["source.0"], bound.attention["source.0"])


SOURCE = ["Anna", "sieht", "Berlin"]
ONE = torch.tensor([[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.0, 0.2, 0.3, 0.5], [0.0, 0.0, 0.1, 0.9]])
OTHER = torch.tensor([[0.0, 0.9, 0.1, 0.0], [0.1, 0.6, 0.2, 0.1], [0.4, 0.1, 0.3, 0.2], [0.0, 0.0, 0.1, 0.9]])
EVEN = torch.full((4, 4), 0.25)
TWO = {"source.0": ONE, "source.1": OTHER}
"""The means over both layers are .35, .5, .1 and .2, .15, .3 of the source words."""


@pytest.mark.parametrize(
    ("attention", "read", "options", "expected"),
    [
        ({"source": ONE}, SOURCE, {}, ["Anna", "b", "Berlin", "d"]),  # never the end mark
        (TWO, SOURCE, {}, ["sieht", "b", "Berlin", "d"]),
        ({"source": EVEN}, SOURCE, {}, ["Anna", "b", "Anna", "d"]),  # of equal ones the first
        ({"source": ONE}, SOURCE, {"dictionary": {"Anna": "Ann", "x": "y"}}, ["Ann", "b", "Berlin", "d"]),
        ({"source": ONE}, SOURCE, {"unknown": 9}, list("abcd")),
        ({}, SOURCE, {"unknown": 9}, list("abcd")),
        ({"source": ONE}, [], {}, list("abcd")),
    ],
)
def test_unknown_words_become_words_of_the_source(attention, read, options, expected):
    hypothesis = Hypothesis((1, 7, 1, 3), -1.0, -1.0, True, attention)
    assert replace_unknown(list("abcd"), hypothesis, read, **{"unknown": 1, **options}) == expected


@pytest.mark.parametrize(
    ("words", "read", "attention", "error", "message"),
    [
        ("abcd", SOURCE, {}, ConfigError, "attention"),
        ("abc", SOURCE, {"source": ONE}, ValueError, "3 words for 4 ids"),
        ("abcd", list("abcde"), {"source": ONE}, ValueError, "5 words were read"),
    ],
)
def test_words_or_attention_that_do_not_fit_are_an_error(words, read, attention, error, message):
    hypothesis = Hypothesis((1, 7, 1, 3), -1.0, -1.0, True, attention)
    with pytest.raises(error, match=message):
        replace_unknown(list(words), hypothesis, read, unknown=1)
