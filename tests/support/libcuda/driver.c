/* A driver for CUDA without a GPU, for tests: the functions of libcuda.so.1 that orio_py and its libraries call.

   Memory of the device is memory of the host between canaries; what is put into a stream is done as late as it may be;
   a module is a shared object (kernels.h) whose kernels run on the processor; the clock goes by what is done.  Calls fail
   on demand, and errors after which a GPU's context is useless stay, as CUDA's do.

   FAKE_CUDA_DEVICES is the number of devices (1), FAKE_CUDA_FAIL makes a call fail or crash: NAME:STATUS, NAME:abort. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct Stream Stream;
typedef struct Event Event;
typedef void Entry(void **parameters, const unsigned *grid, const unsigned *block);

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_IMAGE = 200,
       INVALID_CONTEXT = 201, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700 };
enum { CANARY = 256, CANARY_BYTE = 0xC5, FREE_BYTE = 0xDD, MOST = 4096, MOST_PARAMETERS = 64, MOST_BYTES = 64 };
enum { KERNEL, TO_DEVICE, TO_HOST, FILL, RECORD, WAIT };
static const size_t MEMORY = (size_t)1 << 30;

typedef struct { unsigned char *base; size_t size; int is_pinned; } Block;
typedef struct { void *library; int file; } Module;
typedef struct { Entry *entry; const unsigned *sizes; int most_shared; } Function;
typedef struct Operation {
  int kind;
  void *to;
  const void *from;
  size_t size;
  int byte;
  Function *function;
  unsigned grid[3], block[3];
  unsigned char values[MOST_PARAMETERS][MOST_BYTES] __attribute__((aligned(16)));
  Event *event;
  Stream *other;
  long number, awaited; /* of WAIT: the operation that it waits for */
  struct Operation *next;
} Operation;
struct Stream { Operation *first, *last; };
struct Event { Stream *stream; long number; int is_done; double time; };

static struct { int code; const char *name, *text; } statuses[] = {
  {0, "CUDA_SUCCESS", "no error"},
  {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
  {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
  {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
  {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
  {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
  {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
  {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
  {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
  {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
  {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
  {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
  {600, "CUDA_ERROR_NOT_READY", "device not ready"},
  {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
  {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
  {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
  {710, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
  {714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"},
  {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
  {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
  {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", "operation not supported on global/shared address space"},
  {718, "CUDA_ERROR_INVALID_PC", "invalid program counter"},
  {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
  {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
  {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};
enum { STATUSES = sizeof statuses / sizeof *statuses };

static struct { char name[64]; int status, after; } wanted; /* the call that is to fail */
static int is_initialized, sticky, contexts, current, alive_modules, alive_streams, alive_events;
static Block blocks[MOST];
static Stream *streams[MOST];
static Stream default_stream;
static size_t used;
static double now;
static long operations;
static char called[MOST][48];
static int calls;

/* --- what tests ask of the fake --- */

void fake_cuda_fail(const char *name, int status, int after) {
  snprintf(wanted.name, sizeof wanted.name, "%s", name);
  wanted.status = status;
  wanted.after = after;
}

static void drop(Stream *stream) {
  while (stream->first) {
    Operation *gone = stream->first;
    stream->first = gone->next;
    free(gone);
  }
  stream->last = NULL;
}

/* As a new process would find it: nothing is left, no error stays. */
void fake_cuda_heal(void) {
  for (int i = 0; i < MOST; i++) {
    free(blocks[i].base);
    memset(&blocks[i], 0, sizeof blocks[i]);
    if (streams[i])
      drop(streams[i]);
    streams[i] = NULL;
  }
  drop(&default_stream);
  sticky = contexts = current = alive_modules = alive_streams = alive_events = calls = 0;
  used = 0;
  wanted.name[0] = 0;
}

void fake_cuda_alive(char *text, size_t size) {
  int memory = 0, pinned = 0;
  for (int i = 0; i < MOST; i++)
    if (blocks[i].base)
      *(blocks[i].is_pinned ? &pinned : &memory) += 1;
  snprintf(text, size, "memory=%d pinned=%d modules=%d streams=%d events=%d contexts=%d", memory, pinned, alive_modules,
           alive_streams, alive_events, contexts);
}

/* Which functions were called since fake_cuda_heal, each once, in the order of their first calls. */
void fake_cuda_calls(char *text, size_t size) {
  size_t length = 0;
  text[0] = 0;
  for (int i = 0; i < calls && length < size; i++)
    length += (size_t)snprintf(text + length, size - length, "%s ", called[i]);
}

/* --- */

static int stays(int status) { return status == 214 || status == 700 || status == 702 || (status >= 710 && status <= 719) || status == 999; }

static CUresult fails(const char *name) {
  if (!wanted.name[0]) {
    const char *text = getenv("FAKE_CUDA_FAIL"), *colon = text ? strchr(text, ':') : NULL;
    if (colon && strlen(name) == (size_t)(colon - text) && !strncmp(name, text, strlen(name))) {
      if (!strcmp(colon + 1, "abort"))
        abort();
      return atoi(colon + 1);
    }
    return 0;
  }
  if (strcmp(wanted.name, name) || wanted.after-- > 0)
    return 0;
  wanted.name[0] = 0;
  return wanted.status;
}

static CUresult enter(const char *name, int needs) {
  int known = 0;
  for (int i = 0; i < calls && !known; i++)
    known = !strcmp(called[i], name);
  if (!known && calls < MOST)
    snprintf(called[calls++], sizeof called[0], "%s", name);
  CUresult status = fails(name);
  if (status && stays(status))
    sticky = status;
  if (status)
    return status;
  if (needs > 0 && !is_initialized)
    return NOT_INITIALIZED;
  if (needs > 1 && sticky)
    return sticky;
  return needs > 1 && !current ? INVALID_CONTEXT : 0;
}

/* What a call needs: 0 nothing, 1 an initialized driver, 2 a context without an error. */
#define ENTER(NAME, NEEDS)                   \
  do {                                       \
    CUresult status_ = enter(#NAME, NEEDS);  \
    if (status_)                             \
      return status_;                        \
  } while (0)

static Block *block_of(const void *place, size_t size) {
  const unsigned char *at = place;
  for (int i = 0; i < MOST; i++) {
    unsigned char *begin = blocks[i].base ? blocks[i].base + CANARY : NULL;
    if (begin && at >= begin && at + size <= begin + blocks[i].size)
      return &blocks[i];
  }
  return NULL;
}

static int is_whole(const Block *block) {
  for (int i = 0; i < CANARY; i++)
    if (block->base[i] != CANARY_BYTE || block->base[CANARY + block->size + i] != CANARY_BYTE)
      return 0;
  return 1;
}

static void run_until(Stream *stream, long number);

static void perform(Operation *it) {
  now += it->kind == KERNEL ? 1.0 : it->kind == RECORD || it->kind == WAIT ? 0.0 : 0.25;
  switch (it->kind) {
  case KERNEL: {
    void *values[MOST_PARAMETERS];
    for (int i = 0; i < MOST_PARAMETERS; i++)
      values[i] = it->values[i];
    it->function->entry(values, it->grid, it->block);
    for (int i = 0; i < MOST; i++)
      if (blocks[i].base && !is_whole(&blocks[i]))
        sticky = ILLEGAL_ADDRESS;
    break;
  }
  case TO_DEVICE:
  case TO_HOST:
    memcpy(it->to, it->from, it->size);
    break;
  case FILL:
    memset(it->to, it->byte, it->size);
    break;
  case RECORD:
    if (it->event->number == it->number) {
      it->event->is_done = 1;
      it->event->time = now;
    }
    break;
  case WAIT:
    run_until(it->other, it->awaited);
    break;
  }
}

/* Do what stands in a stream up to an operation. */
static void run_until(Stream *stream, long number) {
  while (!sticky && stream->first && stream->first->number <= number) {
    Operation *it = stream->first;
    stream->first = it->next;
    if (!stream->first)
      stream->last = NULL;
    perform(it);
    free(it);
  }
}

/* The youngest stream first, so that a missing wait is seen. */
static CUresult run_all(void) {
  for (int i = MOST - 1; i >= 0; i--)
    if (streams[i])
      run_until(streams[i], operations);
  run_until(&default_stream, operations);
  return sticky;
}

static Operation *put(Stream *stream, int kind) {
  Operation *it = calloc(1, sizeof *it);
  stream = stream ? stream : &default_stream;
  it->kind = kind;
  it->number = ++operations;
  if (stream->last)
    stream->last->next = it;
  else
    stream->first = it;
  return stream->last = it;
}

static int is_stream(const Stream *stream) {
  for (int i = 0; stream && i < MOST; i++)
    if (streams[i] == stream)
      return 1;
  return !stream;
}

/* --- the driver --- */

CUresult cuInit(unsigned flags) {
  ENTER(cuInit, 0);
  if (flags)
    return INVALID_VALUE;
  is_initialized = 1;
  return 0;
}

CUresult cuDriverGetVersion(int *version) {
  ENTER(cuDriverGetVersion, 0);
  *version = 13020;
  return 0;
}

CUresult cuGetErrorName(CUresult status, const char **name) {
  for (int i = 0; i < STATUSES; i++)
    if (statuses[i].code == status)
      return *name = statuses[i].name, 0;
  return *name = NULL, INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult status, const char **text) {
  for (int i = 0; i < STATUSES; i++)
    if (statuses[i].code == status)
      return *text = statuses[i].text, 0;
  return *text = NULL, INVALID_VALUE;
}

static int device_count(void) {
  const char *count = getenv("FAKE_CUDA_DEVICES");
  return count ? atoi(count) : 1;
}

CUresult cuDeviceGetCount(int *count) {
  ENTER(cuDeviceGetCount, 1);
  *count = device_count();
  return 0;
}

CUresult cuDeviceGet(CUdevice *device, int number) {
  ENTER(cuDeviceGet, 1);
  *device = number;
  return number >= 0 && number < device_count() ? 0 : INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
  ENTER(cuDeviceGetName, 1);
  snprintf(name, (size_t)size, "Fake GPU %d", device);
  return 0;
}

CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device) {
  ENTER(cuDeviceGetPCIBusId, 1);
  snprintf(id, (size_t)size, "0000:%02X:00.0", device + 1);
  return 0;
}

CUresult cuDeviceTotalMem_v2(size_t *size, CUdevice device) {
  ENTER(cuDeviceTotalMem, 1);
  *size = MEMORY;
  return device < 0;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  ENTER(cuDeviceGetAttribute, 1);
  switch (attribute) {
  case 75: /* compute capability, major */
    *value = 9;
    break;
  case 76:
    *value = device; /* minor, so that devices differ */
    break;
  case 16: /* multiprocessors */
    *value = 132;
    break;
  case 13: /* clock rate */
    *value = 1980000;
    break;
  case 36: /* that of memory: not told, as newer drivers do */
    *value = 0;
    break;
  case 37: /* bus width */
    *value = 5120;
    break;
  default:
    return INVALID_VALUE;
  }
  return 0;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
  ENTER(cuDeviceComputeCapability, 1);
  *major = 9;
  *minor = device;
  return 0;
}

CUresult cuDevicePrimaryCtxRetain(void **context, CUdevice device) {
  ENTER(cuDevicePrimaryCtxRetain, 1);
  if (sticky)
    return sticky;
  contexts++;
  *context = (void *)(size_t)(device + 1);
  return 0;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  ENTER(cuDevicePrimaryCtxRelease, 1);
  if (contexts == 0 || device < 0)
    return INVALID_CONTEXT;
  contexts--;
  return 0;
}

CUresult cuCtxSetCurrent(void *context) {
  ENTER(cuCtxSetCurrent, 1);
  current = context != NULL;
  return sticky;
}

CUresult cuCtxPushCurrent_v2(void *context) {
  ENTER(cuCtxPushCurrent, 1);
  current = context != NULL;
  return sticky;
}

CUresult cuCtxPopCurrent_v2(void **context) {
  ENTER(cuCtxPopCurrent, 1);
  if (context)
    *context = (void *)1;
  return 0; /* it stays current for what PyCUDA gives back later */
}

CUresult cuCtxGetDevice(CUdevice *device) {
  ENTER(cuCtxGetDevice, 2);
  *device = 0;
  return 0;
}

CUresult cuCtxSynchronize(void) {
  ENTER(cuCtxSynchronize, 2);
  return run_all();
}

/* The image has no size; as an ELF file it ends with its section headers. */
CUresult cuModuleLoadData(Module **module, const void *image) {
  ENTER(cuModuleLoadData, 2);
  const Elf64_Ehdr *head = image;
  if (memcmp(head->e_ident, ELFMAG, SELFMAG))
    return INVALID_IMAGE;
  size_t size = head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
  Module *made = calloc(1, sizeof *made);
  made->file = memfd_create("module", 0);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", made->file);
  if (write(made->file, image, size) != (ssize_t)size || !(made->library = dlopen(path, RTLD_NOW))) {
    close(made->file);
    free(made);
    return INVALID_IMAGE;
  }
  alive_modules++;
  *module = made;
  return 0;
}

CUresult cuModuleLoadDataEx(Module **module, const void *image, unsigned count, int *options, void **values) {
  ENTER(cuModuleLoadDataEx, 2);
  for (unsigned i = 0; i < count; i++)
    if (options[i] == 4 || options[i] == 6) /* sizes of logs become how much was written */
      values[i] = NULL;
    else
      *(char *)values[i] = 0;
  return cuModuleLoadData(module, image);
}

CUresult cuModuleUnload(Module *module) {
  ENTER(cuModuleUnload, 2);
  dlclose(module->library);
  close(module->file);
  free(module);
  alive_modules--;
  return 0;
}

CUresult cuModuleGetFunction(Function **function, Module *module, const char *name) {
  ENTER(cuModuleGetFunction, 2);
  char symbol[256];
  snprintf(symbol, sizeof symbol, "%s_entry", name);
  Entry *entry = (Entry *)dlsym(module->library, symbol);
  snprintf(symbol, sizeof symbol, "%s_sizes", name);
  const unsigned *sizes = dlsym(module->library, symbol);
  if (!entry || !sizes)
    return NOT_FOUND;
  *function = calloc(1, sizeof **function);
  (*function)->entry = entry;
  (*function)->sizes = sizes;
  (*function)->most_shared = 48 * 1024;
  return 0;
}

CUresult cuFuncSetAttribute(Function *function, int attribute, int value) {
  ENTER(cuFuncSetAttribute, 2);
  if (attribute == 8 && value > 227 * 1024)
    return INVALID_VALUE;
  if (attribute == 9 && (value < -1 || value > 100))
    return INVALID_VALUE;
  if (attribute == 8)
    function->most_shared = value;
  return attribute == 8 || attribute == 9 ? 0 : INVALID_VALUE;
}

static CUresult new_block(void **place, size_t size, int is_pinned) {
  if (!size)
    return INVALID_VALUE;
  if (!is_pinned && used + size > MEMORY)
    return OUT_OF_MEMORY;
  for (int i = 0; i < MOST; i++)
    if (!blocks[i].base) {
      unsigned char *base = NULL;
      if (posix_memalign((void **)&base, 256, size + 2 * CANARY))
        return OUT_OF_MEMORY;
      memset(base, CANARY_BYTE, size + 2 * CANARY);
      blocks[i] = (Block){base, size, is_pinned};
      used += is_pinned ? 0 : size;
      *place = base + CANARY;
      return 0;
    }
  return OUT_OF_MEMORY;
}

static CUresult free_block(void *place, int is_pinned) {
  Block *block = block_of(place, 1);
  if (!block || block->base + CANARY != place || block->is_pinned != is_pinned)
    return INVALID_VALUE;
  CUresult status = run_all();
  if (status)
    return status;
  memset(block->base, FREE_BYTE, block->size + 2 * CANARY);
  used -= is_pinned ? 0 : block->size;
  free(block->base);
  memset(block, 0, sizeof *block);
  return 0;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size) {
  ENTER(cuMemAlloc, 2);
  void *place = NULL;
  CUresult status = new_block(&place, size, 0);
  *address = (CUdeviceptr)place;
  return status;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  ENTER(cuMemFree, 2);
  return free_block((void *)address, 0);
}

CUresult cuMemHostAlloc(void **place, size_t size, unsigned flags) {
  ENTER(cuMemHostAlloc, 2);
  return flags ? INVALID_VALUE : new_block(place, size, 1);
}

CUresult cuMemFreeHost(void *place) {
  ENTER(cuMemFreeHost, 2);
  return free_block(place, 1);
}

static CUresult copy(int kind, void *to, const void *from, size_t size, Stream *stream) {
  const Block *block = block_of(kind == TO_HOST ? from : to, size);
  if (!is_stream(stream))
    return INVALID_HANDLE;
  if (!block || block->is_pinned)
    return INVALID_VALUE;
  Operation *it = put(stream, kind);
  it->to = to;
  it->from = from;
  it->size = size;
  return 0;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, Stream *stream) {
  ENTER(cuMemcpyHtoDAsync, 2);
  return copy(TO_DEVICE, (void *)to, from, size, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, Stream *stream) {
  ENTER(cuMemcpyDtoHAsync, 2);
  return copy(TO_HOST, to, (void *)from, size, stream);
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char byte, size_t size) {
  ENTER(cuMemsetD8, 2);
  CUresult status = copy(FILL, (void *)to, NULL, size, NULL);
  if (!status)
    default_stream.last->byte = byte;
  return status;
}

/* Arguments are copied by the call: from an array of their addresses, or from one structure. */
static CUresult take(Operation *it, void **parameters, void **extra) {
  const unsigned *sizes = it->function->sizes;
  const unsigned char *buffer = NULL;
  size_t offset = 0, length = 0;
  for (void **word = extra; word && *word; word += 2)
    if (*word == (void *)1)
      buffer = word[1];
    else
      length = *(size_t *)word[1];
  if (extra && parameters)
    return INVALID_VALUE;
  for (int i = 0; sizes[2 * i]; i++) {
    unsigned size = sizes[2 * i], alignment = sizes[2 * i + 1];
    offset = (offset + alignment - 1) / alignment * alignment;
    if ((!buffer && !parameters) || (buffer && offset + size > length))
      return INVALID_VALUE;
    memcpy(it->values[i], buffer ? buffer + offset : parameters[i], size);
    offset += size;
  }
  return buffer && offset != length ? INVALID_VALUE : 0;
}

CUresult cuLaunchKernel(Function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, Stream *stream, void **parameters, void **extra) {
  ENTER(cuLaunchKernel, 2);
  if (!is_stream(stream))
    return INVALID_HANDLE;
  if (!gx || !gy || !gz || !bx || !by || !bz || bx * by * bz > 1024 || (int)shared > function->most_shared)
    return INVALID_VALUE;
  Operation kept = {.kind = KERNEL, .function = function, .grid = {gx, gy, gz}, .block = {bx, by, bz}};
  CUresult status = take(&kept, parameters, extra);
  if (status)
    return status;
  Operation *it = put(stream, KERNEL);
  kept.number = it->number;
  *it = kept;
  return 0;
}

/* PyCUDA calls it before each launch, which has a shape of its own. */
CUresult cuFuncSetBlockShape(Function *function, int x, int y, int z) {
  ENTER(cuFuncSetBlockShape, 2);
  return function && x > 0 && y > 0 && z > 0 ? 0 : INVALID_VALUE;
}

CUresult cuStreamCreate(Stream **stream, unsigned flags) {
  ENTER(cuStreamCreate, 2);
  if (flags != 1) /* only streams that do not wait for the default one are asked for */
    return INVALID_VALUE;
  for (int i = 0; i < MOST; i++)
    if (!streams[i]) {
      alive_streams++;
      *stream = streams[i] = calloc(1, sizeof **stream);
      return 0;
    }
  return OUT_OF_MEMORY;
}

CUresult cuStreamDestroy_v2(Stream *stream) {
  ENTER(cuStreamDestroy, 2);
  if (!stream || !is_stream(stream))
    return INVALID_HANDLE;
  run_until(stream, operations); /* what it has to do is done all the same */
  for (int i = 0; i < MOST; i++)
    if (streams[i] == stream)
      streams[i] = NULL;
  alive_streams--;
  return 0; /* its memory stays: events may name it */
}

CUresult cuStreamSynchronize(Stream *stream) {
  ENTER(cuStreamSynchronize, 2);
  if (!is_stream(stream))
    return INVALID_HANDLE;
  run_until(stream ? stream : &default_stream, operations);
  return sticky;
}

CUresult cuStreamWaitEvent(Stream *stream, Event *event, unsigned flags) {
  ENTER(cuStreamWaitEvent, 2);
  if (!is_stream(stream) || flags)
    return INVALID_HANDLE;
  if (event->stream) { /* one that was never recorded is not waited for */
    Operation *it = put(stream, WAIT);
    it->other = event->stream;
    it->awaited = event->number;
  }
  return 0;
}

CUresult cuEventCreate(Event **event, unsigned flags) {
  ENTER(cuEventCreate, 2);
  alive_events++;
  *event = calloc(1, sizeof **event);
  return flags ? INVALID_VALUE : 0;
}

CUresult cuEventDestroy_v2(Event *event) {
  ENTER(cuEventDestroy, 2);
  alive_events -= event != NULL;
  return 0; /* its memory stays: it may have to happen yet */
}

CUresult cuEventRecord(Event *event, Stream *stream) {
  ENTER(cuEventRecord, 2);
  if (!is_stream(stream))
    return INVALID_HANDLE;
  Operation *it = put(stream, RECORD);
  it->event = event;
  event->stream = stream ? stream : &default_stream;
  event->number = it->number;
  event->is_done = 0;
  return 0;
}

CUresult cuEventSynchronize(Event *event) {
  ENTER(cuEventSynchronize, 2);
  if (event->stream)
    run_until(event->stream, event->number);
  return sticky;
}

CUresult cuEventElapsedTime_v2(float *milliseconds, Event *begin, Event *end) {
  ENTER(cuEventElapsedTime, 2);
  if (!begin->stream || !end->stream)
    return INVALID_HANDLE;
  if (!begin->is_done || !end->is_done)
    return NOT_READY;
  *milliseconds = (float)(end->time - begin->time);
  return 0;
}

CUresult cuEventElapsedTime(float *milliseconds, Event *begin, Event *end) {
  return cuEventElapsedTime_v2(milliseconds, begin, end);
}

/* The newest form of a function, for libraries that look functions up by this one. */
CUresult cuGetProcAddress_v2(const char *name, void **function, int version, unsigned long long flags, int *found) {
  static const char *forms[] = {"%s_v2", "%s"};
  char symbol[256];
  *function = NULL;
  for (int i = 0; i < 2 && !*function; i++) {
    snprintf(symbol, sizeof symbol, forms[i], name);
    *function = dlsym(RTLD_DEFAULT, symbol);
    if (!*function) { /* this library may be loaded for its user alone */
      Dl_info here;
      if (dladdr((void *)cuInit, &here)) {
        void *own = dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD);
        *function = own ? dlsym(own, symbol) : NULL;
      }
    }
  }
  if (found)
    *found = *function ? 0 : 1;
  return *function || version < 0 || flags > 2 ? 0 : NOT_FOUND;
}

CUresult cuGetProcAddress(const char *name, void **function, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(name, function, version, flags, NULL);
}

/* NVRTC asks for what is not documented, and does without. */
CUresult cuGetExportTable(const void **table, const void *id) {
  *table = NULL;
  return id ? NOT_FOUND : INVALID_VALUE;
}

/* Functions that PyCUDA is linked with and nobody here calls. */
#define REFUSED(NAME) CUresult NAME(void) { return 801; }
REFUSED(cuArray3DCreate_v2) REFUSED(cuArray3DGetDescriptor_v2) REFUSED(cuArrayCreate_v2) REFUSED(cuArrayDestroy)
REFUSED(cuArrayGetDescriptor_v2) REFUSED(cuCtxAttach) REFUSED(cuCtxCreate_v4) REFUSED(cuCtxDetach)
REFUSED(cuCtxDisablePeerAccess) REFUSED(cuCtxEnablePeerAccess) REFUSED(cuCtxGetApiVersion)
REFUSED(cuCtxGetCacheConfig) REFUSED(cuCtxGetLimit) REFUSED(cuCtxGetSharedMemConfig) REFUSED(cuCtxSetCacheConfig)
REFUSED(cuCtxSetLimit) REFUSED(cuCtxSetSharedMemConfig) REFUSED(cuDeviceCanAccessPeer) REFUSED(cuDeviceGetByPCIBusId)
REFUSED(cuEventQuery) REFUSED(cuFuncGetAttribute) REFUSED(cuFuncSetCacheConfig)
REFUSED(cuFuncSetSharedSize) REFUSED(cuIpcCloseMemHandle) REFUSED(cuIpcGetEventHandle) REFUSED(cuIpcGetMemHandle)
REFUSED(cuIpcOpenEventHandle) REFUSED(cuIpcOpenMemHandle_v2) REFUSED(cuLaunch) REFUSED(cuLaunchGrid)
REFUSED(cuLaunchGridAsync) REFUSED(cuLinkAddData_v2) REFUSED(cuLinkAddFile_v2) REFUSED(cuLinkComplete)
REFUSED(cuLinkCreate_v2) REFUSED(cuLinkDestroy) REFUSED(cuMemAllocManaged) REFUSED(cuMemAllocPitch_v2)
REFUSED(cuMemGetAddressRange_v2) REFUSED(cuMemGetInfo_v2) REFUSED(cuMemHostGetDevicePointer_v2)
REFUSED(cuMemHostGetFlags) REFUSED(cuMemHostRegister_v2) REFUSED(cuMemHostUnregister) REFUSED(cuMemcpy2DAsync_v2)
REFUSED(cuMemcpy2DUnaligned_v2) REFUSED(cuMemcpy2D_v2) REFUSED(cuMemcpy3DAsync_v2) REFUSED(cuMemcpy3DPeer)
REFUSED(cuMemcpy3DPeerAsync) REFUSED(cuMemcpy3D_v2) REFUSED(cuMemcpyAtoA_v2) REFUSED(cuMemcpyAtoD_v2)
REFUSED(cuMemcpyAtoH_v2) REFUSED(cuMemcpyDtoA_v2) REFUSED(cuMemcpyDtoDAsync_v2) REFUSED(cuMemcpyDtoD_v2)
REFUSED(cuMemcpyDtoH_v2) REFUSED(cuMemcpyHtoA_v2) REFUSED(cuMemcpyHtoD_v2) REFUSED(cuMemcpyPeer)
REFUSED(cuMemcpyPeerAsync) REFUSED(cuMemsetD16Async) REFUSED(cuMemsetD16_v2) REFUSED(cuMemsetD2D16Async)
REFUSED(cuMemsetD2D16_v2) REFUSED(cuMemsetD2D32Async) REFUSED(cuMemsetD2D32_v2) REFUSED(cuMemsetD2D8Async)
REFUSED(cuMemsetD2D8_v2) REFUSED(cuMemsetD32Async) REFUSED(cuMemsetD32_v2) REFUSED(cuMemsetD8Async)
REFUSED(cuModuleGetGlobal_v2) REFUSED(cuModuleGetSurfRef) REFUSED(cuModuleGetTexRef) REFUSED(cuModuleLoad)
REFUSED(cuParamSetSize) REFUSED(cuParamSetTexRef) REFUSED(cuParamSetf) REFUSED(cuParamSeti) REFUSED(cuParamSetv)
REFUSED(cuProfilerInitialize) REFUSED(cuProfilerStart) REFUSED(cuProfilerStop) REFUSED(cuStreamAttachMemAsync)
REFUSED(cuStreamQuery) REFUSED(cuSurfRefGetArray) REFUSED(cuSurfRefSetArray) REFUSED(cuTexRefCreate)
REFUSED(cuTexRefDestroy) REFUSED(cuTexRefGetAddressMode) REFUSED(cuTexRefGetAddress_v2) REFUSED(cuTexRefGetArray)
REFUSED(cuTexRefGetFilterMode) REFUSED(cuTexRefGetFlags) REFUSED(cuTexRefGetFormat) REFUSED(cuTexRefSetAddress2D_v3)
REFUSED(cuTexRefSetAddressMode) REFUSED(cuTexRefSetAddress_v2) REFUSED(cuTexRefSetArray)
REFUSED(cuTexRefSetFilterMode) REFUSED(cuTexRefSetFlags) REFUSED(cuTexRefSetFormat)
