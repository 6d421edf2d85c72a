"""Runs kernels on OpenCL devices, in processes of their own that may crash or hang."""
