"""Parts that no single paper owns: rows without padding, recurrent nets and their loops, convolutions, embeddings,
positions, pooling, the state of a decoder, how weights start."""
