"""OpenCL text: device code from kernel plans, and the host code in C that runs it."""
