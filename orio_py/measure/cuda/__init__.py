"""Builds CUDA variants, and runs them in processes of their own: on a GPU, or on the processor to check them."""
