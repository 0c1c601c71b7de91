"""Ways through the networks of the catalogue that run other code than their defaults, and keep the contract too."""

from typing import Any

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "caption_rnnsearch": [{"score": "dot"}, {"score": "tests.models.own_scores.Bilinear"}],
    "caption_transformer": [{"encoder_layers": 1, "positions": "learned", "tied": "target"}],
    "conv_s2s": [{"encoder_layers": [[8, 3], [6, 5]], "decoder_layers": [[6, 3], [8, 1]]}],
    "dnc": [{"read_heads": 3, "memory_size": 5}],
    "encoder_decoder": [{"shared": True}],
    "gcnn": [{"layers": [[8, 1], [6, 3], [5, 2, 0], [6, 3, 2]]}, {"layers": 2, "cutoffs": [4, 7]}],
    "gated_pixelcnn": [{"condition": "label"}, {"condition": "factors"}],
    "han": [{"word_pooling": "mean", "sentence_pooling": "max"}, {"word_pooling": "max", "sentence_pooling": "mean"}],
    "hred": [{"attention": "hierarchical", "maxout": True}, {"bidirectional": True, "maxout": True}],
    "kv_memnn": [
        {"slots": "window", "side": 1},
        {"answers": "shared", "times": False},
        {"memory_size": 2, "common_words": 0},
    ],
    "las": [{"pyramids": 1, "location": [2, 3], "smoothing": True}],
    "luong": [
        {"input_feeding": False, "score": "concat"},
        {"attention": "local_m", "score": "dot"},
        {"attention": "local_p", "window": 2},
        {"attention": "local_p", "input_feeding": False},
        {"attention": "local_m", "input_feeding": False, "reverse_source": True},
        {"score": "location", "reverse_source": True},
    ],
    "mean_frames": [{"frames": "first", "layers": 1}],
    "memn2n": [
        {"tying": "layer_wise"},
        {"encoding": "bag", "value": "same"},
        {"encoding": "position_paper", "empty": "mask", "nonlinearity": True},
        {"tying": "layer_wise", "value": "same", "times": False, "hops": 1},
        {"memory_size": 2, "empty": "mask"},
    ],
    "memn2n_lm": [{"memory_size": 3, "hops": 1}],
    "mv_rnn": [{"rank": None}, {"pooling": "attention", "matrices": 5}],
    "neural_combinatorial": [{"glimpses": 0, "clip": None}],
    "ntm": [
        {"controller": "feedforward", "start": "zero"},
        {"controller_layers": 2, "read_heads": 2, "write_heads": 3, "shift_range": 2, "memory_start": "random"},
        {"controller": "feedforward", "controller_layers": 2, "memory_start": "learned", "first_weighting": "learned"},
    ],
    "phrase_lstm": [{"directions": "both", "pooling": "attention"}, {"directions": "both_tied", "layers": 2}],
    "phrase_mean": [{"pooling": "attention"}],
    "pixelrnn": [{"lstm": "row"}],
    "pointer_generator": [{"coverage": True}, {"copy": False}],
    "pointer_net": [{"embedding_dim": 0}],
    "read_process_write": [{"process_steps": 0, "glimpses": 0}],
    "recursive": [{"pooling": "attention"}, {"activation": "identity", "quadratic": True}],
    "rnnsearch": [{"score": "general"}, {"score": "dot"}, {"score": "tests.models.own_scores.Bilinear"}],
    "rntn": [{"pooling": "attention"}],
    "sagan": [{"attention": "paper", "attention_size": 3}, {"attention": "none", "condition": "none"}],
    "seq2seq_lstm": [{"reverse_source": False}, {"shared": True}],
    "show_and_tell": [{"feed": "every_step"}],
    "show_attend_tell": [
        {"gate": "vector", "energy": "relu", "deep_output": False},
        {"gate": "none", "energy": "deep_tanh"},
        {"attention": "hard", "hard": {"reading": "expected"}},  # what is read at one place has no gradient by weights
    ],
    "t_dmca": [{"block": 4, "norm": "post"}, {"layers": "FM", "positions": "learned", "compression": 2}],
    "temporal_attention": [
        {"motion": "none", "gate": "vector"},
        {"motion": "conv3d", "gate": "none", "deep_output": False},
    ],
    "transformer": [{"norm": "pre", "positions": "learned"}, {"tied": "target", "neighbourhood": 3}],
    "transformer_lm": [{"norm": "post", "positions": "learned", "tied": True}],
    "tree_lstm": [
        {"leaf": "linear", "biases": "two", "output_gate": False},
        {"composition": "child_sum", "pooling": "attention"},
    ],
    "universal_transformer": [
        {"norm": "post", "tied": "target", "halting": "published"},
        {"halting": "none", "steps": 2},
    ],
    "universal_transformer_encoder": [{"norm": "pre", "halting": "interpolated"}, {"halting": "none", "steps": 2}],
}
