"""Parts that no single paper owns: packing, recurrent nets, pooling."""
