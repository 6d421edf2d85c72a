"""Trees to C files: kernels, and the programs that feed and time them."""
