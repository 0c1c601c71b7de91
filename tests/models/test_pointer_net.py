VARIANTS = [{"embedding_dim": 0}]
