"""The generated language: its probabilities are exact, and a verb's number needs its subject."""

import math
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest

from zoo.data.language.samples.grammar import END, GRAMMAR, RIVALS, WORDS, Grammar, Line, text

VOCABULARY = sorted({word for arcs in GRAMMAR.arcs_of for word in arcs})


def tokens_of(lines: list[Line], end: str = "<eos>") -> list[str]:
    return [word for line in lines for word in (*line.words, end)]


@pytest.fixture(scope="module")
def lines() -> list[Line]:
    return text(8000, seed=1)


def chance(tokens: list[str]) -> float:
    """The probability of a text as the sum over all paths of arcs and all sequences of themes."""
    total = 0.0
    sentences = "".join(f"{token} " for token in tokens).split("<eos> ")
    for themes in product(range(3), repeat=len(sentences)):
        likely = math.prod((1 / 3, *(0.9 if a == b else 0.05 for a, b in pairwise(themes))))
        for theme, sentence in zip(themes, sentences, strict=True):
            last = sentence is sentences[-1]
            words = [*sentence.split()] if last else [*sentence.split(), END]
            paths = [(0, 1.0)]
            for word in words:
                paths = [
                    (arc.goal, path * arc.probability * GRAMMAR.words(arc.slot)[word][theme])
                    for node, path in paths
                    for arc in GRAMMAR.nodes[node]
                    if word in GRAMMAR.words(arc.slot)
                ]
            likely *= sum(path for _, path in paths)
        total += likely
    return total


def test_the_surprisal_of_a_text_is_that_of_all_its_paths_and_themes_together() -> None:
    tokens = tokens_of(text(4, seed=3))
    assert GRAMMAR.surprisal(tokens, "<eos>").sum() == pytest.approx(-math.log(chance(tokens)), abs=1e-9)
    assert len({*map(chance, (["the", "gull"], ["the", "goose"]))}) == 1  # themes are equally probable at first


def test_the_probabilities_of_all_next_tokens_sum_to_1() -> None:
    for words in GRAMMAR.arcs_of:
        assert sum(likely for _, likely in words.values()) == pytest.approx(np.ones(3), abs=1e-12)
    tokens = tokens_of(text(3, seed=2))
    for at in range(len(tokens)):
        following = []
        for word in VOCABULARY:
            try:
                following.append(GRAMMAR.surprisal([*tokens[:at], "<eos>" if word == END else word], "<eos>")[-1])
            except ValueError:
                continue
        assert np.exp(-np.array(following)).sum() == pytest.approx(1, abs=1e-12)


def entropies(grammar: Grammar) -> tuple[np.ndarray, float]:
    """(Z,) nats of a line whose theme is known, and the mean number of its tokens, by expected visits of the nodes."""
    moves = np.zeros((len(grammar.nodes), len(grammar.nodes)))
    nats = np.zeros((len(grammar.nodes), len(grammar.themes)))
    for node, arcs in enumerate(grammar.nodes):
        for probability, slot, goal in arcs:
            moves[node, goal] += probability * (goal > 0)
            likely = probability * np.array([*grammar.words(slot).values()])
            nats[node] -= (likely * np.log(likely)).sum(0)
    begin = np.eye(len(moves))[0]
    visits = np.linalg.solve(np.eye(len(moves)) - moves.T, begin)
    return visits @ nats, visits.sum()


def test_the_mean_surprisal_is_the_entropy_rate() -> None:
    plain = Grammar(preference=1.0)  # Without preferences the words are a Markov chain of known entropy
    nats, length = entropies(plain)
    found = plain.surprisal(tokens_of(plain.text(4000, seed=1)), "<eos>")
    assert found.mean() == pytest.approx(nats[0] / length, abs=4 * found.std() / math.sqrt(len(found)))


def test_hidden_themes_cost_at_most_their_own_entropy(lines: list[Line]) -> None:
    nats, length = entropies(GRAMMAR)
    own = -(GRAMMAR.turns[0] * np.log(GRAMMAR.turns[0])).sum()
    found = GRAMMAR.surprisal(tokens_of(lines), "<eos>")
    error = 3 * found.std() / math.sqrt(len(found))
    assert nats.mean() / length - error < found.mean() < (nats.mean() + own) / length + error
    known = Grammar(stay=1 / 3).surprisal(tokens_of(lines), "<eos>")  # A reader who forgets the theme at each line
    assert found.mean() < known.mean() - 0.005


def test_a_verb_of_the_other_number_cannot_follow(lines: list[Line]) -> None:
    for line in lines[:300]:
        for position, distance in line.verbs:
            assert RIVALS[RIVALS[line.words[position]]] == line.words[position]
            before = line.words[:position]
            assert np.isfinite(GRAMMAR.surprisal([*before, line.words[position]], "<eos>")[-1])
            with pytest.raises(ValueError, match=f"token {position}, '{RIVALS[line.words[position]]}', cannot follow"):
                GRAMMAR.surprisal([*before, RIVALS[line.words[position]]], "<eos>")
            subject = line.words[position - distance]
            plural = subject in {"geese", "men", "women", "children", "mice"} or subject.endswith("s")
            assert plural != line.words[position].endswith("s")


def test_every_distance_is_frequent_and_beyond_4_words_a_5_gram_guesses(lines: list[Line]) -> None:
    """The 5-gram counts kinds and numbers instead of words, so that it has seen all contexts."""
    form = {
        one: f"{kind}{number}"
        for kind, themes in WORDS.items()
        for words in themes.values()
        for forms in words.split()
        for number, one in enumerate(forms.split("/"))
    }
    seen, right, count = Counter[tuple[str, ...]](), Counter[int](), Counter[int]()
    for number, line in enumerate(lines):
        kinds = tuple(form.get(word, word) for word in line.words)
        for at, distance in line.verbs:
            *context, verb = kinds[max(0, at - 4) : at + 1]
            if number < 7000:
                seen[*context, verb] += 1
            else:
                count[distance] += 1
                right[distance] += seen[*context, verb] > seen[*context, verb[:-1] + str(1 - int(verb[-1]))]
    assert sorted(count) == list(range(1, 13))
    assert min(count.values()) > 60  # of 1,000 lines, which are 14,500 tokens
    far = range(5, 13)
    assert sum(right[d] for d in far) / sum(count[d] for d in far) == pytest.approx(0.5, abs=0.05)
    assert right[1] == count[1]


def test_a_text_depends_on_its_seed_alone_and_a_longer_one_continues_it() -> None:
    assert text(20, seed=5)[:10] == text(10, seed=5) != text(10, seed=6)
