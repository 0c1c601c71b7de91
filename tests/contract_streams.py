"""Clauses for networks that predict a sequence without a source: a text from left to right, the pixels of an image."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tests.contract import EXACT, Case, equal, scores


def later_positions_are_not_read(case: Case) -> None:
    """Other content from a position on changes the scores there and leaves all before it alone."""
    batch, network = case.family.batch(1, empty=False), case.exact()
    before = scores(case, network, batch)
    for place in (1, 2):
        after = scores(case, network, case.family.changed_from(batch, place))
        assert torch.equal(after[:, :place], before[:, :place]), "a later position was read"
        assert (after[:, place] != before[:, place]).any(), "the position before was not read"


def windows_are_one_long_pass(case: Case) -> None:
    """Two windows score as the whole does if the second starts from the state that the first left."""
    batch, network = case.family.batch(1, empty=False), case.exact()
    whole = network(batch)
    expected = case.family.scores(whole, batch)
    for at in (1, 2):
        first, second = case.family.windows(batch, at)
        begun = network(first)
        rest = network(second, begun.carried)
        found = torch.cat([case.family.scores(begun, first), case.family.scores(rest, second)], 1)
        equal(found, expected[: len(batch)])
        for name, part in rest.carried.items():
            assert len(part) == len(batch), f"{name}: the state has no row for each row of the batch"
            torch.testing.assert_close(part, whole.carried[name], rtol=EXACT, atol=EXACT)


FOR_SEQUENCES: tuple[Callable[[Case], None], ...] = (later_positions_are_not_read,)
"""For networks that predict each position from those before it."""
FOR_STREAMS: tuple[Callable[[Case], None], ...] = (*FOR_SEQUENCES, windows_are_one_long_pass)
"""For networks with `carries = True`."""
