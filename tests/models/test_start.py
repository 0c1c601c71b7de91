"""How the weights of each network start: each parameter follows the first rule whose pattern is found in its name."""

import re
from dataclasses import replace
from functools import partial

import pytest
import torch

from tests.catalogue import MODELS
from tests.families import family_of
from tests.models.cells import ENCODER, PIXELS, TRAINED
from tests.models.equations import assert_deviation, assert_orthogonal, glorot
from tests.models.test_tree_networks import DEPENDENCIES
from zoo.data.cloze.batch import ClozeSpec
from zoo.data.images.batch import ImageSpec
from zoo.data.pairs.batch import PairSpec

PAIRS = PairSpec(400, 500, 9, 9)
QUESTIONS = ClozeSpec(vocabulary_size=500, blank=2)
CELLS = ImageSpec(70, 2, 3, target_size=500, longest_target=9, grid=(2, 3), encoded=True)
MANY, LONG = replace(PIXELS, target_size=500), replace(PIXELS, target_size=500, longest_target=300, grid=(20, 20))
TREES, POINTS = family_of("tree_classification").spec, family_of("pointing").spec
WIDE = {"encoder": TRAINED | {"dim": 90}}
SIZES = {"embedding_dim": 60, "hidden_dim": 80}


# Rules for a parameter


def any_start(weight):
    """The start is torch's, or tested elsewhere."""


def zero(weight):
    assert not weight.any()


def one(weight):
    assert (weight == 1).all()


def orthogonal(weight, gates=1):
    assert_orthogonal(weight.chunk(gates))


def xavier(weight, gates=1, gain=1.0):
    """Uniform, by Glorot and Bengio (2010), each gate by itself."""
    for matrix in weight.chunk(gates):
        assert matrix.abs().max() <= 3**0.5 * gain * glorot(matrix)
        assert_deviation([matrix], gain * glorot(matrix), rel=0.06)


def normal(weight, deviation=1.0, zero_row=None):
    assert zero_row is None or not weight[zero_row].any()
    assert_deviation([weight], deviation, rel=0.3 if weight.numel() < 200 else 0.05)


def uniform(weight, bound, zero_row=None):
    assert zero_row is None or not weight[zero_row].any()
    assert 0.9 * bound < weight.abs().max() <= bound
    assert weight.numel() < 200 or abs(weight.std() * 3**0.5 / bound - 1) < 0.15


def blocks(weight, identity, noise):
    """Square blocks of `identity` times the identity, and noise."""
    for block in weight.split(len(weight), 1):
        assert 0.8 * noise < (block - identity * torch.eye(len(weight))).abs().max() <= noise


def identities(weight):
    """Each row is a matrix near the identity."""
    assert_deviation([weight.unflatten(1, (25, 25)) - torch.eye(25)], 0.01)


def drawn(paper, gates=1):
    return partial(normal, deviation=0.01) if paper else partial(xavier, gates=gates)


def words(row=PAIRS.padding, *, paper=False):
    return partial(normal, deviation=0.01 if paper else 1.0, zero_row=row)


ORTHOGONAL = {number: partial(orthogonal, gates=number) for number in (3, 4)}
GAIN = partial(xavier, gain=4.0)
"""For matrices that read the states of an LSTM."""
LSTMS = {
    "bias_[ih]": zero,
    "weight_hh": ORTHOGONAL[4],
    "weight_ih_l0": partial(xavier, gates=4),
    "weight_ih_l1": partial(xavier, gates=4, gain=4.0),
}


def rnnsearch(paper):
    return {
        "^encoder.parts": one,
        "bias": zero,
        "encoder.weight_hh|decoder_state": ORTHOGONAL[3],
        "encoder.weight_ih": drawn(paper, 3),
        "score.v": zero if paper else partial(uniform, bound=70**-0.5),
        "score": partial(normal, deviation=0.001) if paper else xavier,
        "source_embedding": words(paper=paper),
        "target_embedding": words(PAIRS.begin, paper=paper),
        "weight": drawn(paper),
    }


def show_attend_tell(paper):
    return {
        "^encoder.parts": one,
        "bias": zero,
        "decoder_state": ORTHOGONAL[4],
        "^initial.weight|deep_key": orthogonal if paper else xavier,
        "decoder_token|decoder_context": drawn(paper, 4),
        "embedding": words(CELLS.begin, paper=paper),
        "^v$": partial(normal, deviation=0.01) if paper else partial(uniform, bound=70**-0.5),
        "weight": drawn(paper),
    }


def transformer(positions):
    return {
        "^encoder.parts": one,
        "norm.weight": one,
        "bias": zero,
        "attention": any_start,
        "embedding": xavier if positions == "learned" else partial(normal, deviation=64**-0.5),
        "weight": xavier,
    }


DEEP = SIZES | {"num_layers": 2}
SQUARE = {"encoder": ENCODER, "embedding_dim": 64, "hidden_dim": 64, "attention_dim": 64, "init": "paper"}
STARTS = {
    "aoa_reader": (
        QUESTIONS, {"embedding_dim": 16, "hidden_dim": 12},
        {"embedding": partial(uniform, bound=0.05, zero_row=0), "bias": zero, "weight": ORTHOGONAL[3]},
    ),
    "as_reader": (
        QUESTIONS, {"embedding_dim": 200, "hidden_dim": 12},
        {"embedding": partial(uniform, bound=0.1, zero_row=0), "bias": zero, "weight": ORTHOGONAL[3]},
    ),
    "luong in a range": (
        PAIRS, DEEP | {"attention": "local_p", "init_range": 0.1},
        {"embedding": partial(uniform, bound=0.1, zero_row=0), "": partial(uniform, bound=0.1)},
    ),
    "luong": (
        PAIRS, DEEP | {"init_range": None},
        LSTMS | {"embedding": words(), "attentional|vocabulary.weight": GAIN, "score|vocabulary.bias": any_start},
    ),
    "mv_rnn": (
        TREES, {"hidden_dim": 100},
        {
            "composition.weight|of_matrices": partial(blocks, identity=0.5, noise=0.05),
            "factors": partial(normal, deviation=0.1),
            "diagonal": one,
            "embedding": words(),
            "bias|head": any_start,
        },
    ),
    "mv_rnn with full matrices": (TREES, {"rank": None}, {"matrix": identities, "": any_start}),
    "phrase_lstm": (
        TREES, {"hidden_dim": 50, "embedding_dim": 40, "layers": 2, "init_range": 0.25},
        LSTMS | {"embedding": partial(uniform, bound=0.25, zero_row=0), "head": any_start},
    ),
    "pointer_net in a range": (POINTS, SIZES, {"": partial(uniform, bound=0.08)}),
    "pointer_net": (POINTS, SIZES | {"init_range": None}, LSTMS | {"projection": GAIN, "": any_start}),
    "recursive": (
        TREES, {"hidden_dim": 100},
        {"composition.weight": partial(blocks, identity=0.5, noise=0.05), "": any_start},
    ),
    "rntn as released": (
        TREES, {},
        {
            "composition.weight": partial(blocks, identity=1.0, noise=0.1),
            "tensor": partial(uniform, bound=0.01),
            "embedding": partial(uniform, bound=0.001, zero_row=0),
            "classifier.weight": partial(uniform, bound=0.2),
            "bias": zero,
        },
    ),
    "seq2seq_lstm in a range": (
        PAIRS, DEEP,
        {"embedding": partial(uniform, bound=0.08, zero_row=0), "": partial(uniform, bound=0.08)},
    ),
    "seq2seq_lstm": (
        PAIRS, DEEP | {"init_range": None},
        LSTMS | {"embedding": words(), "vocabulary.weight": GAIN, "vocabulary.bias": any_start},
    ),
    "show_and_tell in a range": (
        MANY, WIDE | SIZES | {"init_range": 0.08},
        {"^encoder": one, "embedding": partial(uniform, bound=0.08, zero_row=0), "": partial(uniform, bound=0.08)},
    ),
    "show_and_tell": (
        MANY, WIDE | SIZES,
        {"^encoder": one, **LSTMS, "image": xavier, "embedding": words(), "vocabulary.weight": GAIN, "bias": any_start},
    ),
    # The authors draw the gates of Z as one matrix, D by 4 n, which is not square; those of W one by one.
    "show_attend_tell with square matrices": (
        replace(CELLS, channels=64), SQUARE,
        {
            "^key.weight|decoder_context": partial(normal, deviation=0.01),
            "decoder_(token|state).weight": ORTHOGONAL[4],
            "(query|initial|initial_hidden|output_context).weight": orthogonal,
            "": any_start,
        },
    ),
    "tree_lstm": (
        TREES, {"init_range": 0.25},
        {"embedding": partial(uniform, bound=0.25, zero_row=0), "^bias": zero, "": any_start},
    ),
    "tree_lstm over dependencies": (
        DEPENDENCIES, {"init_range": 0.25, "biases": "two"},
        {"embedding": partial(uniform, bound=0.25, zero_row=0), "^bias": zero, "": any_start},
    ),
}  # fmt: skip
for paper in (False, True):
    way = {"init": "paper" if paper else "orthogonal"}
    many = SIZES | {"maxout_dim": 50} | way
    gates = {"bias": zero, "coder.weight_hh": ORTHOGONAL[3], "coder.weight_ih": drawn(paper, 3)}
    tables = {"source_embedding": words(paper=paper), "target_embedding": words(PAIRS.begin, paper=paper)}
    STARTS[f"encoder_decoder {way}"] = PAIRS, many, gates | tables | {"weight": drawn(paper)}
    attends = many | {"attention_dim": 70}
    STARTS[f"rnnsearch {way}"] = PAIRS, attends, rnnsearch(paper)
    STARTS[f"caption_rnnsearch {way}"] = MANY, WIDE | attends, rnnsearch(paper)
    options = SIZES | way | {"encoder": TRAINED, "attention_dim": 70, "energy": "deep_tanh", "gate": "vector"}
    STARTS[f"show_attend_tell {way}"] = CELLS, options, show_attend_tell(paper)
for positions in ("sinusoidal", "learned"):
    narrow = {"hidden_dim": 64, "layers": 1, "heads": 4, "feedforward_dim": 96, "positions": positions}
    STARTS[f"transformer {positions}"] = PairSpec(500, 400, 200, 300), narrow, transformer(positions)
    STARTS[f"caption_transformer {positions}"] = LONG, WIDE | narrow | {"encoder_layers": 1}, transformer(positions)


@pytest.mark.parametrize("name", STARTS)
def test_start(name):
    """A name begins with that of the network."""
    spec, options, rules = STARTS[name]
    torch.manual_seed(0)
    for parameter, weight in MODELS[name.split()[0]].cls(spec, **options).named_parameters():
        rule = next(rule for pattern, rule in rules.items() if re.search(pattern, parameter))
        try:
            rule(weight.detach())
        except AssertionError as error:
            raise AssertionError(f"{parameter} does not start so") from error
