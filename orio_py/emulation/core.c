/* One multiprocessor, event by event: the model of `orio_py.emulation.core`, whose docstrings say what all of this means.
   Both give the same numbers, which tests compare. */
#include <stdint.h>
#include <stdlib.h>

#define BARRIERS 6
#define RING 8
#define HISTORY 64
#define DEPENDENCES 3
#define NEVER 1e300

enum { FIXED, VARIABLE, MEMORY, ASYNC_COPY, COMMIT, SYNCHRONISE, DRAIN, EXIT };
enum { GREEDY_THEN_OLDEST, ROUND_ROBIN, OLDEST };

struct steps {
  const int32_t *kind, *pipe, *second, *stall, *write, *read, *wait, *keep, *region, *site, *dependence;
  const double *amount, *l2, *dram, *l2_chance, *dram_chance;
};

struct machine {
  int32_t resources, schedulers, width, policy, l2, dram, barrier;
  const int32_t *once;
  const double *latency, *gap;
  double read_latency, refill, queue;
};

struct work {
  int32_t warps, slots, blocks;
  const int32_t *first, *count; /* for each warp of a block: where its steps are */
};

struct result {
  double *block_end, *busy, *site_wait;
  int64_t issued, event_count, most_events;
  double *event_time;
  int32_t *event_warp, *event_step;
};

struct warp {
  double ready, released[BARRIERS], ring[BARRIERS][RING], issued[HISTORY], last, copied;
  int32_t next, end, begin, block, number, marks[BARRIERS], alive, waits;
  int64_t order;
};

struct state {
  const struct steps *s;
  const struct machine *m;
  const struct work *k;
  struct result *out;
  struct warp *warps;
  double *admit, *free_at, *best_time;
  int32_t *best_warp, *last_warp, *left, *arrived;
  int32_t total, started;
  int64_t order;
};

static double greater(double a, double b) { return a > b ? a : b; }

static double *admission(struct state *x, int32_t resource, int32_t scheduler)
{
  return &x->admit[resource * x->m->schedulers + (x->m->once[resource] ? 0 : scheduler)];
}

static double chance(int32_t warp, int32_t step)
{
  uint32_t mixed = (uint32_t)warp * 2654435761u + (uint32_t)step * 40503u;
  return (mixed >> 8 & 0xffff) / 65536.0;
}

/* When the warp's next instruction has what it waits for. */
static void prepare(struct state *x, struct warp *w, double earliest)
{
  const struct steps *s = x->s;
  int32_t step = w->next, k;

  w->ready = earliest;
  for (k = 0; k < BARRIERS; k++)
    if (s->wait[step] >> k & 1)
      w->ready = greater(w->ready, w->released[k]);
  for (k = 0; k < DEPENDENCES; k++) {
    int32_t distance = s->dependence[DEPENDENCES * step + k], from = step - distance;
    if (distance > 0 && distance < HISTORY && from >= w->begin)
      w->ready = greater(w->ready, w->issued[from % HISTORY]
                                       + x->m->latency[s->region[from] * x->m->resources + s->pipe[from]]);
  }
  if (s->kind[step] == DRAIN) {
    int32_t barrier = s->write[step], rest = w->marks[barrier] - s->keep[step];
    for (k = rest > RING ? rest - RING : 0; k < rest; k++)
      w->ready = greater(w->ready, w->ring[barrier][k % RING]);
  }
}

/* When it can be issued: units of fixed latency have no queue, that of memory is as long as its latency. */
static double issuable(struct state *x, struct warp *w, int32_t scheduler)
{
  const struct steps *s = x->s;
  const struct machine *m = x->m;
  int32_t step = w->next, region = s->region[step] * m->resources;
  double at = w->ready;

  if (w->waits)
    return NEVER;
  if (s->kind[step] == FIXED && s->pipe[step] >= 0) {
    at = greater(at, *admission(x, s->pipe[step], scheduler));
    if (s->second[step] >= 0)
      at = greater(at, *admission(x, s->second[step], scheduler));
  } else if (s->kind[step] == MEMORY || s->kind[step] == ASYNC_COPY) {
    if (s->l2[step] > 0)
      at = greater(at, *admission(x, m->l2, 0) - m->queue * m->latency[region + m->l2]);
    if (s->dram[step] > 0)
      at = greater(at, *admission(x, m->dram, 0) - m->queue * m->latency[region + m->dram]);
  }
  return at;
}

static void choose(struct state *x, int32_t scheduler)
{
  double least = NEVER, at;
  int32_t w, best = -1, previous = x->last_warp[scheduler];
  int64_t order = 0;

  for (w = scheduler; w < x->total; w += x->m->schedulers)
    if (x->warps[w].alive && (at = issuable(x, &x->warps[w], scheduler)) < least)
      least = at;
  at = greater(least, x->free_at[scheduler]);
  for (w = scheduler; least < NEVER && w < x->total; w += x->m->schedulers) {
    int64_t mine;
    if (!x->warps[w].alive || issuable(x, &x->warps[w], scheduler) > at)
      continue;
    mine = x->warps[w].order;
    if (x->m->policy == GREEDY_THEN_OLDEST && w == previous)
      mine = -1;
    if (x->m->policy == ROUND_ROBIN)
      mine = (w - previous - 1 + 2 * x->total) % x->total;
    if (best < 0 || mine < order) {
      best = w;
      order = mine;
    }
  }
  x->best_warp[scheduler] = best;
  x->best_time[scheduler] = best < 0 ? NEVER : at;
}

static void start(struct state *x, int32_t slot, double at)
{
  int32_t k, b;

  x->left[slot] = x->k->warps;
  x->arrived[slot] = 0;
  for (k = 0; k < x->k->warps; k++) {
    struct warp *w = &x->warps[slot * x->k->warps + k];
    for (b = 0; b < BARRIERS; b++) {
      w->released[b] = 0;
      w->marks[b] = 0;
    }
    w->begin = w->next = x->k->first[k];
    w->end = w->begin + x->k->count[k];
    w->block = x->started;
    w->number = x->started * x->k->warps + k;
    w->order = x->order++;
    w->alive = 1;
    w->waits = 0;
    w->copied = 0;
    w->last = at;
    prepare(x, w, at);
  }
  x->started++;
}

static void dirty(struct state *x, int32_t slot)
{
  int32_t k;
  for (k = 0; k < x->k->warps; k++) {
    int32_t scheduler = (slot * x->k->warps + k) % x->m->schedulers;
    x->best_warp[scheduler] = -2;
  }
}

/* All warps of the block that are left have come to the barrier. */
static void release(struct state *x, int32_t slot, double at)
{
  int32_t k;
  x->arrived[slot] = 0;
  for (k = 0; k < x->k->warps; k++) {
    struct warp *w = &x->warps[slot * x->k->warps + k];
    if (w->alive && w->waits) {
      w->waits = 0;
      prepare(x, w, at);
    }
  }
  dirty(x, slot);
}

static double occupy(struct state *x, int32_t resource, int32_t scheduler, double at, double amount, int32_t region)
{
  double *admit = admission(x, resource, scheduler), begin = greater(at, *admit);
  double used = x->m->gap[region + resource] * amount;
  *admit = begin + used;
  x->out->busy[resource] += used;
  return begin;
}

/* When the result of a step that is issued now is there. */
static double finish(struct state *x, struct warp *w, int32_t step, int32_t scheduler, double at, double *begin)
{
  const struct steps *s = x->s;
  const struct machine *m = x->m;
  int32_t region = s->region[step] * m->resources, pipe = s->pipe[step];
  double end, u;

  *begin = at;
  if (pipe < 0)
    return at;
  *begin = occupy(x, pipe, scheduler, at, s->amount[step], region);
  if (s->second[step] >= 0)
    occupy(x, s->second[step], scheduler, at, 1.0, region);
  end = *begin + m->gap[region + pipe] * greater(s->amount[step] - 1.0, 0.0) + m->latency[region + pipe];
  if (s->kind[step] != MEMORY && s->kind[step] != ASYNC_COPY)
    return end;
  u = chance(w->number, step);
  if (s->l2[step] > 0) {
    double second = occupy(x, m->l2, 0, *begin, s->l2[step], region);
    if (u < s->l2_chance[step])
      end = greater(end, second + m->gap[region + m->l2] * s->l2[step] + m->latency[region + m->l2]);
    if (s->dram[step] > 0) {
      double third = occupy(x, m->dram, 0, second, s->dram[step], region);
      if (u < s->dram_chance[step])
        end = greater(end, third + m->gap[region + m->dram] * s->dram[step] + m->latency[region + m->dram]);
    }
  }
  return end;
}

static void leave(struct state *x, int32_t index, double at)
{
  int32_t slot = index / x->k->warps;
  struct warp *w = &x->warps[index];

  w->alive = 0;
  x->left[slot]--;
  if (x->left[slot] == 0) {
    x->out->block_end[w->block] = at + 1;
    if (x->started < x->k->blocks) {
      start(x, slot, at + x->m->refill);
      dirty(x, slot);
    }
  } else if (x->arrived[slot] == x->left[slot])
    release(x, slot, at);
}

static void issue(struct state *x, int32_t scheduler)
{
  const struct steps *s = x->s;
  int32_t index = x->best_warp[scheduler], k;
  struct warp *w = &x->warps[index];
  double at = x->best_time[scheduler], begin, end;
  int32_t step = w->next, slot = index / x->k->warps;

  x->out->site_wait[s->site[step]] += at - w->last;
  if (x->out->event_count < x->out->most_events) {
    x->out->event_time[x->out->event_count] = at;
    x->out->event_warp[x->out->event_count] = index;
    x->out->event_step[x->out->event_count++] = step;
  }
  x->out->issued++;
  x->last_warp[scheduler] = index;
  x->free_at[scheduler] = at + 1.0 / x->m->width;
  end = finish(x, w, step, scheduler, at, &begin);
  w->issued[step % HISTORY] = at;
  w->last = at + 1;
  if (s->kind[step] == ASYNC_COPY)
    w->copied = greater(w->copied, end);
  if (s->kind[step] == COMMIT)
    end = greater(at, w->copied);
  k = s->write[step];
  if (k >= 0 && s->kind[step] != DRAIN) {
    w->released[k] = greater(w->released[k], end);
    w->ring[k][w->marks[k]++ % RING] = end;
  }
  k = s->read[step];
  if (k >= 0)
    w->released[k] = greater(w->released[k], begin + x->m->read_latency);
  w->next++;
  x->best_warp[scheduler] = -2;
  if (w->next == w->end) {
    leave(x, index, at);
    return;
  }
  prepare(x, w, at + (s->stall[step] > 1 ? s->stall[step] : 1));
  if (s->kind[step] == SYNCHRONISE) {
    w->waits = 1;
    x->arrived[slot]++;
    if (x->arrived[slot] == x->left[slot])
      release(x, slot, at + x->m->latency[s->region[step] * x->m->resources + x->m->barrier]);
  }
}

static int go_on(struct state *x)
{
  for (;;) {
    int32_t k, best = 0;
    for (k = 0; k < x->m->schedulers; k++) {
      if (x->best_warp[k] == -2)
        choose(x, k);
      if (x->best_time[k] < x->best_time[best])
        best = k;
    }
    if (x->best_time[best] >= NEVER)
      return x->started == x->k->blocks;
    /* Others may have filled the queues of memory meanwhile. */
    if (issuable(x, &x->warps[x->best_warp[best]], best) > x->best_time[best]) {
      x->best_warp[best] = -2;
      continue;
    }
    issue(x, best);
  }
}

int orio_emulate(const struct steps *s, const struct machine *m, const struct work *k, struct result *out)
{
  struct state x = {s, m, k, out};
  int32_t count, done;

  x.total = k->slots * k->warps;
  x.warps = calloc(x.total, sizeof *x.warps);
  x.admit = calloc((size_t)m->resources * m->schedulers, sizeof *x.admit);
  x.free_at = calloc(2 * m->schedulers, sizeof *x.free_at);
  x.best_time = x.free_at + m->schedulers;
  x.best_warp = calloc(2 * m->schedulers + 2 * k->slots, sizeof *x.best_warp);
  if (!x.warps || !x.admit || !x.free_at || !x.best_warp)
    return -1;
  x.last_warp = x.best_warp + m->schedulers;
  x.left = x.last_warp + m->schedulers;
  x.arrived = x.left + k->slots;
  for (count = 0; count < m->schedulers; count++) {
    x.best_warp[count] = -2;
    x.last_warp[count] = -1;
  }
  for (count = 0; count < k->slots && count < k->blocks; count++)
    start(&x, count, 0.0);
  done = go_on(&x);
  free(x.warps);
  free(x.admit);
  free(x.free_at);
  free(x.best_warp);
  return done;
}
