/* What tests can tell and ask the fake OpenCL library. */
#ifndef FAKE_OPENCL_H
#define FAKE_OPENCL_H

#include <stddef.h>

enum { FAKE_MOST_DEVICES = 16 };

/* `type` is OpenCL's number of a kind of device, `version` that of the platform, in its first device. */
struct fake_device {
  int platform;
  const char *name;
  int has_double;
  int type;
  const char *version;
};

void fake_reset(void);
void fake_fail_at(long call, int status);
void fake_set_devices(const struct fake_device *given, int count);
long fake_calls(void);
long fake_alive(void);
long fake_created(void);
long fake_faults(void);
int fake_has_failed(void);
const char *fake_source(void);
const char *fake_options(void);
size_t fake_global(int dimension);
size_t fake_local(int dimension);
int fake_device(void);
long fake_launches(void);

#endif
