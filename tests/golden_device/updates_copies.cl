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

void orio_atomic_greatest_float_local(volatile __local float *address, const float value)
{
  volatile __local uint *const place = (volatile __local uint *)address;
  union { uint word; float value; } before, after;
  uint found = *place;
  do {
    before.word = found;
    after.value = value > before.value ? value : before.value;
    found = atomic_cmpxchg(place, before.word, after.word);
  } while (found != before.word);
}

__kernel void orio_opencl_k_0(__global const int *restrict c, __global int *restrict counts,
    __global const float *restrict f, __global float *restrict top, const uint orio_trips_i)
{
  const int orio_member = get_local_id(0);
  __local int orio_own_counts[64];
  __local float orio_own_top[64];
  for (int orio_slot = orio_member; orio_slot < 64; orio_slot += 64) {
    orio_own_counts[orio_slot] = 0;
  }
  for (int orio_slot = orio_member; orio_slot < 64; orio_slot += 64) {
    orio_own_top[orio_slot] = -INFINITY;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint orio_i = get_global_id(0); orio_i < orio_trips_i; orio_i += get_global_size(0)) {
    const int i = (int)orio_i;
    atomic_add(&orio_own_counts[c[i]], 1);
    orio_atomic_greatest_float_local(&orio_own_top[c[i]], f[i]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int orio_slot = orio_member; orio_slot < 64; orio_slot += 64) {
    if (orio_own_counts[orio_slot] != 0) {
      atomic_add(&counts[orio_slot], orio_own_counts[orio_slot]);
    }
  }
  for (int orio_slot = orio_member; orio_slot < 64; orio_slot += 64) {
    if (orio_own_top[orio_slot] != -INFINITY) {
      orio_atomic_greatest_float(&top[orio_slot], orio_own_top[orio_slot]);
    }
  }
}

