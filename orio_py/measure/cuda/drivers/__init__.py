"""What runs CUDA kernels: libraries for NVIDIA's driver, and the executor on the processor."""
