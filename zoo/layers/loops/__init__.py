"""Recurrences with a backward pass derived by hand, for speed on a CPU.

A loop is one autograd Function over all time steps or all heights of trees. Autograd then records one operation instead
of many per step, and each weight's gradient is one matrix product at the end. A loop is differentiable once: asking for
the gradient of a gradient raises an error.

A loop stays if it is at least 1.3 times faster than `torch.compile` of the readable step that defines it. Medians with
one thread, forward and backward, by `python -m benchmarks.loops` (`benchmarks/README.md`):

    loop                           step / loop    compiled step / loop
    recurrent, GRU                 1.68           1.53
    recurrent, GRU, reset before   2.17           1.73
    recurrent, LSTM                1.77           1.49
    attention_gru                  1.56           1.37
    attention_lstm                 1.64           1.33
    attention_viewer               2.71           2.42
    tree_lstm                      2.38           2.57
    child_sum                      2.47           2.92
    climb                          1.25           2.12
    dnc                            2.11           0.79

`dnc` is the exception. It stays because the network has to be 1.5 times faster by default than step by step, which the
readable step does not reach: with fewer kernels it gained a factor of 1.12 to 1.21. `compile=true` is faster still.
"""
