/* One multiprocessor, event by event: the model of `orio_py.emulation.core`, whose docstrings say what all of this means.
   Both give the same numbers, which tests compare.

   Made for speed.  What a step needs lies in one line of the first-level cache, with products of gaps and amounts made once.  The
   warps of a scheduler have places in the order of their age, so that sets of them are bits of a word and the oldest is the
   lowest bit; what keeps a warp away beside its own waiting is that of its class, which many share. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BARRIERS 6
#define NOBODY BARRIERS /* what nothing waits for */
#define ALWAYS (BARRIERS + 1) /* what nothing releases: it is free from the beginning */
#define RING 8
#define HISTORY 64
#define DEPENDENCES 3
#define NEVER 1e300
#define MOST_SCHEDULERS 31
#define MOST_CLASSES 64 /* ways in which steps are kept away: units, and two depths of each queue */
#define MOST_SIDE_BY_SIDE 64 /* warps of a scheduler, a bit for each */

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
  const int32_t *order;         /* which rows of the table they are; NULL: all of them */
};

struct result {
  double *block_end, *busy, *site_wait;
  int64_t issued, event_count, most_events, sites;
  double *event_time;
  int32_t *event_warp, *event_step;
};

/* A unit of a resource is admission `at`, or `at` + the scheduler where each has its own (`own`). */
struct unit {
  int16_t at, own;
};

/* A step with the numbers of this machine: `used`, `passes` and `second_used` are times of its units, `after` the least time to
   the next step. */
struct step {
  uint8_t kind, wait[2], more_waits; /* two barriers, and others as bits */
  int8_t pipe, second, write, read, drained, dependence[DEPENDENCES];
  int32_t site, after;
  int16_t keep;
  uint8_t class_of;
  struct unit first_unit, second_unit;
  double used, passes, latency, second_used;
};

/* What a step asks of the caches behind the first one (-1: nothing); how long a barrier takes to let warps go. */
struct sectors {
  double l2_used, l2_latency, dram_used, dram_latency, l2_chance, dram_chance, barrier;
};

struct warp {
  double released[BARRIERS + 2], last, copied;
  int32_t next, end, begin, block, number, slot, scheduler, place;
  int32_t marks[BARRIERS + 1], alive, waits;
  double issued[HISTORY], ring[BARRIERS + 1][RING], past[BARRIERS + 1]; /* `past` is the last of those that have left the ring */
};

/* Steps that are kept away alike: two admissions of a scheduler, and how much before them they may be issued; `is_shared` where
   another scheduler's steps may close it. */
struct gate {
  int32_t first, second, is_shared;
  double early_first, early_second;
};

/* Steps on a machine; `gates` has for each scheduler a row for each class of steps. */
struct table {
  struct step *steps;
  struct sectors *sectors;
  struct gate *gates;
  int32_t classes, has_dependences, has_drains;
};

struct state {
  const struct machine *m;
  const struct work *k;
  struct result *out;
  struct table t;
  struct warp *warps;
  uint64_t *members; /* the places of a scheduler whose next step is of a class */
  double *ready;     /* by place: NEVER for a warp that waits at a barrier or has ended */
  int32_t *class_of, *warp_at;
  double *admit, *free_at, *best_time, *served, *busy, *site_wait, issue_time;
  int32_t *best_warp, *last_warp, *left, *arrived;
  int32_t total, started, side, free_unit, sink; /* `side` places has a scheduler */
  struct unit l2, dram;
  uint32_t stale; /* schedulers whose choice is to be made */
};

static double greater(double a, double b) { return a > b ? a : b; }
static double lesser(double a, double b) { return a < b ? a : b; }

static struct unit unit(const struct machine *m, int32_t resource)
{
  struct unit found;
  found.at = (int16_t)(m->turn[resource] * m->schedulers);
  found.own = m->once[resource] ? 0 : 1;
  return found;
}

static double chance(int32_t warp, int32_t step)
{
  uint32_t mixed = (uint32_t)warp * 2654435761u + (uint32_t)step * 40503u;
  return (mixed >> 8 & 0xffff) / 65536.0;
}

/* The class of steps that are kept away so, which is made if it is new; MOST_CLASSES for one too many. */
static int32_t class_of(struct table *t, int32_t schedulers, struct unit first, double early_first, struct unit second, double early_second)
{
  int32_t found, k;
  for (found = 0; found < t->classes; found++) {
    const struct gate *g = &t->gates[found];
    if (g->first == first.at && g->second == second.at && g->early_first == early_first && g->early_second == early_second)
      return found;
  }
  if (found == MOST_CLASSES)
    return found;
  for (k = 0; k < schedulers; k++) {
    struct gate *g = &t->gates[k * MOST_CLASSES + found];
    g->first = first.at + (first.own ? k : 0);
    g->second = second.at + (second.own ? k : 0);
    g->early_first = early_first;
    g->early_second = early_second;
    g->is_shared = !first.own || !second.own;
  }
  return t->classes++;
}

/* What keeps a step away: units of fixed latency have no queue, that of memory is as long as its latency. */
static int32_t gate_of(struct table *t, const struct state *x, const struct steps *s, int32_t n)
{
  const struct machine *m = x->m;
  const double *latency = m->latency + (size_t)s->region[n] * m->resources;
  struct unit first = {(int16_t)x->free_unit, 0}, second = first;
  double early_first = 0, early_second = 0;

  if (s->kind[n] == FIXED && s->pipe[n] >= 0) {
    first = unit(m, s->pipe[n]);
    second = s->second[n] >= 0 ? unit(m, s->second[n]) : first;
  } else if (s->kind[n] == MEMORY || s->kind[n] == ASYNC_COPY) {
    if (s->l2[n] > 0) {
      first = x->l2;
      early_first = m->queue * latency[m->l2];
    }
    if (s->dram[n] > 0) {
      second = x->dram;
      early_second = m->queue * latency[m->dram];
    }
  }
  return class_of(t, m->schedulers, first, early_first, second, early_second);
}

/* The steps with their times on a machine; 0 where they are of too many classes. */
static int compile(struct table *t, const struct state *x, const struct steps *s, const int32_t *order, int32_t count)
{
  const struct machine *m = x->m;
  struct unit sink = {(int16_t)x->sink, 0};
  int32_t step, n, k;

  for (step = 0; step < count; step++) {
    struct step *one = &t->steps[step];
    struct sectors *q = &t->sectors[step];
    const double *latency, *gap;
    int32_t pipe, second, write;
    n = order ? order[step] : step;
    latency = m->latency + (size_t)s->region[n] * m->resources;
    gap = m->gap + (size_t)s->region[n] * m->resources;
    pipe = s->pipe[n];
    second = pipe >= 0 ? s->second[n] : -1;
    write = s->write[n];
    one->kind = (uint8_t)s->kind[n];
    one->wait[0] = one->wait[1] = ALWAYS;
    for (k = 0, one->more_waits = (uint8_t)s->wait[n]; k < 2 && one->more_waits; k++, one->more_waits &= one->more_waits - 1)
      one->wait[k] = (uint8_t)__builtin_ctz(one->more_waits);
    one->pipe = (int8_t)(pipe >= 0 ? pipe : 0);
    one->second = (int8_t)second;
    one->drained = (int8_t)write;
    one->write = (int8_t)(write >= 0 && one->kind != DRAIN ? write : NOBODY);
    one->read = (int8_t)(s->read[n] >= 0 ? s->read[n] : NOBODY);
    one->keep = (int16_t)s->keep[n];
    one->site = s->site[n];
    one->after = s->stall[n] > 1 ? s->stall[n] : 1;
    t->has_drains |= one->kind == DRAIN;
    for (k = 0; k < DEPENDENCES; k++) {
      int32_t distance = s->dependence[DEPENDENCES * n + k];
      one->dependence[k] = (int8_t)(distance > 0 && distance < HISTORY ? distance : 0);
      t->has_dependences |= one->dependence[k];
    }
    one->first_unit = pipe >= 0 ? unit(m, pipe) : sink;
    one->second_unit = second >= 0 ? unit(m, second) : sink;
    one->used = pipe >= 0 ? gap[pipe] * s->amount[n] : 0;
    one->passes = pipe >= 0 ? gap[pipe] * greater(s->amount[n] - 1.0, 0.0) : 0;
    one->latency = pipe >= 0 ? latency[pipe] : 0;
    one->second_used = second >= 0 ? gap[second] : 0;
    q->barrier = latency[m->barrier];
    q->l2_used = s->l2[n] > 0 && pipe >= 0 ? gap[m->l2] * s->l2[n] : -1;
    q->l2_latency = latency[m->l2];
    q->l2_chance = s->l2_chance[n];
    q->dram_used = s->dram[n] > 0 ? gap[m->dram] * s->dram[n] : -1;
    q->dram_latency = latency[m->dram];
    q->dram_chance = s->dram_chance[n];
    if ((one->class_of = (uint8_t)gate_of(t, x, s, n)) == MOST_CLASSES)
      return 0;
  }
  return 1;
}

/* A warp waits until a time, and then for the gate of its next step. */
static void wait_until(struct state *x, const struct warp *w, double time)
{
  uint64_t *members = x->members + w->scheduler * MOST_CLASSES, bit = (uint64_t)1 << w->place;
  int32_t at = w->scheduler * x->side + w->place, next = x->t.steps[w->next].class_of;
  members[x->class_of[at]] &= ~bit;
  members[next] |= bit;
  x->class_of[at] = next;
  x->ready[at] = time;
}

/* When the warp's next instruction has what it waits for. */
static double prepare(const struct state *x, const struct warp *w, double earliest)
{
  const struct step *t = &x->t.steps[w->next];
  int32_t k;
  double ready = greater(earliest, greater(w->released[t->wait[0]], w->released[t->wait[1]]));

  for (k = t->more_waits; k; k &= k - 1)
    ready = greater(ready, w->released[__builtin_ctz((unsigned)k)]);
  if (x->t.has_dependences)
    for (k = 0; k < DEPENDENCES; k++) {
      int32_t from = w->next - t->dependence[k];
      if (t->dependence[k] && from >= w->begin)
        ready = greater(ready, w->issued[from & (HISTORY - 1)] + x->t.steps[from].latency);
    }
  if (t->kind == DRAIN) {
    int32_t all = w->marks[t->drained], kept = all > RING ? all - RING : 0;
    ready = greater(ready, w->past[t->drained]);
    for (k = kept; k < all - t->keep; k++)
      ready = greater(ready, w->ring[t->drained][k & (RING - 1)]);
  }
  return ready;
}

/* When steps of a class are let in. */
static double open_at(const struct state *x, int32_t scheduler, int32_t class)
{
  const struct gate *g = &x->t.gates[scheduler * MOST_CLASSES + class];
  return greater(x->admit[g->first] - g->early_first, x->admit[g->second] - g->early_second);
}

/* Which of the places (a multiple of four) have a time that is not after another one. */
static inline uint64_t not_after(const double *times, int32_t places, double time)
{
  uint64_t found = 0;
  int32_t k;
#ifdef __SSE2__
  __m128d limit = _mm_set1_pd(time);
  for (k = 0; k < places; k += 4) {
    __m128d low = _mm_cmple_pd(_mm_load_pd(times + k), limit), high = _mm_cmple_pd(_mm_load_pd(times + k + 2), limit);
    found |= (uint64_t)_mm_movemask_ps(_mm_shuffle_ps(_mm_castpd_ps(low), _mm_castpd_ps(high), 0x88)) << k;
  }
#else
  for (k = 0; k < places; k++)
    found |= (uint64_t)(times[k] <= time) << k;
#endif
  return found;
}

/* The least of times. */
static inline double least_of(const double *times, int32_t places)
{
  double found[2] = {NEVER, NEVER};
  int32_t k;
#ifdef __SSE2__
  __m128d low = _mm_load_pd(times), high = _mm_load_pd(times + 2);
  for (k = 4; k < places; k += 4) {
    low = _mm_min_pd(low, _mm_load_pd(times + k));
    high = _mm_min_pd(high, _mm_load_pd(times + k + 2));
  }
  _mm_storeu_pd(found, _mm_min_pd(low, high));
#else
  for (k = 0; k < places; k++)
    found[0] = lesser(found[0], times[k]);
#endif
  return lesser(found[0], found[1]);
}

/* Which of some places goes first, by the policy. */
static int32_t first_of(const struct state *x, int32_t scheduler, uint64_t those)
{
  int32_t previous = x->last_warp[scheduler], least = 2 * x->total, found = 0, k, distance;
  const int32_t *warp_at = x->warp_at + scheduler * x->side;

  if (x->m->policy == GREEDY_THEN_OLDEST && previous >= 0 && those >> x->warps[previous].place & 1)
    return previous;
  if (x->m->policy != ROUND_ROBIN)
    return warp_at[__builtin_ctzll(those)];
  for (; those; those &= those - 1) {
    k = warp_at[__builtin_ctzll(those)];
    distance = (k - previous - 1 + 2 * x->total) % x->total;
    if (distance < least) {
      least = distance;
      found = k;
    }
  }
  return found;
}

static void choose(struct state *x, int32_t scheduler)
{
  const double *ready = x->ready + scheduler * x->side;
  const int32_t *class_of = x->class_of + scheduler * x->side;
  int32_t previous = x->last_warp[scheduler], k;
  double from = x->free_at[scheduler], limit, at = NEVER, time;
  uint64_t first, those, can = 0, same;

  /* The greedy choice needs no look at the others. */
  if (x->m->policy == GREEDY_THEN_OLDEST && previous >= 0 && ready[k = x->warps[previous].place] <= from
      && open_at(x, scheduler, class_of[k]) <= from) {
    x->best_warp[scheduler] = previous;
    x->best_time[scheduler] = from;
    return;
  }
  x->best_time[scheduler] = NEVER;
  if ((limit = least_of(ready, x->side)) >= NEVER)
    return;
  /* Those that have what they wait for by the time that the scheduler is free, or first: which of them are let in then, or first. */
  limit = greater(from, limit);
  first = not_after(ready, x->side, limit);
  for (those = first; those; those &= ~same) {
    k = class_of[__builtin_ctzll(those)];
    same = those & x->members[scheduler * MOST_CLASSES + k];
    time = greater(open_at(x, scheduler, k), limit);
    can = time < at ? same : time == at ? can | same : can;
    at = lesser(at, time);
  }
  if (at > limit) /* others may be as early */
    for (those = not_after(ready, x->side, at) & ~first; those; those &= those - 1) {
      k = __builtin_ctzll(those);
      time = greater(ready[k], open_at(x, scheduler, class_of[k]));
      can = time < at ? (uint64_t)1 << k : time == at ? can | (uint64_t)1 << k : can;
      at = lesser(at, time);
    }
  x->best_warp[scheduler] = first_of(x, scheduler, can);
  x->best_time[scheduler] = at;
}

/* The warps of a block that begins are the youngest of their schedulers. */
static void grow_old(struct state *x, int32_t slot)
{
  int32_t scheduler, k, round, count;
  for (scheduler = 0; scheduler < x->m->schedulers; scheduler++) {
    int32_t *warp_at = x->warp_at + scheduler * x->side, old[MOST_SIDE_BY_SIDE], class_of[MOST_SIDE_BY_SIDE];
    double ready[MOST_SIDE_BY_SIDE];
    uint64_t *members = x->members + scheduler * MOST_CLASSES;
    memcpy(old, warp_at, sizeof(int32_t) * x->side);
    memcpy(ready, x->ready + scheduler * x->side, sizeof(double) * x->side);
    memcpy(class_of, x->class_of + scheduler * x->side, sizeof(int32_t) * x->side);
    memset(members, 0, sizeof(uint64_t) * x->t.classes);
    for (count = round = 0; round < 2; round++)
      for (k = 0; k < x->side; k++) {
        if ((old[k] >= 0 && x->warps[old[k]].slot == slot) != round)
          continue;
        warp_at[count] = old[k];
        x->ready[scheduler * x->side + count] = ready[k];
        x->class_of[scheduler * x->side + count] = class_of[k];
        if (old[k] >= 0) {
          x->warps[old[k]].place = count;
          members[class_of[k]] |= (uint64_t)1 << count;
        }
        count++;
      }
  }
}

static void start(struct state *x, int32_t slot, double at)
{
  int32_t k;

  grow_old(x, slot);
  x->left[slot] = x->k->warps;
  x->arrived[slot] = 0;
  x->served[slot] = 0;
  for (k = 0; k < x->k->warps; k++) {
    int32_t index = slot * x->k->warps + k;
    struct warp *w = &x->warps[index];
    memset(w->released, 0, sizeof w->released);
    memset(w->marks, 0, sizeof w->marks);
    memset(w->past, 0, sizeof w->past);
    w->begin = w->next = x->k->first[k];
    w->end = w->begin + x->k->count[k];
    w->block = x->started;
    w->number = x->started * x->k->warps + k;
    w->alive = 1;
    w->waits = 0;
    w->copied = 0;
    w->last = at;
    wait_until(x, w, prepare(x, w, at));
  }
  x->started++;
}

static void dirty(struct state *x, int32_t slot)
{
  int32_t k;
  for (k = 0; k < x->k->warps; k++) {
    x->stale |= 1u << x->warps[slot * x->k->warps + k].scheduler;
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
      wait_until(x, w, prepare(x, w, at));
    }
  }
  dirty(x, slot);
}

static double occupy(struct state *x, int32_t resource, struct unit u, int32_t scheduler, double at, double used)
{
  double *admit = &x->admit[u.at + (u.own ? scheduler : 0)], begin = greater(at, *admit);
  *admit = begin + used;
  x->busy[resource] += used;
  return begin;
}

/* When the sectors of a step are there, which got its unit at `begin`.  A block lasts until memory has taken what it sends. */
static double fetch(struct state *x, int32_t index, const struct step *t, const struct sectors *q, double begin, double end)
{
  struct warp *w = &x->warps[index];
  double u = chance(w->number, w->next), second = occupy(x, x->m->l2, x->l2, 0, begin, q->l2_used), third, served;

  served = second + q->l2_used;
  end = greater(end, u < q->l2_chance ? served + q->l2_latency : 0);
  if (q->dram_used >= 0) {
    third = occupy(x, x->m->dram, x->dram, 0, second, q->dram_used);
    served = third + q->dram_used;
    end = greater(end, u < q->dram_chance ? served + q->dram_latency : 0);
  }
  if (t->kind == MEMORY && t->write == NOBODY) /* a store: nothing waits for it but the end of the block */
    served += q->l2_latency;
  x->served[w->slot] = greater(x->served[w->slot], served);
  return end;
}

/* When the result of a step that is issued now is there. */
static double finish(struct state *x, int32_t index, const struct step *t, double at, double *begin)
{
  int32_t scheduler = x->warps[index].scheduler;
  double end;

  *begin = occupy(x, t->pipe, t->first_unit, scheduler, at, t->used);
  if (t->second >= 0)
    occupy(x, t->second, t->second_unit, scheduler, at, t->second_used);
  end = *begin + t->passes + t->latency;
  if (t->kind == MEMORY || t->kind == ASYNC_COPY) {
    const struct sectors *q = &x->t.sectors[x->warps[index].next];
    if (q->l2_used >= 0)
      return fetch(x, index, t, q, *begin, end);
  }
  return end;
}

static void leave(struct state *x, int32_t index, double at)
{
  struct warp *w = &x->warps[index];
  int32_t slot = w->slot;

  w->alive = 0;
  x->ready[w->scheduler * x->side + w->place] = NEVER;
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

static void note(struct state *x, double at, int32_t index, int32_t step)
{
  struct result *out = x->out;
  out->event_time[out->event_count] = at;
  out->event_warp[out->event_count] = index;
  out->event_step[out->event_count++] = step;
}

static void issue(struct state *x, int32_t scheduler)
{
  int32_t index = x->best_warp[scheduler];
  struct warp *w = &x->warps[index];
  double at = x->best_time[scheduler], begin, end;
  int32_t number = w->next, slot;
  const struct step *t = &x->t.steps[number];

  x->site_wait[t->site] += at - w->last;
  if (x->out->event_count < x->out->most_events)
    note(x, at, index, number);
  x->out->issued++;
  x->last_warp[scheduler] = index;
  x->free_at[scheduler] = at + x->issue_time;
  end = finish(x, index, t, at, &begin);
  if (x->t.has_dependences)
    w->issued[number & (HISTORY - 1)] = at;
  w->last = at + 1;
  if (t->kind == ASYNC_COPY)
    w->copied = greater(w->copied, end);
  if (t->kind == COMMIT)
    end = greater(at, w->copied);
  w->released[t->write] = greater(w->released[t->write], end);
  if (x->t.has_drains) {
    double *oldest = &w->ring[t->write][w->marks[t->write]++ & (RING - 1)];
    if (w->marks[t->write] > RING)
      w->past[t->write] = greater(w->past[t->write], *oldest);
    *oldest = end;
  }
  w->released[t->read] = greater(w->released[t->read], begin + x->m->read_latency);
  w->next++;
  x->stale |= 1u << scheduler;
  if (w->next == w->end) {
    leave(x, index, at);
    return;
  }
  begin = prepare(x, w, at + t->after);
  wait_until(x, w, t->kind == SYNCHRONISE ? NEVER : begin);
  if (t->kind == SYNCHRONISE) {
    slot = w->slot;
    w->waits = 1;
    x->arrived[slot]++;
    if (x->arrived[slot] == x->left[slot])
      release(x, slot, at + x->t.sectors[number].barrier);
  }
}

/* Until no warp is left, or (2) before a warp comes to a step `stop`. */
static int go_on(struct state *x, int32_t stop)
{
  for (;;) {
    int32_t k, best = 0;
    const struct warp *w;
    double least;
    for (; x->stale; x->stale &= x->stale - 1)
      choose(x, __builtin_ctz(x->stale));
    least = x->best_time[0];
    for (k = 1; k < x->m->schedulers; k++) {
      if (__builtin_expect(x->best_time[k] < least, 0)) {
        best = k;
        least = x->best_time[k];
      }
    }
    if (least >= NEVER)
      return x->started == x->k->blocks;
    /* Others may have filled the queues of memory meanwhile. */
    w = &x->warps[x->best_warp[best]];
    k = x->t.steps[w->next].class_of;
    if (x->t.gates[k].is_shared && open_at(x, best, k) > least)
      x->stale = 1u << best;
    else if (w->next + 1 == stop)
      return 2;
    else
      issue(x, best);
  }
}

/* A part of memory that was asked for as a whole. */
static void *part(char **next, size_t count, size_t size)
{
  void *found = *next;
  *next += (count * size + 63) / 64 * 64;
  return found;
}

static size_t lay_out_table(struct table *t, char *memory, int32_t steps, int32_t schedulers)
{
  char *next = memory;
  t->steps = part(&next, steps, sizeof *t->steps);
  t->sectors = part(&next, steps, sizeof *t->sectors);
  t->gates = part(&next, (size_t)schedulers * MOST_CLASSES, sizeof *t->gates);
  return (size_t)(next - memory);
}

/* What changes in an emulation, from `memory` on; how many bytes it is. */
static size_t lay_out(struct state *x, char *memory)
{
  char *next = memory;
  size_t schedulers = x->m->schedulers, places = schedulers * x->side;
  x->warps = part(&next, x->total, sizeof *x->warps);
  x->members = part(&next, schedulers * MOST_CLASSES, sizeof *x->members);
  x->ready = part(&next, places, sizeof *x->ready);
  x->class_of = part(&next, places, sizeof *x->class_of);
  x->warp_at = part(&next, places, sizeof *x->warp_at);
  x->admit = part(&next, x->sink + 1, sizeof *x->admit);
  x->free_at = part(&next, schedulers, sizeof *x->free_at);
  x->best_time = part(&next, schedulers, sizeof *x->best_time);
  x->best_warp = part(&next, schedulers, sizeof *x->best_warp);
  x->last_warp = part(&next, schedulers, sizeof *x->last_warp);
  x->served = part(&next, x->k->slots, sizeof *x->served);
  x->left = part(&next, x->k->slots, sizeof *x->left);
  x->arrived = part(&next, x->k->slots, sizeof *x->arrived);
  return (size_t)(next - memory);
}

static void begin(struct state *x)
{
  int32_t n, schedulers = x->m->schedulers;
  for (n = 0; n < schedulers; n++)
    x->last_warp[n] = -1;
  for (n = 0; n < schedulers * x->side; n++) {
    x->ready[n] = NEVER;
    x->warp_at[n] = -1;
  }
  for (n = 0; n < x->total; n++) {
    struct warp *w = &x->warps[n];
    w->slot = n / x->k->warps;
    w->scheduler = n % schedulers;
    w->place = n / schedulers;
    x->warp_at[w->scheduler * x->side + w->place] = n;
  }
  for (n = 0; n < x->k->slots && n < x->k->blocks; n++)
    start(x, n, 0.0);
}

/* An emulation that stands still, to be gone on with on other steps: its state, and its result so far. */
static void keep(const struct state *x, char *memory, struct state *kept, char *copy, size_t bytes, struct result *out)
{
  *kept = *x;
  memcpy(copy, memory, bytes);
  memcpy(out->block_end, x->out->block_end, x->k->blocks * sizeof *out->block_end);
  memcpy(out->busy, x->out->busy, x->m->resources * sizeof *out->busy);
  memcpy(out->site_wait, x->out->site_wait, out->sites * sizeof *out->site_wait);
  out->issued = x->out->issued;
}

static void direct(struct state *x, struct result *out)
{
  x->out = out;
  x->busy = out->busy;
  x->site_wait = out->site_wait;
}

static int go_on_with(struct state *x, const struct table *t, const struct work *k, struct result *out)
{
  int32_t n;
  x->t = *t;
  x->k = k;
  direct(x, out);
  for (n = 0; n < x->total; n++)
    x->warps[n].end = k->first[n % k->warps] + k->count[n % k->warps];
  return go_on(x, -1);
}

static int32_t steps_of(const struct work *k)
{
  int32_t n, found = 0;
  for (n = 0; n < k->warps; n++)
    found = k->first[n] + k->count[n] > found ? k->first[n] + k->count[n] : found;
  return found;
}

/* All emulations, the last one first: where it comes to a step that another one does not share, that goes on from there later. */
static int emulate_all(struct state *x, char *memory, size_t bytes, const struct table *tables, const struct work *works,
                       const int32_t *shared, int32_t count, struct result *results, struct state *kept, char *copies)
{
  int32_t n;
  int done;

  x->t = tables[count - 1];
  begin(x);
  for (n = 0; n < count - 1; n++) {
    if ((done = go_on(x, shared[n])) != 2)
      return 0;
    keep(x, memory, &kept[n], copies + n * bytes, bytes, &results[n]);
  }
  if ((done = go_on(x, -1)) != 1)
    return done;
  for (n = 0; n < count - 1; n++) {
    *x = kept[n];
    memcpy(memory, copies + n * bytes, bytes);
    if ((done = go_on_with(x, &tables[n], &works[n], &results[n])) != 1)
      return done;
  }
  return 1;
}

/* Emulations on one machine, of as many blocks each, of which all but the last share their first steps with it: `shared` says how
   many, in rising order, at least one and fewer than each has.  Then all warps have the same steps.

   1 when all blocks have ended, 0 when warps wait for what never comes, -1 without memory, -2 for a machine or steps that are too
   large. */
int orio_emulate(const struct steps *steps, const struct work *works, const int32_t *shared, int32_t count,
                 const struct machine *m, struct result *results)
{
  struct state x;
  struct table *tables = NULL;
  struct state *kept = NULL;
  char *memory = NULL, *next, *dynamic;
  size_t whole = 0, bytes;
  int32_t n;
  int done = -1;

  memset(&x, 0, sizeof x);
  x.m = m;
  x.k = &works[count - 1];
  direct(&x, &results[count - 1]);
  x.total = x.k->slots * x.k->warps;
  x.side = ((x.total + m->schedulers - 1) / m->schedulers + 3) / 4 * 4;
  x.free_unit = m->resources * m->schedulers;
  x.sink = x.free_unit + 1;
  x.l2 = unit(m, m->l2);
  x.dram = unit(m, m->dram);
  x.stale = (1u << m->schedulers) - 1;
  x.issue_time = 1.0 / m->width;
  if (x.side > MOST_SIDE_BY_SIDE || m->schedulers > MOST_SCHEDULERS)
    return -2;
  bytes = lay_out(&x, NULL);
  tables = calloc(count, sizeof *tables);
  kept = calloc(count, sizeof *kept);
  for (n = 0; tables && n < count; n++)
    whole += lay_out_table(&tables[n], NULL, steps_of(&works[n]), m->schedulers);
  if (tables && kept && (memory = calloc(1, whole + bytes * count + 64))) {
    next = memory + (64 - (uintptr_t)memory % 64) % 64;
    for (n = 0, done = 1; done > 0 && n < count; n++) {
      next += lay_out_table(&tables[n], next, steps_of(&works[n]), m->schedulers);
      done = compile(&tables[n], &x, &steps[n], works[n].order, steps_of(&works[n])) ? 1 : -2;
    }
    dynamic = next;
    lay_out(&x, dynamic);
    if (done > 0)
      done = emulate_all(&x, dynamic, bytes, tables, works, shared, count, results, kept, dynamic + bytes);
  }
  free(memory);
  free(tables);
  free(kept);
  return done;
}
