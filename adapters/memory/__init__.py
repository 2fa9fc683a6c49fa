"""In-memory twins of the ports: the same behaviour in plain Python, gone when the process ends."""
