"""Kernels for devices: plans, calls, types and functions, as every device language has them."""
