"""The additional contract of networks that may copy words of a source: a distribution over vocabulary and source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from tests.contract import Case, equal
from zoo.models.output import Output


def probabilities(case: Case, output: Output, batch: Any) -> Tensor:
    """(B, T, V + U) of the words at each target position, 0 at padding."""
    found = case.family.scores(output, batch).exp()
    return found * batch.forced.mask[..., None]


def renumbered(batch: Any, one: int, other: int) -> Any:
    """The batch whose unknown words `one` and `other` have changed their columns."""

    def swapped(ids: Tensor) -> Tensor:
        return torch.where(ids == one, other, torch.where(ids == other, one, ids))

    return replace(batch, extended=swapped(batch.extended), copied=swapped(batch.copied))


def writes_the_vocabulary_and_the_words_of_its_source(case: Case) -> None:
    """Probabilities sum to 1, and the columns of unknown words that a source lacks have none. A network that does not
    copy has no such columns."""
    batch, network, size = case.family.batch(1), case.exact(), case.family.spec.vocabulary_size
    output = network(batch)
    if not network.copies:
        assert output.truth is None
        assert output.logits.shape[1] == size
        return
    found = probabilities(case, output, batch)
    equal(found.sum(-1), batch.forced.mask.double())
    own = (batch.extended.masked_fill(~batch.source_mask, 0).amax(1) - size + 1).clamp(min=0)  # (B,) unknown words
    absent = torch.arange(found.shape[-1]) >= size + own[:, None]
    assert (found.masked_select(absent[:, None]) == 0).all()
    present = (torch.arange(found.shape[-1]) >= size) & ~absent
    assert (found.transpose(1, 2)[present][:, 0] > 0).all(), "a word of the source can be copied"
    assert output.truth is not None
    assert (output.truth >= size).any()


def a_word_gets_the_weights_of_all_its_places(case: Case) -> None:
    """If two unknown words become one, its probability is the sum of theirs: the network reads both as unknown."""
    batch, network, size = case.family.batch(1), case.exact(), case.family.spec.vocabulary_size
    if not network.copies:
        return
    apart = probabilities(case, network(batch), batch)
    merged = replace(batch, extended=batch.extended.where(batch.extended != size + 1, size), copied=batch.target)
    together = probabilities(case, network(merged), merged)
    assert (batch.extended == size + 1).any()
    equal(together[..., size], apart[..., size] + apart[..., size + 1])
    equal(together[..., :size], apart[..., :size])


def the_numbers_of_unknown_words_are_names(case: Case) -> None:
    """Unknown words with exchanged columns have exchanged probabilities, and nothing else changes."""
    batch, network, size = case.family.batch(1), case.exact(), case.family.spec.vocabulary_size
    if not network.copies:
        return
    before, other = probabilities(case, network(batch), batch), renumbered(batch, size, size + 1)
    own = (batch.extended == size + 1).any(1)  # in the others the second column does not exist
    after = probabilities(case, network(other), other)
    columns = torch.arange(before.shape[-1])
    columns[[size, size + 1]] = columns[[size + 1, size]]
    assert own.any()
    equal(after[own], before[own][..., columns])


def surprisals_are_those_of_the_scores(case: Case) -> None:
    """Without scores a network gives -log p of the true words, with the same gradients."""
    batch, network = case.family.batch(1), case.exact()
    if not network.surprises:
        return
    output, cheap = network(batch), network(batch, need_scores=False)
    assert cheap.logits.shape == (len(output.logits), 0)
    expected = -output.logits.log_softmax(-1).gather(1, output.true_tokens(batch)[:, None]).squeeze(1)
    equal(cheap.surprisal, expected)
    parameters = list(network.parameters())
    pairs = (torch.autograd.grad(one.sum(), parameters) for one in (cheap.surprisal, expected))
    for one, other in zip(*pairs, strict=True):
        equal(one, other, 1e-10)


FOR_COPYING: tuple[Callable[[Case], None], ...] = (
    writes_the_vocabulary_and_the_words_of_its_source,
    a_word_gets_the_weights_of_all_its_places,
    the_numbers_of_unknown_words_are_names,
    surprisals_are_those_of_the_scores,
)
