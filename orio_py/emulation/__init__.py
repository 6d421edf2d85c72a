"""Kernels from their machine code: what threads do, what that costs, and what limits it."""
