VARIANTS = [{"process_steps": 0, "glimpses": 0}]
