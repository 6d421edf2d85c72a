"""Offloading: from a loop nest to the plan of a device kernel, for OpenCL, CUDA and OpenACC alike."""
