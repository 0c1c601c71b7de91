"""Parts that no single paper owns: packed rows, recurrent networks, convolutions, embeddings, positions, pooling, the
state of a decoder, initialisation. `loops` holds fast recurrences, `trees` and `images` the parts for those data."""
