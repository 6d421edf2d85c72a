static int orio_run_group_0(struct orio_failure *orio_failure, const double *D, const double *u, double *ur,
                            const double *Dt, double *us, double *ut, long orio_count_D, long orio_count_u,
                            long orio_count_ur, long orio_count_Dt, long orio_count_us,
                            int orio_local_grad3_mu, int orio_local_grad3_ku, int orio_local_grad3_ju,
                            int orio_local_grad3_iu, long orio_trips_j, long orio_trips_e, long orio_trips_i,
                            long orio_trips_k, long orio_count_u_1, long orio_count_Dt_1, long orio_count_ut)
{
  long orio_elements_u = 0;
  if (orio_count_u > orio_elements_u)
    orio_elements_u = orio_count_u;
  if (orio_count_u_1 > orio_elements_u)
    orio_elements_u = orio_count_u_1;
  long orio_elements_Dt = 0;
  if (orio_count_Dt > orio_elements_Dt)
    orio_elements_Dt = orio_count_Dt;
  if (orio_count_Dt_1 > orio_elements_Dt)
    orio_elements_Dt = orio_count_Dt_1;
  struct orio_kernel *orio_group = &orio_kernels[2];
  const struct orio_argument orio_arrays[] = {
    {ORIO_BUFFER, D, NULL, orio_bytes(orio_count_D, sizeof *D)},
    {ORIO_BUFFER, u, NULL, orio_bytes(orio_elements_u, sizeof *u)},
    {ORIO_BUFFER, ur, ur, orio_bytes(orio_count_ur, sizeof *ur)},
    {ORIO_BUFFER, Dt, NULL, orio_bytes(orio_elements_Dt, sizeof *Dt)},
    {ORIO_BUFFER, us, us, orio_bytes(orio_count_us, sizeof *us)},
    {ORIO_BUFFER, ut, ut, orio_bytes(orio_count_ut, sizeof *ut)},
  };
  void *orio_places[6];
  if (orio_open(orio_group, orio_arrays, 6, orio_places, orio_failure))
    return 1;
  {
    int orio_value_local_grad3_mu = (int)orio_local_grad3_mu;
    int orio_value_local_grad3_ku = (int)orio_local_grad3_ku;
    int orio_value_local_grad3_ju = (int)orio_local_grad3_ju;
    int orio_value_local_grad3_iu = (int)orio_local_grad3_iu;
    unsigned int orio_number_j = (unsigned int)orio_trips_j;
    unsigned int orio_number_e = (unsigned int)orio_trips_e;
    unsigned int orio_number_i = (unsigned int)orio_trips_i;
    unsigned int orio_number_k = (unsigned int)orio_trips_k;
    struct orio_launch orio_launch = {2, {(size_t)orio_trips_e, orio_at_most((size_t)orio_trips_j, 65535)}, {10, 10}};
    void *orio_values[] = {orio_places[0], orio_places[1], orio_places[2], orio_places[3], orio_places[4],
                           &orio_value_local_grad3_mu, &orio_value_local_grad3_ku, &orio_value_local_grad3_ju,
                           &orio_value_local_grad3_iu, &orio_number_j, &orio_number_e, &orio_number_i,
                           &orio_number_k};
    if (orio_start(&orio_kernels[0], &orio_launch, orio_values, orio_streams[0], orio_failure))
      return 1;
  }
  {
    int orio_value_local_grad3_mu = (int)orio_local_grad3_mu;
    int orio_value_local_grad3_ku = (int)orio_local_grad3_ku;
    int orio_value_local_grad3_ju = (int)orio_local_grad3_ju;
    int orio_value_local_grad3_iu = (int)orio_local_grad3_iu;
    unsigned int orio_number_j = (unsigned int)orio_trips_j;
    unsigned int orio_number_e = (unsigned int)orio_trips_e;
    unsigned int orio_number_i = (unsigned int)orio_trips_i;
    unsigned int orio_number_k = (unsigned int)orio_trips_k;
    struct orio_launch orio_launch = {2, {(size_t)orio_trips_e, orio_at_most((size_t)orio_trips_j, 65535)}, {10, 10}};
    void *orio_values[] = {orio_places[1], orio_places[3], orio_places[5], &orio_value_local_grad3_mu,
                           &orio_value_local_grad3_ku, &orio_value_local_grad3_ju, &orio_value_local_grad3_iu,
                           &orio_number_j, &orio_number_e, &orio_number_i, &orio_number_k};
    if (orio_start(&orio_kernels[1], &orio_launch, orio_values, orio_streams[0], orio_failure))
      return 1;
  }
  return orio_close(orio_group, orio_arrays, 6, orio_failure);
}

void orio_cuda_nest_local_grad3_0_to_1(const double *D, const double *u, double *ur, const double *Dt,
                                       double *us, double *ut, long orio_count_D, long orio_count_u,
                                       long orio_count_ur, long orio_count_Dt, long orio_count_us,
                                       int orio_local_grad3_mu, int orio_local_grad3_ku,
                                       int orio_local_grad3_ju, int orio_local_grad3_iu, long orio_trips_j,
                                       long orio_trips_e, long orio_trips_i, long orio_trips_k,
                                       long orio_count_u_1, long orio_count_Dt_1, long orio_count_ut)
{
  struct orio_failure orio_failure = {cudaSuccess, ""};
  struct orio_failure orio_ignored = {cudaSuccess, ""};
  int orio_before = -1;
  if ((orio_trips_j <= 0 || orio_trips_e <= 0 || orio_trips_i <= 0 || orio_trips_k <= 0))
    return;
  orio_lock();
  if (orio_enter(&orio_before, &orio_failure) ||
      orio_run_group_0(&orio_failure, D, u, ur, Dt, us, ut, orio_count_D, orio_count_u, orio_count_ur,
                       orio_count_Dt, orio_count_us, orio_local_grad3_mu, orio_local_grad3_ku,
                       orio_local_grad3_ju, orio_local_grad3_iu, orio_trips_j, orio_trips_e, orio_trips_i,
                       orio_trips_k, orio_count_u_1, orio_count_Dt_1, orio_count_ut))
    orio_release_all(&orio_ignored);
  orio_leave(orio_before, &orio_failure);
  orio_unlock();
  (void)orio_report(&orio_failure, "orio_cuda_nest_local_grad3_0_to_1");
}

/* Whether the loops may run on the device; where not, why they run in C is told once, or to the handler, and is an
   error where ORIO_REQUIRE_DEVICE is set. */
static int orio_may_run(const struct orio_failure *failure, const char *function)
{
  const char *required = getenv("ORIO_REQUIRE_DEVICE");
  int is_told;
  if (failure->status == cudaSuccess)
    return 1;
  orio_lock();
  is_told = orio_is_told && orio_handler == NULL;
  orio_is_told = 1;
  if (orio_handler != NULL || (required != NULL && *required != '\0' && strcmp(required, "0") != 0)) {
    orio_unlock();
    (void)orio_report(failure, function);
    return 0;
  }
  orio_unlock();
  if (!is_told)
    (void)fprintf(stderr, "%s: %.*s; the loops run in C\n", function, (int)strcspn(failure->text, "\n"), failure->text);
  return 0;
}

/* Whether a kernel can run, with memory for arrays of which the sizes are known. */
static int orio_can_run(struct orio_kernel *kernel, const struct orio_argument *arguments, int count,
                        const char *function)
{
  struct orio_failure failure = {cudaSuccess, ""};
  struct orio_failure ignored = {cudaSuccess, ""};
  int is_missing;
  int before = -1;
  orio_lock();
  is_missing = orio_is_missing;
  if (!is_missing && orio_enter(&before, &failure))
    orio_is_missing = 1;
  else if (!is_missing && orio_reserve(kernel, arguments, count, &failure))
    orio_release_kernel(kernel, &ignored);
  if (!is_missing)
    orio_leave(before, &ignored);
  orio_unlock();
  return !is_missing && orio_may_run(&failure, function);
}

int orio_cuda_nest_local_grad3_0_to_1_ready(void)
{
  return orio_can_run(&orio_kernels[0], NULL, 0, "orio_cuda_nest_local_grad3_0_to_1");
}

