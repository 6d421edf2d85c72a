"""Emulated times of kernels against those of other models, of publications, and of a GPU where there is one."""
