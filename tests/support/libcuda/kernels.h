/* Lets kernels of a CUDA text run in the fake driver: all threads of all blocks, one after another, without barriers.

   KERNEL(NAME) behind a kernel gives the driver NAME_entry, which calls it, and NAME_sizes: of each parameter its size and
   alignment, ended by 0. */
#pragma once
#include <cstddef>
#include <utility>

#define __global__
#define __device__
struct Index { unsigned x, y, z; };
static Index gridDim, blockDim, blockIdx, threadIdx;

template <class... A, std::size_t... I>
void call_one(void (*kernel)(A...), [[maybe_unused]] void **values, std::index_sequence<I...>) {
  kernel(*static_cast<A *>(values[I])...);
}

template <class... A> void call(void (*kernel)(A...), void **values, const unsigned *grid, const unsigned *block) {
  gridDim = {grid[0], grid[1], grid[2]};
  blockDim = {block[0], block[1], block[2]};
  for (blockIdx.z = 0; blockIdx.z < grid[2]; blockIdx.z++)
    for (blockIdx.y = 0; blockIdx.y < grid[1]; blockIdx.y++)
      for (blockIdx.x = 0; blockIdx.x < grid[0]; blockIdx.x++)
        for (threadIdx.z = 0; threadIdx.z < block[2]; threadIdx.z++)
          for (threadIdx.y = 0; threadIdx.y < block[1]; threadIdx.y++)
            for (threadIdx.x = 0; threadIdx.x < block[0]; threadIdx.x++)
              call_one(kernel, values, std::index_sequence_for<A...>{});
}

template <class... A> struct Sizes {
  unsigned words[2 * sizeof...(A) + 2];
};

template <class... A> constexpr Sizes<A...> sizes_of(void (*)(A...)) {
  Sizes<A...> found{};
  unsigned at = 0;
  ((found.words[at++] = sizeof(A), found.words[at++] = alignof(A)), ...);
  return found;
}

#define KERNEL(NAME)                                                                                  \
  extern "C" void NAME##_entry(void **values, const unsigned *grid, const unsigned *block) {          \
    call(NAME, values, grid, block);                                                                  \
  }                                                                                                   \
  extern "C" {                                                                                        \
  extern const decltype(sizes_of(NAME)) NAME##_sizes;                                                 \
  const decltype(sizes_of(NAME)) NAME##_sizes = sizes_of(NAME);                                       \
  }
