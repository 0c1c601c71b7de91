"""The text that a language model wrote: each written word by its surprisal, and where the network looked."""

from argparse import Namespace

import pytest

from zoo.data.language.encoding import LanguageEncoder, LanguageTextOptions
from zoo.predicting.language_modeling import ContinuationPrediction, Continued, LanguageModelingPredictions
from zoo.run.checkpoint import Predictor
from zoo.visualize.blocks import Grid, Passage
from zoo.visualize.language_modeling import LanguageModelingView


def sentences(prompt, tokens, bits, unknown=()):
    best = Continued("", tokens, 0.0, 0.0)
    prediction = ContinuationPrediction(prompt, "", (best,), bits, unknown)
    (passage,) = (block for block in LanguageModelingView().blocks(prediction) if isinstance(block, Passage))
    return passage.sentences


def test_words_after_a_beginning():
    first, second = sentences("the zebra", ("sees", "\n", "my", "cat"), (3.0, 1.0, 2.0, 4.0), ("zebra",))
    assert first.words == ("the", "zebra", "sees", "⏎") and first.word_weights == (0.0, 0.0, 3.0, 1.0)
    assert first.unknown == (1,)
    assert second.words == ("my", "cat") and second.word_weights == (2.0, 4.0) and second.unknown == ()


def test_a_continuation_of_several_lines_is_one_row():
    best = Continued(" sees\nmy cat", ("sees", "\n", "my", "cat"), 0.0, -2.0)
    prediction = ContinuationPrediction("the dog", "", (best, best), (3.0, 1.0, 2.0, 4.0))
    view = LanguageModelingView()
    assert view.row(prediction) == ["the dog", "sees ⏎ my cat", 2.5]
    assert view.terminal(prediction, 1, Namespace(nbest=None)).splitlines() == ["1 ||| sees ⏎ my cat ||| -2.0000"] * 2


def test_letters_are_words_with_the_sums_of_their_bits():
    """`a c` is continued by `at  is`, a line end and `so`: two blanks are between words, too."""
    first, second = sentences("a c", tuple("at  is\nso"), (1.0, 2.0, 8.0, 9.0, 3.0, 0.5, 4.0, 5.0, 0.25))
    assert first.words == ("a", "cat", "is", "⏎")
    assert first.word_weights == pytest.approx((0.0, 3.0, 3.5, 4.0))
    assert second.words == ("so",) and second.word_weights == pytest.approx((5.25,))


def test_the_attention_of_what_was_written():
    """One row for each of the 4 tokens that were written, over the line end, the beginning, and all written but the
    last; a row sees what was read before it."""
    encoder = LanguageEncoder(LanguageTextOptions(), ["a", "b", "c"])
    model = {"_target_": "zoo.models.memn2n_lm.MemN2NLanguageModel", "embedding_dim": 8, "memory_size": 9}
    greedy = {"_target_": "zoo.decoding.Greedy", "max_length": [0.0, 4.0]}
    task = LanguageModelingPredictions(model=model, decoding=greedy)
    task.build(encoder.spec(), encoder)
    (found,) = Predictor(task, encoder)(["a b"])
    *_, grid = LanguageModelingView().blocks(found)
    written = found.continuations[0].tokens
    assert len(written) == 4 and found.read == ("\n", "a", "b", *written[:3])
    assert isinstance(grid, Grid) and (len(grid.rows), len(grid.columns)) == (4, 6)
    for row, weights in enumerate(grid.weights):
        assert sum(weights[: row + 3]) == pytest.approx(1) and all(weights[: row + 3]) and not any(weights[row + 3 :])
