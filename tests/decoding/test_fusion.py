"""Shallow fusion: sums of log-probabilities, found by another way, whatever the tokens are called on each side."""

import pytest
import torch

from tests.decoding.toys import DOUBLE, SPEC, batch_of, decoder, every_sequence
from zoo.data.language.batch import LanguageSpec
from zoo.decoding import BeamSearch, Greedy
from zoo.decoding.fusion import Fused, LanguageModel
from zoo.errors import ConfigError
from zoo.layers.packing import Packing
from zoo.models.rnn_lm import RNNLanguageModel
from zoo.models.transformer_lm import TransformerLanguageModel

WORDS = ["<pad>", "<unk>", "<bos>", "<eos>", "a", "b", "c"]
KNOWN = ["<unk>", "c", "<eos>", "a", "z"]  # in another order, without b
READS = {0: 0, 1: 0, 2: 2, 3: 2, 4: 3, 5: 0, 6: 1}
"""The token of the language model for each token of the network."""
LONGEST = 4


def language(kind):
    """A language model with random weights."""
    torch.manual_seed(5)
    spec = LanguageSpec(vocabulary_size=len(KNOWN))
    if kind == "rnn_lm":
        return RNNLanguageModel(spec, embedding_dim=6, hidden_dim=6, dropout=0.0, init_range=1.5).double().eval()
    return (
        TransformerLanguageModel(spec, hidden_dim=8, layers=1, heads=2, feedforward_dim=8, dropout=0.0).double().eval()
    )


def said(network, ids):
    """log p of each of `ids` after the end of a line, read at once."""
    read = torch.tensor([READS[3], *(READS[token] for token in ids[:-1])])
    packing = Packing.of(torch.ones(1, len(read), dtype=torch.bool))
    with torch.no_grad():
        states = network.read(read, packing, None, need_weights=False).states
        log_probs = network.scores(states).log_softmax(-1)
    return [float(log_probs[t, READS[token]]) for t, token in enumerate(ids)]


@pytest.mark.parametrize("kind", ["rnn_lm", "transformer_lm"])
@pytest.mark.parametrize("weight", [0.0, 0.7, 3.0])
def test_a_wide_beam_finds_the_best_sum(kind, weight):
    network, other, batch = decoder(), language(kind), batch_of(4, 2)
    fused = Fused(network, LanguageModel.of(other, KNOWN, WORDS, SPEC, weight))
    found = BeamSearch(beam_size=200, nbest=3, length_penalty=0.0, max_length=(0, LONGEST))(fused, batch, SPEC)
    for row, hypotheses in enumerate(found):
        sums = sorted(
            (-sum(log_probs) - weight * sum(said(other, ids)), ids)
            for ids, log_probs, _ in every_sequence(network, batch, row, LONGEST)
        )
        assert [one.ids for one in hypotheses] == [ids for _, ids in sums[:3]]
        for one, (total, _) in zip(hypotheses, sums, strict=False):
            assert one.log_prob == pytest.approx(-total, abs=1e-9)
            assert one.attention["source"].shape[0] == len(one.ids)


def test_without_weight_it_decodes_as_the_network_does():
    network, batch = decoder(), batch_of(3, 5, 1)
    fused = Fused(network, LanguageModel.of(language("rnn_lm"), KNOWN, WORDS, SPEC, 0.0))
    for search in (Greedy(max_length=(0, 5)), BeamSearch(beam_size=3, max_length=(0, 5))):
        alone, together = search(network, batch, SPEC), search(fused, batch, SPEC)
        assert [[one.ids for one in row] for row in together] == [[one.ids for one in row] for row in alone]


def test_copied_words_are_unknown_to_the_language_model():
    fused = Fused(decoder(), LanguageModel.of(language("rnn_lm"), KNOWN, WORDS, SPEC, 1.0))
    columns = fused.language.columns
    assert columns.tolist() == list(READS.values())
    state = fused.start(batch_of(2))
    other = {name: part for name, part in state.hypotheses.items() if name.startswith("language.")}
    assert other and all(part.dtype == DOUBLE for part in other.values())


def test_models_without_common_tokens_or_line_ends_are_refused():
    with pytest.raises(ConfigError, match=r"language_model: it lacks 4 of 4 tokens, such as '<unk>', 'x'"):
        LanguageModel.of(None, ["<?>", "<eos>", "a"], ["<pad>", "<unk>", "<bos>", "<eos>", "x", "y", "w"], SPEC, 1.0)
    with pytest.raises(ConfigError, match="language_model: it has no token that ends a line"):
        LanguageModel.of(None, ["<unk>", "a", "b", "c"], WORDS, SPEC, 1.0)
    lines = LanguageModel.of(None, ["<unk>", "\n", "a", "b", "c"], WORDS, SPEC, 1.0)
    assert lines.line_end == 1 and lines.columns.tolist() == [0, 0, 1, 1, 2, 3, 4]
