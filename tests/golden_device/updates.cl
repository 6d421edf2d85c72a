#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#ifndef cl_khr_int64_base_atomics
#error "the device has no atomic updates of 64 bits (cl_khr_int64_base_atomics)"
#endif
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

void orio_atomic_add_double(volatile __global double *address, const double value)
{
  volatile __global ulong *const place = (volatile __global ulong *)address;
  union { ulong word; double value; } before, after;
  ulong found = *place;
  do {
    before.word = found;
    after.value = before.value + value;
    found = atom_cmpxchg(place, before.word, after.word);
  } while (found != before.word);
}

void orio_atomic_greatest_float(volatile __global float *address, const float value)
{
  volatile __global uint *const place = (volatile __global uint *)address;
  union { uint word; float value; } before, after;
  uint found = *place;
  do {
    before.word = found;
    after.value = value > before.value ? value : before.value;
    found = atomic_cmpxchg(place, before.word, after.word);
  } while (found != before.word);
}

__kernel void orio_opencl_k_0(__global const int *restrict c, __global int *restrict counts,
    __global const double *restrict x, __global double *restrict p,
    __global const float *restrict f, __global float *restrict top, const uint orio_trips_i)
{
  const uint orio_i = get_global_id(0);
  if (orio_i < orio_trips_i) {
    const int i = (int)orio_i;
    atomic_add(&counts[c[i]], 1);
    orio_atomic_add_double(&p[c[i] * 64], x[i]);
    orio_atomic_greatest_float(&top[c[i]], f[i]);
  }
}

