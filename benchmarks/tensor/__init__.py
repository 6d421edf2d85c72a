"""Benchmarks of tensor contractions."""
