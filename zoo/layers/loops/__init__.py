"""Recurrences with a backward pass derived by hand, for speed on a CPU: `benchmarks/loops.py` compares each with the
readable step that defines it, plain and compiled, and `benchmarks/README.md` lists the ratios.

A loop is one autograd Function over all time steps or all heights of trees. Autograd then records one operation instead
of many per step, and each weight's gradient is one matrix product at the end. Without a loop a network computes the
same numbers by its `step`, which took 1.6 to 2.2 times as long where it was measured. A loop is differentiable once:
asking for the gradient of a gradient raises an error."""
