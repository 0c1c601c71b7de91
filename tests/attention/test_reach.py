"""Tokens that a layer of a decoder sees: which ones, how many, and never later ones."""

import pytest
import torch

from tests.contract import equal
from zoo.attention import MultiHeadAttention
from zoo.attention.reach import Compressed, Full, Local

D, H = 8, 2
REACHES = {"full": Full, "local": lambda: Local(4), "compressed": lambda: Compressed(D, 3)}
BY_REACH = pytest.mark.parametrize("reach", REACHES)
LENGTHS = pytest.mark.parametrize("length", [1, 2, 3, 11, 12, 13])


def built(name):
    torch.manual_seed(0)
    return MultiHeadAttention(D, H).double(), REACHES[name]().double()


def test_blocks_seen_by_the_first_queries():
    reach = Compressed(D, 3)
    seen = reach.continued(reach.slots(4, torch.device("cpu")), torch.arange(7)[:, None])
    assert seen[:, 0].all(), "the empty slot is always seen"
    assert seen[:, 1:].sum(1).tolist() == [0, 0, 1, 1, 1, 2, 2]


@pytest.mark.parametrize(("reach", "pairs"), [("local", 1_475_390), ("compressed", 22_039_750)])
def test_pairs_of_a_query_and_a_key(reach, pairs):
    """At the paper's 11,500 tokens and blocks of 256, of 66,130,750 pairs of full attention."""
    made = {"local": Local(256), "compressed": Compressed(D, 3)}[reach]
    count = 11_500
    slots = made.slots(1 + count // 3 if reach == "compressed" else count, torch.device("cpu"))
    found = 0
    for queries in torch.arange(count).split(500):
        seen = made.continued(slots, queries[:, None]) & (slots <= queries[:, None])
        found += int(seen.sum())
    assert found - count * (reach == "compressed") == pairs


@BY_REACH
@LENGTHS
def test_a_later_token_changes_no_output_before_it(reach, length):
    """Bit by bit, at any length, and it changes one at its place or after it."""
    attention, reach = built(reach)
    grid = torch.randn(2, length, 3 * D, dtype=torch.float64)
    with torch.no_grad():
        before = reach(attention, grid)
        for place in range(length):
            changed = grid.clone()
            changed[:, place:] = torch.randn_like(changed[:, place:])
            after = reach(attention, changed)
            assert torch.equal(after[:, :place], before[:, :place])
            assert length < 3 or not torch.equal(after[:, place:], before[:, place:])


@BY_REACH
@LENGTHS
def test_padding_and_other_texts_change_nothing(reach, length):
    attention, reach = built(reach)
    grid = torch.randn(3, length + 5, 3 * D, dtype=torch.float64)
    alone = reach(attention, grid[1:2, :length])
    equal(reach(attention, grid)[1:2, :length], alone)


def test_the_first_two_tokens_see_the_empty_slot_alone():
    attention, reach = built("compressed")
    found = reach(attention, torch.randn(1, 4, 3 * D, dtype=torch.float64))
    assert not found[:, :2].any() and found[:, 2:].all()
