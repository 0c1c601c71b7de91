VARIANTS = [
    {"tying": "layer_wise"},
    {"encoding": "bag", "value": "same"},
    {"encoding": "position_paper", "empty": "mask", "nonlinearity": True},
    {"tying": "layer_wise", "value": "same", "times": False, "hops": 1},
    {"memory_size": 2, "empty": "mask"},
]
