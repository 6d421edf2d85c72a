"""CUDA text: device code in CUDA C++ from kernel plans, and the host code that runs it."""
