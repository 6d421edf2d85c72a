"""Evaluating variants with CUDA kernels."""
