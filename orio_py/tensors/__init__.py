"""Tensor contractions: what they compute, how the thesis maps them to devices, and their loops in C."""
