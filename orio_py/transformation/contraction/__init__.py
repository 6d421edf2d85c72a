"""Contractions of tensors: nests of sums of products, in register tiles."""
