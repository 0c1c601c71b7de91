VARIANTS = [{"glimpses": 0, "clip": None}]
