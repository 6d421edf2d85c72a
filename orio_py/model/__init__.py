"""Models of what was measured: from features of configurations to a mean and a spread."""
