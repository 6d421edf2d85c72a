/* One multiprocessor, event by event: the model of `orio_py.emulation.core`, whose docstrings say what all of this means.
   Both give the same numbers, which tests compare. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
  const int32_t *once, *turn;
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

/* What is looked at whenever a warp is chosen, apart from the rest. */
struct candidate {
  double ready; /* NEVER for a warp that waits at a barrier or has ended */
  int32_t first, second; /* admissions of units without a queue, -1: none */
  int32_t l2, dram, region;
  int64_t order;
};

struct warp {
  double released[BARRIERS], ring[BARRIERS][RING], issued[HISTORY], last, copied;
  int32_t next, end, begin, block, number, marks[BARRIERS], alive, waits;
};

struct state {
  const struct steps *s;
  const struct machine *m;
  const struct work *k;
  struct result *out;
  struct warp *warps;
  struct candidate *candidates;
  double *admit, *free_at, *best_time, *served;
  int32_t *best_warp, *last_warp, *left, *arrived;
  int32_t total, started;
  int64_t order;
};

static double greater(double a, double b) { return a > b ? a : b; }

static int32_t unit(const struct state *x, int32_t resource, int32_t scheduler)
{
  return resource < 0 ? -1 : x->m->turn[resource] * x->m->schedulers + (x->m->once[resource] ? 0 : scheduler);
}

static double chance(int32_t warp, int32_t step)
{
  uint32_t mixed = (uint32_t)warp * 2654435761u + (uint32_t)step * 40503u;
  return (mixed >> 8 & 0xffff) / 65536.0;
}

/* When the warp's next instruction has what it waits for, and which units have to be free as well: those of fixed latency
   have no queue, that of memory is as long as its latency. */
static void prepare(struct state *x, int32_t index, double earliest)
{
  const struct steps *s = x->s;
  struct warp *w = &x->warps[index];
  struct candidate *c = &x->candidates[index];
  int32_t step = w->next, scheduler = index % x->m->schedulers, k;

  c->ready = earliest;
  for (k = 0; k < BARRIERS; k++)
    if (s->wait[step] >> k & 1)
      c->ready = greater(c->ready, w->released[k]);
  for (k = 0; k < DEPENDENCES; k++) {
    int32_t distance = s->dependence[DEPENDENCES * step + k], from = step - distance;
    if (distance > 0 && distance < HISTORY && from >= w->begin)
      c->ready = greater(c->ready, w->issued[from % HISTORY]
                                       + x->m->latency[s->region[from] * x->m->resources + s->pipe[from]]);
  }
  if (s->kind[step] == DRAIN) {
    int32_t barrier = s->write[step], rest = w->marks[barrier] - s->keep[step];
    for (k = rest > RING ? rest - RING : 0; k < rest; k++)
      c->ready = greater(c->ready, w->ring[barrier][k % RING]);
  }
  c->first = c->second = c->l2 = c->dram = -1;
  c->region = s->region[step] * x->m->resources;
  if (s->kind[step] == FIXED && s->pipe[step] >= 0) {
    c->first = unit(x, s->pipe[step], scheduler);
    c->second = unit(x, s->second[step], scheduler);
  } else if (s->kind[step] == MEMORY || s->kind[step] == ASYNC_COPY) {
    c->l2 = s->l2[step] > 0 ? unit(x, x->m->l2, 0) : -1;
    c->dram = s->dram[step] > 0 ? unit(x, x->m->dram, 0) : -1;
  }
}

static double issuable(const struct state *x, int32_t index)
{
  const struct candidate *c = &x->candidates[index];
  const struct machine *m = x->m;
  double at = c->ready;

  if (c->first >= 0)
    at = greater(at, x->admit[c->first]);
  if (c->second >= 0)
    at = greater(at, x->admit[c->second]);
  if (c->l2 >= 0)
    at = greater(at, x->admit[c->l2] - m->queue * m->latency[c->region + m->l2]);
  if (c->dram >= 0)
    at = greater(at, x->admit[c->dram] - m->queue * m->latency[c->region + m->dram]);
  return at;
}

static void choose(struct state *x, int32_t scheduler)
{
  double from = x->free_at[scheduler], at = NEVER, time;
  int32_t w, best = -1, previous = x->last_warp[scheduler], step = x->m->schedulers;
  int64_t order = 0;

  /* The greedy choice needs no look at the others. */
  if (x->m->policy == GREEDY_THEN_OLDEST && previous >= 0 && x->candidates[previous].ready <= from
      && issuable(x, previous) <= from) {
    x->best_warp[scheduler] = previous;
    x->best_time[scheduler] = from;
    return;
  }
  /* Of those that can go on by the time that the scheduler is free, the first in order; else of those that can go on first. */
  for (w = scheduler; w < x->total; w += step) {
    const struct candidate *c = &x->candidates[w];
    int64_t mine = c->order;
    if (c->ready > at && best >= 0)
      continue;
    time = issuable(x, w);
    if (time >= NEVER || (best >= 0 && time > at && time > from))
      continue;
    if (time < from)
      time = from;
    if (x->m->policy == GREEDY_THEN_OLDEST && w == previous)
      mine = -1;
    if (x->m->policy == ROUND_ROBIN)
      mine = (w - previous - 1 + 2 * x->total) % x->total;
    if (best < 0 || time < at || mine < order) {
      best = w;
      order = mine;
      at = time;
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
  x->served[slot] = 0;
  for (k = 0; k < x->k->warps; k++) {
    int32_t index = slot * x->k->warps + k;
    struct warp *w = &x->warps[index];
    for (b = 0; b < BARRIERS; b++) {
      w->released[b] = 0;
      w->marks[b] = 0;
    }
    w->begin = w->next = x->k->first[k];
    w->end = w->begin + x->k->count[k];
    w->block = x->started;
    w->number = x->started * x->k->warps + k;
    x->candidates[index].order = x->order++;
    w->alive = 1;
    w->waits = 0;
    w->copied = 0;
    w->last = at;
    prepare(x, index, at);
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
    int32_t index = slot * x->k->warps + k;
    struct warp *w = &x->warps[index];
    if (w->alive && w->waits) {
      w->waits = 0;
      prepare(x, index, at);
    }
  }
  dirty(x, slot);
}

static double occupy(struct state *x, int32_t resource, int32_t scheduler, double at, double amount, int32_t region)
{
  double *admit = &x->admit[unit(x, resource, scheduler)], begin = greater(at, *admit);
  double used = x->m->gap[region + resource] * amount;
  *admit = begin + used;
  x->out->busy[resource] += used;
  return begin;
}

/* When the result of a step that is issued now is there.  A block lasts until memory has taken what it sends. */
static double finish(struct state *x, int32_t index, int32_t step, double at, double *begin)
{
  const struct steps *s = x->s;
  const struct machine *m = x->m;
  struct warp *w = &x->warps[index];
  int32_t region = s->region[step] * m->resources, pipe = s->pipe[step], scheduler = index % m->schedulers;
  double end, u, second, third, served;

  *begin = at;
  if (pipe < 0)
    return at;
  *begin = occupy(x, pipe, scheduler, at, s->amount[step], region);
  if (s->second[step] >= 0)
    occupy(x, s->second[step], scheduler, at, 1.0, region);
  end = *begin + m->gap[region + pipe] * greater(s->amount[step] - 1.0, 0.0) + m->latency[region + pipe];
  if ((s->kind[step] != MEMORY && s->kind[step] != ASYNC_COPY) || s->l2[step] <= 0)
    return end;
  u = chance(w->number, step);
  second = occupy(x, m->l2, 0, *begin, s->l2[step], region);
  served = second + m->gap[region + m->l2] * s->l2[step];
  if (u < s->l2_chance[step])
    end = greater(end, served + m->latency[region + m->l2]);
  if (s->dram[step] > 0) {
    third = occupy(x, m->dram, 0, second, s->dram[step], region);
    served = third + m->gap[region + m->dram] * s->dram[step];
    if (u < s->dram_chance[step])
      end = greater(end, served + m->latency[region + m->dram]);
  }
  if (s->kind[step] == MEMORY && s->write[step] < 0) /* a store: nothing waits for it but the end of the block */
    served += m->latency[region + m->l2];
  x->served[index / x->k->warps] = greater(x->served[index / x->k->warps], served);
  return end;
}

static void leave(struct state *x, int32_t index, double at)
{
  int32_t slot = index / x->k->warps;
  struct warp *w = &x->warps[index];

  w->alive = 0;
  x->candidates[index].ready = NEVER;
  x->candidates[index].first = x->candidates[index].second = -1;
  x->candidates[index].l2 = x->candidates[index].dram = -1;
  x->left[slot]--;
  if (x->left[slot] == 0) {
    x->out->block_end[w->block] = greater(at + 1, x->served[slot]);
    if (x->started < x->k->blocks) {
      start(x, slot, greater(at, x->served[slot]) + x->m->refill);
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
  end = finish(x, index, step, at, &begin);
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
  prepare(x, index, at + (s->stall[step] > 1 ? s->stall[step] : 1));
  if (s->kind[step] == SYNCHRONISE) {
    w->waits = 1;
    x->candidates[index].ready = NEVER;
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
    if (issuable(x, x->best_warp[best]) > x->best_time[best]) {
      x->best_warp[best] = -2;
      continue;
    }
    issue(x, best);
  }
}

int orio_emulate(const struct steps *s, const struct machine *m, const struct work *k, struct result *out)
{
  struct state x;
  int32_t count, done = -1;

  memset(&x, 0, sizeof x);
  x.s = s;
  x.m = m;
  x.k = k;
  x.out = out;
  x.total = k->slots * k->warps;
  x.warps = calloc(x.total, sizeof *x.warps);
  x.candidates = calloc(x.total, sizeof *x.candidates);
  x.admit = calloc((size_t)m->resources * m->schedulers + 2 * m->schedulers + k->slots, sizeof *x.admit);
  x.best_warp = calloc(2 * m->schedulers + 2 * k->slots, sizeof *x.best_warp);
  if (x.warps && x.candidates && x.admit && x.best_warp) {
    x.free_at = x.admit + m->resources * m->schedulers;
    x.best_time = x.free_at + m->schedulers;
    x.served = x.best_time + m->schedulers;
    x.last_warp = x.best_warp + m->schedulers;
    x.left = x.last_warp + m->schedulers;
    x.arrived = x.left + k->slots;
    for (count = 0; count < m->schedulers; count++) {
      x.best_warp[count] = -2;
      x.last_warp[count] = -1;
    }
    for (count = 0; count < x.total; count++) {
      x.candidates[count].ready = NEVER;
      x.candidates[count].first = x.candidates[count].second = -1;
      x.candidates[count].l2 = x.candidates[count].dram = -1;
    }
    for (count = 0; count < k->slots && count < k->blocks; count++)
      start(&x, count, 0.0);
    done = go_on(&x);
  }
  free(x.warps);
  free(x.candidates);
  free(x.admit);
  free(x.best_warp);
  return done;
}
