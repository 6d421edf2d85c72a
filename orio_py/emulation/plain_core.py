"""The model of a multiprocessor without regard to speed: what `core.c` is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from orio_py.emulation.core import (
    BARRIERS,
    DEPENDENCES,
    HISTORY,
    RING,
    Event,
    Kind,
    Multiprocessor,
    Policy,
    Schedule,
    StepTable,
    Work,
)
from orio_py.emulation.lanes import Array

_NEVER = 1e300


@dataclass(slots=True)
class _Warp:
    index: int
    next: int = 0
    end: int = 0
    begin: int = 0
    block: int = 0
    number: int = 0
    order: int = 0
    ready: float = 0.0
    last: float = 0.0
    copied: float = 0.0
    alive: bool = False
    waits: bool = False
    released: list[float] = field(default_factory=list[float])
    rings: list[list[float]] = field(default_factory=list[list[float]])
    issued: dict[int, float] = field(default_factory=dict[int, float])


class PlainCore:
    """The model without regard to speed; a `Core`."""

    def __call__(
        self, steps: StepTable, machine: Multiprocessor, work: Work, *, most_events: int = 0
    ) -> Schedule:
        """As `Core`."""
        return _Emulation(
            steps if work.order is None else steps.take(work.order), machine, work, most_events
        ).run()

    def together(
        self,
        steps: Sequence[StepTable],
        machine: Multiprocessor,
        works: Sequence[Work],
        shared: Sequence[int],
    ) -> Sequence[Schedule]:
        """As `Core`: each by itself."""
        assert len(shared) == len(works) - 1
        return [self(table, machine, work) for table, work in zip(steps, works, strict=True)]


emulate_plainly = PlainCore()


class _Emulation:
    def __init__(self, steps: StepTable, machine: Multiprocessor, work: Work, most_events: int) -> None:
        self.s, self.m, self.work = steps, machine, work
        self.warps = [_Warp(number) for number in range(work.slots * len(work.first))]
        self.admit: dict[tuple[int, int], float] = {}
        self.free_at = [0.0] * machine.schedulers
        self.last_warp = [-1] * machine.schedulers
        self.left = [0] * work.slots
        self.served = [0.0] * work.slots
        self.arrived = [0] * work.slots
        self.started = self.order = self.issued = 0
        self.events: list[Event] = []
        self.most_events = most_events
        self.block_end = np.zeros(work.blocks)
        self.busy = np.zeros(machine.resources)
        self.site_wait = np.zeros(int(steps.site.max()) + 1)

    def run(self) -> Schedule:
        for slot in range(min(self.work.slots, self.work.blocks)):
            self._start(slot, 0.0)
        while True:
            found = [self._choose(scheduler) for scheduler in range(self.m.schedulers)]
            time, best = min((time, scheduler) for scheduler, (time, _) in enumerate(found))
            if time >= _NEVER:
                break
            self._issue(best, found[best][1], time)
        if self.started < self.work.blocks or any(warp.alive for warp in self.warps):
            raise ValueError("warps wait for what never comes")
        return Schedule(self.block_end, self.busy, self.site_wait, self.issued, tuple(self.events))

    def _of(self, slot: int) -> Sequence[_Warp]:
        count = len(self.work.first)
        return self.warps[slot * count : (slot + 1) * count]

    def _start(self, slot: int, time: float) -> None:
        count = len(self.work.first)
        self.left[slot], self.arrived[slot], self.served[slot] = count, 0, 0.0
        for number, warp in enumerate(self._of(slot)):
            warp.released, warp.rings = [0.0] * BARRIERS, [[] for _ in range(BARRIERS)]
            warp.begin = warp.next = self.work.first[number]
            warp.end = warp.begin + self.work.count[number]
            warp.block, warp.number = self.started, self.started * count + number
            warp.order, self.order = self.order, self.order + 1
            warp.alive, warp.waits, warp.copied, warp.last = True, False, 0.0, time
            warp.issued = {}
            self._prepare(warp, time)
        self.started += 1

    def _value(self, table: Array, step: int, resource: int) -> float:
        return float(table[int(self.s.region[step]), resource])

    def _prepare(self, warp: _Warp, earliest: float) -> None:
        """When the warp's next instruction has what it waits for."""
        step, s = warp.next, self.s
        waited = [warp.released[k] for k in range(BARRIERS) if int(s.wait[step]) >> k & 1]
        for distance in s.dependence[DEPENDENCES * step : DEPENDENCES * (step + 1)]:
            before = step - int(distance)
            if 0 < distance < HISTORY and before >= warp.begin:
                waited.append(warp.issued[before] + self._value(self.m.latency, before, int(s.pipe[before])))
        if s.kind[step] == Kind.DRAIN:
            ring = warp.rings[int(s.write[step])]
            # Of more results than there is room for, the oldest are waited for together.
            waited += ring[: max(0, len(ring) - int(s.keep[step]), len(ring) - RING)]
        warp.ready = max([earliest, *waited])

    def _key(self, resource: int, scheduler: int) -> tuple[int, int]:
        return (int(self.m.turn[resource]), 0 if self.m.once[resource] else scheduler)

    def _issuable(self, warp: _Warp, scheduler: int) -> float:
        """When it can be issued: units of fixed latency have no queue, that of memory is as long as its latency."""
        step, s, m = warp.next, self.s, self.m
        if warp.waits:
            return _NEVER
        time = warp.ready
        if s.kind[step] == Kind.FIXED and s.pipe[step] >= 0:
            for resource in (int(s.pipe[step]), int(s.second[step])):
                if resource >= 0:
                    time = max(time, self.admit.get(self._key(resource, scheduler), 0.0))
        elif s.kind[step] in (Kind.MEMORY, Kind.ASYNC_COPY):
            for resource, sectors in ((m.l2, s.l2[step]), (m.dram, s.dram[step])):
                if sectors > 0:
                    reach = m.queue * self._value(m.latency, step, resource)
                    time = max(time, self.admit.get((resource, 0), 0.0) - reach)
        return time

    def _choose(self, scheduler: int) -> tuple[float, int]:
        mine = [w for w in self.warps[scheduler :: self.m.schedulers] if w.alive]
        times = {w.index: self._issuable(w, scheduler) for w in mine}
        least = min(times.values(), default=_NEVER)
        if least >= _NEVER:
            return _NEVER, -1
        time = max(least, self.free_at[scheduler])
        previous, total = self.last_warp[scheduler], len(self.warps)

        def order(warp: _Warp) -> int:
            if self.m.policy is Policy.GREEDY_THEN_OLDEST and warp.index == previous:
                return -1
            if self.m.policy is Policy.ROUND_ROBIN:
                return (warp.index - previous - 1 + 2 * total) % total
            return warp.order

        return time, min((w for w in mine if times[w.index] <= time), key=order).index

    def _occupy(self, resource: int, scheduler: int, time: float, amount: float, step: int) -> float:
        key = self._key(resource, scheduler)
        begin = max(time, self.admit.get(key, 0.0))
        used = self._value(self.m.gap, step, resource) * amount
        self.admit[key] = begin + used
        self.busy[resource] += used
        return begin

    def _finish(self, warp: _Warp, step: int, scheduler: int, time: float) -> tuple[float, float]:
        """When a step that is issued now gets its unit, and when its result is there."""
        s, m = self.s, self.m
        pipe, amount = int(s.pipe[step]), float(s.amount[step])
        if pipe < 0:
            return time, time
        begin = self._occupy(pipe, scheduler, time, amount, step)
        if s.second[step] >= 0:
            self._occupy(int(s.second[step]), scheduler, time, 1.0, step)
        passes = self._value(m.gap, step, pipe) * max(amount - 1.0, 0.0)
        end = begin + passes + self._value(m.latency, step, pipe)
        if s.kind[step] not in (Kind.MEMORY, Kind.ASYNC_COPY):
            return begin, end
        drawn, reached, served = _chance(warp.number, step), begin, 0.0
        for resource, sectors, chance in (
            (m.l2, float(s.l2[step]), s.l2_chance[step]),
            (m.dram, float(s.dram[step]), s.dram_chance[step]),
        ):
            if sectors <= 0:
                break
            reached = self._occupy(resource, 0, reached, sectors, step)
            served = reached + self._value(m.gap, step, resource) * sectors
            if drawn < chance:
                end = max(end, served + self._value(m.latency, step, resource))
        if served and s.kind[step] == Kind.MEMORY and s.write[step] < 0:
            served += self._value(
                m.latency, step, m.l2
            )  # of a store: the block's end waits for it, nothing else
        slot = warp.index // len(self.work.first)
        self.served[slot] = max(self.served[slot], served)
        return begin, end

    def _issue(self, scheduler: int, index: int, time: float) -> None:
        s, warp, slot = self.s, self.warps[index], index // len(self.work.first)
        step = warp.next
        kind = int(s.kind[step])
        self.site_wait[int(s.site[step])] += time - warp.last
        if len(self.events) < self.most_events:
            self.events.append(Event(time, index, step))
        self.issued += 1
        self.last_warp[scheduler] = index
        self.free_at[scheduler] = time + 1.0 / self.m.width
        begin, end = self._finish(warp, step, scheduler, time)
        warp.issued[step] = time
        warp.last = time + 1
        if kind == Kind.ASYNC_COPY:
            warp.copied = max(warp.copied, end)
        end = max(time, warp.copied) if kind == Kind.COMMIT else end
        if (write := int(s.write[step])) >= 0 and kind != Kind.DRAIN:
            warp.released[write] = max(warp.released[write], end)
            warp.rings[write].append(end)
        if (read := int(s.read[step])) >= 0:
            warp.released[read] = max(warp.released[read], begin + self.m.read_latency)
        warp.next += 1
        if warp.next == warp.end:
            self._leave(warp, slot, time)
            return
        self._prepare(warp, time + max(1, int(s.stall[step])))
        if kind == Kind.SYNCHRONISE:
            warp.waits = True
            self.arrived[slot] += 1
            if self.arrived[slot] == self.left[slot]:
                self._release(slot, time + self._value(self.m.latency, step, self.m.barrier))

    def _release(self, slot: int, time: float) -> None:
        self.arrived[slot] = 0
        for warp in self._of(slot):
            if warp.alive and warp.waits:
                warp.waits = False
                self._prepare(warp, time)

    def _leave(self, warp: _Warp, slot: int, time: float) -> None:
        warp.alive = False
        self.left[slot] -= 1
        if self.left[slot] == 0:
            self.block_end[warp.block] = max(time + 1, self.served[slot])
            if self.started < self.work.blocks:
                self._start(slot, max(time, self.served[slot]) + self.m.refill)
        elif self.arrived[slot] == self.left[slot]:
            self._release(slot, time)


def _chance(warp: int, step: int) -> float:
    mixed = (warp * 2654435761 + step * 40503) & 0xFFFFFFFF
    return (mixed >> 8 & 0xFFFF) / 65536.0
