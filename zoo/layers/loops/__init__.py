"""Recurrences with a backward pass derived by hand, for speed on a CPU.

A loop is one autograd Function over all time steps or all heights of trees. Autograd then records one operation instead
of many per step, and each weight's gradient is one matrix product at the end. A loop is differentiable once: asking for
the gradient of a gradient raises an error.

A loop stays if it is at least 1.3 times faster than `torch.compile` of the readable step that defines it. Medians with
one thread, forward and backward, by `python -m benchmarks.loops` (`benchmarks/README.md`), `diagonal` by
`python -m benchmarks.pixelrnn`:

    loop                           step / loop    compiled step / loop
    recurrent, GRU                 1.59           1.31
    recurrent, GRU, reset before   1.97           1.52
    recurrent, LSTM                1.80           1.46
    attention_gru                  1.50           1.34
    attention_lstm                 1.77           1.43
    attention_viewer               2.84           2.89
    tree_lstm                      2.54           2.61
    child_sum                      2.68           2.92
    climb                          1.30           2.23
    dnc                            1.80           0.75
    diagonal                       1.42           1.57

`dnc` is the exception. It stays because the network has to be 1.5 times faster by default than step by step, which the
readable step does not reach: with fewer kernels it gained a factor of 1.12 to 1.21. `compile=true` is faster still.
"""
