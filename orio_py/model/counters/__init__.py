"""Counters of GPU kernels: what they are called, what they say of a bottleneck, and models that predict them."""
