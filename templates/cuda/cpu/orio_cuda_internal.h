/* What the parts of the executor know of each other.  It is compiled once, apart from kernels and host code. */
#ifndef ORIO_CUDA_INTERNAL_H
#define ORIO_CUDA_INTERNAL_H

#include <csetjmp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#define ORIO_CUDA_CPU_IMPLEMENTATION
#include "cuda_runtime.h"

namespace orio_cuda {

typedef unsigned long long u64;

/* Options, from the variable ORIO_CUDA_CPU or `orio_cuda_cpu_options`. */
enum class Order { forward, backward, random };
enum class Streams { lazy, eager, random };
struct Options {
  Order order = Order::forward;
  Streams streams = Streams::lazy;
  u64 seed = 1;
  int architecture = 90;
  long fail_at = 0; /* the number of the call that fails, from 1; 0: none */
  int fail_status = cudaErrorUnknown;
  bool early_exit = false; /* threads that have ended may miss barriers of their block */
  bool races = true, uninitialised = true, leaks = false, protect = true, loud = true;
  long most = 20; /* problems that are told in full */
};
extern Options options;

/* Problems.  Each kind at each place is told once and counted always. */
struct Place {
  const char *file;
  int line;
  const void *pc;
};
Place at(const char *file, int line);
Place at(const void *pc);
std::string text(const Place &place);
std::string function_name(orio_cuda_function function);
void problem(const std::string &key, const std::string &message);
std::string format(const char *form, ...) __attribute__((format(printf, 1, 2)));
std::string triple(const uint3 &index);
bool is_instrumented();

/* Fibres: a stack that runs one thread of a block after another. */
struct Fibre;
Fibre *take_fibre();
void give_fibre(Fibre *fibre);
void switch_to(Fibre *fibre);
void switch_back();
const char *stack_of(const Fibre *fibre, size_t *bytes);
extern void (*fibre_body)();

/* The block that runs now. */
struct Meeting {
  orio_cuda_meeting kind;
  unsigned mask;
  u64 value;
  int operand, width, line;
  const char *file;
};
enum class State { ready, at_barrier, at_warp, ended };
struct Thread {
  State state;
  Fibre *fibre;
  uint3 index;
  Meeting meeting;
  u64 result;
  bool has_fenced;
  unsigned fence_epoch;
};
struct Launch {
  std::string name;
  orio_cuda_function kernel;
  orio_cuda_invoker invoke;
  dim3 grid, block;
  size_t shared_bytes;
  std::vector<char> storage;
  std::vector<void *> arguments;
  unsigned first_serial; /* blocks are numbered through all launches, in the order in which they run */
  std::vector<unsigned> order;
};
struct Running {
  Launch *launch;
  std::vector<Thread> threads;
  unsigned current;
  unsigned serial; /* of this block */
  unsigned epoch; /* barriers of the block so far */
  std::vector<unsigned> clocks; /* of each thread: what it knows of the 32 lanes of its warp */
  bool is_inside; /* a fibre runs, not the executor or host code */
  cudaError_t status;
  sigjmp_buf escape;
};
extern Running running;
bool is_in_kernel(); /* whether the caller runs on the fibre that runs now, and not in another thread of the host */
cudaError_t run_launch(Launch &launch);
[[noreturn]] void abandon(cudaError_t status);
std::string here(); /* "kernel k, block (0,0,0), thread (1,0,0)" */
std::string thread_name(unsigned serial, unsigned thread);
uint3 spread(unsigned linear, const dim3 &extent);
void random_order(std::vector<unsigned> &order);
u64 random_number();

/* Memory that kernels may touch, and what is known of each of its elements. */
struct Access {
  unsigned serial, epoch, clock;
  int pc; /* from the address of `anchor` */
  unsigned short thread;
  bool is_atomic;
};
struct Cell {
  Access write, read[2];
  unsigned written; /* memory of the device: not 0; shared memory: by which block */
};
struct Region {
  enum Kind { device, shared, dynamic_shared, variable } kind;
  char *begin;
  size_t bytes;
  bool is_alive;
  unsigned granule;
  Cell *cells;
  size_t mapped;
  char *map_begin;
  size_t map_bytes;
};
extern std::map<uintptr_t, Region> &regions;
std::string place_in(const void *pointer);
Region *find_device(const void *pointer);
bool is_device_space(const void *pointer);
bool is_pinned(const void *pointer, size_t bytes);
void mark_written(const void *to, size_t bytes);
void copy_marks(const void *to, const void *from, size_t bytes);
void drop_cells(Region &region);
void begin_launch_checks();
void begin_block_checks();
void fence_check();
void open_device_memory();
void close_device_memory();
void poison(void *begin, size_t bytes);
void check_stack(const char *begin, size_t bytes);

/* Operations of streams that have not been run. */
struct Range {
  const char *begin;
  size_t bytes;
  bool is_written;
};
const std::string *pending_conflict(const char *begin, size_t bytes, bool is_write);
bool has_pending();

struct Architecture {
  int number, multiprocessors, threads, blocks, shared_kib, optin_kib;
  size_t memory;
  int l2_mib, bus_bits;
};
const Architecture &architecture();

} // namespace orio_cuda

#endif
