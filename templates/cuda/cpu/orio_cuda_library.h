/* Behind the kernels of a shared object: a function for each that launches it, and one that tells its parameters. */
#ifndef ORIO_CUDA_LIBRARY_H
#define ORIO_CUDA_LIBRARY_H

template <class... A> static inline const orio_cuda_parameter *orio_cuda_parameters(void (*)(A...))
{
  return orio_cuda_kernel<A...>::parameters;
}

template <class... A>
static inline cudaError_t orio_cuda_start(const char *name, void (*kernel)(A...), const unsigned *grid,
                                          const unsigned *block, void **arguments, size_t shared_bytes,
                                          cudaStream_t stream)
{
  return orio_cuda_launch(name, reinterpret_cast<orio_cuda_function>(kernel), orio_cuda_kernel<A...>::invoke,
                          orio_cuda_kernel<A...>::parameters, sizeof...(A), dim3(grid[0], grid[1], grid[2]),
                          dim3(block[0], block[1], block[2]), arguments, shared_bytes, stream);
}

#define ORIO_CUDA_ENTRY(kernel) \
  ORIO_CUDA_API const orio_cuda_parameter *orio_parameters_##kernel(void); \
  const orio_cuda_parameter *orio_parameters_##kernel(void) { return orio_cuda_parameters(kernel); } \
  ORIO_CUDA_API cudaError_t orio_allow_##kernel(int); \
  cudaError_t orio_allow_##kernel(int shared_bytes) \
  { return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes); } \
  ORIO_CUDA_API cudaError_t orio_launch_##kernel(const unsigned *, const unsigned *, void **, size_t, cudaStream_t); \
  cudaError_t orio_launch_##kernel(const unsigned *grid, const unsigned *block, void **arguments, size_t shared_bytes, \
                                   cudaStream_t stream) \
  { \
    return orio_cuda_start(#kernel, kernel, grid, block, arguments, shared_bytes, stream); \
  }

/* The architecture that the kernels are checked for. */
#define ORIO_CUDA_ARCHITECTURE(number) \
  ORIO_CUDA_API int orio_cuda_architecture(void); \
  int orio_cuda_architecture(void) { return number; }

#endif
