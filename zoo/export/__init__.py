"""Networks as graphs of tensors that run without this package."""
