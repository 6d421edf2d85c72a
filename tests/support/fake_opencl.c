/* An OpenCL that computes nothing: it keeps count of objects, checks how they are used, and fails when told to.

   `fake_fail_at(n, status)` lets the n-th call from now on (1 for the next) return `status`; releases and queries
   count as calls, too.  `fake_calls` says how many calls there were, `fake_alive` how many objects live,
   `fake_created` how many were made, `fake_faults` how often a call was given something that it must not be given. */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_opencl.h"

enum { CONTEXT = 1, QUEUE, MEMORY, PROGRAM, KERNEL, EVENT, MOST_PENDING = 64, MOST_NAMES = 8 };

struct object {
  int kind;
  int is_built;
  size_t size;
  struct object *parent;
  char *data;
};

struct pending {
  struct object *queue, *memory;
  const char *from;
  char *to;
  size_t size;
};

static long calls, alive, created, faults, launches, fail_at = -1;
static int chosen = -1;
static cl_int fail_status;
static struct pending pending[MOST_PENDING];
static int pendings;
static struct object *unflushed[MOST_PENDING];
static int made;
static struct fake_device devices[FAKE_MOST_DEVICES];
static int device_count;
static char build_options[256];
static char source_text[65536];
static size_t last_global[3], last_local[3];

static int platform_objects[FAKE_MOST_DEVICES];
static int device_objects[FAKE_MOST_DEVICES];

void fake_reset(void)
{
  calls = faults = launches = created = 0;
  fail_at = -1;
}

void fake_fail_at(long call, int status)
{
  fail_at = calls + call;
  fail_status = status;
}

void fake_set_devices(const struct fake_device *given, int count)
{
  device_count = count;
  memcpy(devices, given, (size_t)count * sizeof *given);
}

long fake_calls(void) { return calls; }
long fake_created(void) { return created; }
long fake_alive(void) { return alive; }
long fake_faults(void) { return faults; }
int fake_has_failed(void) { return fail_at >= 0 && calls >= fail_at; }
const char *fake_source(void) { return source_text; }
const char *fake_options(void) { return build_options; }
int fake_device(void) { return chosen; }
long fake_launches(void) { return launches; }
size_t fake_global(int dimension) { return last_global[dimension]; }
size_t fake_local(int dimension) { return last_local[dimension]; }

static int fails(cl_int *status)
{
  calls++;
  *status = calls == fail_at ? fail_status : CL_SUCCESS;
  return *status != CL_SUCCESS;
}

static void fault(const char *text)
{
  faults++;
  (void)fprintf(stderr, "fake OpenCL: %s\n", text);
}

static struct object *check(void *given, int kind)
{
  struct object *object = given;
  if (object == NULL || object->kind != kind) {
    fault("not such an object");
    abort();
  }
  return object;
}

static void *create(int kind, void *parent, size_t size, cl_int *status)
{
  struct object *object;
  cl_int told;
  if (fails(&told)) {
    *status = told;
    return NULL;
  }
  object = calloc(1, sizeof *object);
  if (object == NULL)
    abort();
  object->kind = kind;
  object->parent = parent;
  object->size = size;
  object->data = size > 0 ? calloc(1, size) : NULL;
  if (size > 0 && object->data == NULL)
    abort();
  alive++;
  created++;
  *status = CL_SUCCESS;
  return object;
}

/* A release that fails releases all the same, so that counts tell of objects that nobody tried to release. */
static cl_int destroy(void *given, int kind)
{
  struct object *object = check(given, kind);
  cl_int status;
  int k;
  (void)fails(&status);
  for (k = 0; k < made; k++)
    if (unflushed[k] == object)
      unflushed[k--] = unflushed[--made];
  for (k = 0; k < pendings; k++)
    if (pending[k].queue == object || pending[k].memory == object)
      fault("released with a copy still to be done");
  free(object->data);
  object->kind = 0;
  free(object);
  alive--;
  return status;
}

static cl_int text_info(const char *text, size_t room, void *value, size_t *size)
{
  size_t needed = strlen(text) + 1;
  if (size != NULL)
    *size = needed;
  if (value == NULL)
    return CL_SUCCESS;
  if (room < needed)
    return CL_INVALID_VALUE;
  memcpy(value, text, needed);
  return CL_SUCCESS;
}

static int device_index(const void *device)
{
  int k;
  for (k = 0; k < device_count; k++)
    if (device == &device_objects[k])
      return k;
  fault("not a device");
  abort();
}

/* A device is of the platform with the number that it names. */
static int platforms(void)
{
  int k, most = 0;
  for (k = 0; k < device_count; k++)
    if (devices[k].platform >= most)
      most = devices[k].platform + 1;
  return most;
}

cl_int clGetPlatformIDs(cl_uint entries, cl_platform_id *found, cl_uint *count)
{
  cl_int status;
  cl_uint k;
  if (fails(&status))
    return status;
  *count = (cl_uint)platforms();
  for (k = 0; k < *count && k < entries; k++)
    found[k] = (cl_platform_id)(void *)&platform_objects[k];
  return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void *value, size_t *size)
{
  cl_int status;
  char name[64];
  int number = (int)((int *)(void *)platform - platform_objects);
  int k;
  if (fails(&status))
    return status;
  for (k = 0; what == CL_PLATFORM_VERSION && k < device_count; k++)
    if (devices[k].platform == number)
      return text_info(devices[k].version, room, value, size);
  if (what == CL_PLATFORM_VERSION)
    return text_info("OpenCL 9.9", room, value, size);
  (void)snprintf(name, sizeof name, "Platform %d", number);
  return what == CL_PLATFORM_NAME ? text_info(name, room, value, size) : CL_INVALID_VALUE;
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint entries, cl_device_id *found,
                      cl_uint *count)
{
  int number = (int)((int *)(void *)platform - platform_objects);
  int k;
  cl_int status;
  (void)type;
  if (fails(&status))
    return status;
  *count = 0;
  for (k = 0; k < device_count; k++)
    if (devices[k].platform == number && *count < entries)
      found[(*count)++] = (cl_device_id)(void *)&device_objects[k];
  return *count > 0 ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *value, size_t *size)
{
  int k = device_index(device);
  cl_bool yes = CL_TRUE;
  cl_device_fp_config doubles = devices[k].has_double ? 63 : 0;
  cl_device_type type = (cl_device_type)devices[k].type;
  cl_int status;
  if (fails(&status))
    return status;
  switch (what) {
  case CL_DEVICE_TYPE: memcpy(value, &type, sizeof type); return CL_SUCCESS;
  case CL_DRIVER_VERSION: return text_info("driver 77", room, value, size);
  case CL_DEVICE_NAME: return text_info(devices[k].name, room, value, size);
  case CL_DEVICE_AVAILABLE:
  case CL_DEVICE_COMPILER_AVAILABLE: memcpy(value, &yes, sizeof yes); return CL_SUCCESS;
  case CL_DEVICE_DOUBLE_FP_CONFIG: memcpy(value, &doubles, sizeof doubles); return CL_SUCCESS;
  default: return CL_INVALID_VALUE;
  }
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *given,
                           void (*notify)(const char *, const void *, size_t, void *), void *data, cl_int *status)
{
  (void)properties, (void)notify, (void)data;
  if (count != 1)
    fault("a context of several devices");
  chosen = device_index(given[0]);
  return create(CONTEXT, NULL, 0, status);
}

cl_int clReleaseContext(cl_context context) { return destroy(context, CONTEXT); }

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties asked,
                                      cl_int *status)
{
  (void)device_index(device);
  (void)asked;
  return create(QUEUE, check(context, CONTEXT), 0, status);
}

cl_int clReleaseCommandQueue(cl_command_queue queue) { return destroy(queue, QUEUE); }

/* What others wait for has to be handed to the device before (OpenCL 1.2, section 5.13). */
cl_int clFlush(cl_command_queue queue)
{
  cl_int status;
  int k, kept = 0;
  if (fails(&status))
    return status;
  for (k = 0; k < made; k++) {
    if (unflushed[k]->parent == check(queue, QUEUE))
      unflushed[k]->is_built = 1;
    else
      unflushed[kept++] = unflushed[k];
  }
  made = kept;
  return CL_SUCCESS;
}

/* Copies are done as late as they may be, so that memory which is gone by then is noticed. */
static void finish(struct object *queue)
{
  int k, kept = 0;
  for (k = 0; k < pendings; k++) {
    if (pending[k].queue == queue)
      memcpy(pending[k].to, pending[k].from, pending[k].size);
    else
      pending[kept++] = pending[k];
  }
  pendings = kept;
}

cl_int clFinish(cl_command_queue queue)
{
  cl_int status;
  (void)fails(&status);
  finish(check(queue, QUEUE));
  return status;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *status)
{
  (void)flags;
  if (size == 0 || host != NULL)
    fault("a buffer without size, or with host memory");
  if (size > (size_t)1 << 40) {
    *status = CL_INVALID_BUFFER_SIZE;
    return NULL;
  }
  return create(MEMORY, check(context, CONTEXT), size, status);
}

cl_int clReleaseMemObject(cl_mem memory) { return destroy(memory, MEMORY); }

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                     const size_t *lengths, cl_int *status)
{
  cl_uint k;
  if (lengths != NULL)
    fault("lengths of strings that end by themselves");
  source_text[0] = '\0';
  for (k = 0; k < count; k++)
    strncat(source_text, strings[k], sizeof source_text - strlen(source_text) - 1);
  return create(PROGRAM, check(context, CONTEXT), 0, status);
}

/* Programs are not kept here. */
cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *given, const size_t *lengths,
                                     const unsigned char **binaries, cl_int *taken, cl_int *status)
{
  (void)context, (void)count, (void)given, (void)lengths, (void)binaries, (void)taken;
  *status = CL_INVALID_BINARY;
  return NULL;
}

cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t room, void *value, size_t *size)
{
  (void)check(program, PROGRAM);
  (void)what, (void)room, (void)value, (void)size;
  return CL_INVALID_VALUE;
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *given, const char *options,
                      void (*notify)(cl_program, void *), void *data)
{
  cl_int status;
  (void)given, (void)notify, (void)data;
  if (count != 1)
    fault("a build for several devices");
  (void)snprintf(build_options, sizeof build_options, "%s", options);
  check(program, PROGRAM)->is_built = !fails(&status);
  return status;
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, size_t room,
                             void *value, size_t *size)
{
  cl_int status;
  (void)check(program, PROGRAM);
  (void)device_index(device);
  if (fails(&status))
    return status;
  return what == CL_PROGRAM_BUILD_LOG ? text_info("fake.cl:3: a mistake", room, value, size) : CL_INVALID_VALUE;
}

cl_int clReleaseProgram(cl_program program) { return destroy(program, PROGRAM); }

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *status)
{
  struct object *built = check(program, PROGRAM);
  if (!built->is_built || strstr(source_text, name) == NULL)
    fault("a kernel that is not in the program");
  return create(KERNEL, built, 0, status);
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
  cl_int status;
  (void)check(kernel, KERNEL);
  if (value == NULL || size == 0 || index > 31)
    fault("an argument without a value");
  (void)fails(&status);
  return status;
}

cl_int clReleaseKernel(cl_kernel kernel) { return destroy(kernel, KERNEL); }

cl_int clReleaseEvent(cl_event event) { return destroy(event, EVENT); }

/* Events of other commands are looked at, and one is made if it is asked for: it belongs to its queue. */
static void use_events(struct object *queue, cl_uint events, const cl_event *wait, cl_event *event)
{
  cl_uint k;
  if ((events == 0) != (wait == NULL))
    fault("a number of events that is not that of the list");
  for (k = 0; k < events; k++)
    if (check(wait[k], EVENT)->is_built == 0 && check(wait[k], EVENT)->parent != queue)
      fault("another queue's event that nobody has flushed");
  if (event == NULL)
    return;
  *event = calloc(1, sizeof(struct object));
  if (*event == NULL)
    abort();
  ((struct object *)*event)->kind = EVENT;
  ((struct object *)*event)->parent = queue;
  alive++;
  created++;
  if (made == MOST_PENDING)
    abort();
  unflushed[made++] = (struct object *)*event;
}

static void queue_copy(struct object *queue, struct object *memory, char *to, const char *from, size_t size)
{
  if (pendings == MOST_PENDING)
    abort();
  pending[pendings].queue = queue;
  pending[pendings].memory = memory;
  pending[pendings].to = to;
  pending[pendings].from = from;
  pending[pendings++].size = size;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset, size_t size,
                            const void *from, cl_uint events, const cl_event *wait, cl_event *event)
{
  struct object *object = check(memory, MEMORY);
  cl_int status;
  if (fails(&status))
    return status;
  if (size == 0 || offset + size > object->size)
    fault("nothing is written, or more than the buffer holds");
  use_events(check(queue, QUEUE), events, wait, event);
  queue_copy(check(queue, QUEUE), object, object->data + offset, from, size);
  if (blocking)
    finish(check(queue, QUEUE));
  return CL_SUCCESS;
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset, size_t size,
                           void *to, cl_uint events, const cl_event *wait, cl_event *event)
{
  struct object *object = check(memory, MEMORY);
  cl_int status;
  if (fails(&status))
    return status;
  if (size == 0 || offset + size > object->size)
    fault("nothing is read, or more than the buffer holds");
  use_events(check(queue, QUEUE), events, wait, event);
  queue_copy(check(queue, QUEUE), object, to, object->data + offset, size);
  if (blocking)
    finish(check(queue, QUEUE));
  return CL_SUCCESS;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint events, const cl_event *wait,
                              cl_event *event)
{
  cl_uint k;
  cl_int status;
  (void)offset;
  (void)check(kernel, KERNEL);
  for (k = 0; k < dimensions; k++) {
    if (global[k] == 0 || local[k] == 0 || global[k] % local[k] != 0)
      fault("a launch that OpenCL 1.2 does not take");
    last_global[k] = global[k];
    last_local[k] = local[k];
  }
  launches++;
  if (fails(&status))
    return status;
  use_events(check(queue, QUEUE), events, wait, event);
  return CL_SUCCESS;
}
