"""Comparisons of random kernels in processes of their own: one that crashes or does not end is a finding like another."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from offload_equivalence import Build, Refusal, Step, Variant, compared, declarations, offloaded
from random_kernels import RandomKernel

from orio_py.ctree.emit import emit

TOGETHER = 60
"""How many seeds share one device program; about half of them are refused."""

STRIDE = 1_000_000
"""The distance between the first seeds of two runs with neighbouring `--seed`."""

PATIENCE = 90.0
"""Seconds without news after which a process counts as one that does not end."""


@dataclass(frozen=True)
class Comparison:
    """What a language has of its own.

    `draw` gives the case of a seed, `build` what builds and runs kernels with some options, `options` those of a
    batch by its number, `facts` by what a case is counted, `text` the device text of its kernels.
    """

    draw: Callable[[int], RandomKernel]
    build: Callable[[tuple[str, ...]], Build]
    options: Callable[[int], tuple[str, ...]]
    facts: Callable[[Variant], Mapping[str, Sequence[str]]]
    text: Callable[[Variant], str]


@dataclass(slots=True)
class Tally:
    """What came of the cases so far."""

    same: int = 0
    runs: int = 0
    launches: int = 0
    invalid: list[int] = field(default_factory=list[int])
    findings: dict[int, str] = field(default_factory=dict[int, str])
    refused: Counter[str] = field(default_factory=Counter[str])
    kinds: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])

    @property
    def compared(self) -> int:
        """Cases that ran to a result, or to a finding."""
        return self.same + len(self.findings)

    def add(self, step: Step) -> None:
        """Count the outcome of a case."""
        if step.kind == "refused":
            self.refused[step.text] += 1
        elif step.kind == "same":
            self.same += 1
            self.launches += step.launches
            for title, names in step.facts.items():
                self.kinds.setdefault(title, Counter()).update(names)
        else:
            self.findings[step.seed] = f"{step.text} (n, m, l = {step.size})"
            print(f"  finding: seed {step.seed}: {self.findings[step.seed]}", file=sys.stderr)


def common_facts(variant: Variant) -> dict[str, list[str]]:
    """By what a case is counted in all languages."""
    kernel, plans = variant.kernel, variant.plans
    launch = kernel.transformation
    cut = [buffer.slices for plan in plans if plan.options.streams > 1 for buffer in plan.buffers]
    tiled = [plan for plan in plans if plan.staged]
    shape = [f"vectorWidth {launch.vectorWidth}"] * (launch.vectorWidth > 1)
    shape += [f"layout {launch.layout}"] * any(buffer.rows for plan in plans for buffer in plan.buffers)
    shape += ["coarsen"] * (launch.coarsen > 1) + ["unrollInner"] * (launch.unrollInner is not None)
    return {
        "local memory": ["tiles"] * len(tiled) + ["blocks"] * sum(bool(plan.blocks) for plan in plans),
        "several queues": ["kernels"] * sum(plan.options.streams > 1 for plan in plans)
        + ["buffers in slices" if part is not None else "buffers in one piece" for part in cut],
        "loops": [f"{kernel.depth}"],
        "structures": ["arrays of them"] * bool(kernel.records),
        "mapped loops": [f"{len(plan.axes)}" for plan in plans],
        "reductions": [r.operator for plan in plans for r in plan.reductions],
        "reductions in a loop": [f"{len(plan.reductions)}" for plan in plans],
        "elements": sorted({buffer.type for plan in plans for buffer in plan.buffers}),
        "launch shape": [*shape, launch.spread.value],
        "values": ["whole numbers" if kernel.exact else "fractions"],
    }


@dataclass(frozen=True, slots=True)
class Batch:
    """Seeds that are built together."""

    seeds: tuple[int, ...]
    options: tuple[str, ...]


def batches(seed: int, comparison: Comparison) -> Iterator[Batch]:
    """The batches of one run, the same for the same seed."""
    number = 0
    while True:
        first = seed * STRIDE + number * TOGETHER
        yield Batch(tuple(range(first, first + TOGETHER)), comparison.options(number))
        number += 1


def work(batch: Batch, comparison: Comparison, news: Connection) -> None:
    """Compare the cases of a batch and tell of each step, before what may crash and after it."""
    variants: list[Variant] = []
    for seed in batch.seeds:
        news.send(Step(seed, "at", "transformation"))
        try:
            variants.append(offloaded(seed, comparison.draw(seed)))
        except Refusal as refusal:
            news.send(Step(seed, "refused", refusal.diagnostics[0].code))
        except Exception:  # Any other exception is a finding.
            news.send(Step(seed, "wrong", traceback.format_exc(limit=-1).replace("\n", " ")))
    known = {variant.seed: variant for variant in variants}
    if variants:
        with tempfile.TemporaryDirectory(prefix="orio-equivalence-") as folder:
            for step in compared(variants, Path(folder), comparison.build(batch.options)):
                is_same = step.kind == "same"
                news.send(replace(step, facts=comparison.facts(known[step.seed])) if is_same else step)
    news.send(None)


class Worker:
    """A process with a batch, and where it is."""

    def __init__(self, batch: Batch, comparison: Comparison) -> None:
        self.batch = batch
        self.news, theirs = multiprocessing.Pipe(duplex=False)
        start = multiprocessing.get_context("fork").Process
        self.process: BaseProcess = start(target=_quiet_work, args=(batch, comparison, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.last = time.monotonic()
        self.at = Step(batch.seeds[0], "at", "start")
        self.done: set[int] = set()

    def read(self, tally: Tally) -> bool:
        """Take one piece of news; False at the end of the process."""
        try:
            step = self.news.recv()
        except EOFError:
            return False
        self.last = time.monotonic()
        if step is None:
            self.done.update(self.batch.seeds)
            return False
        assert isinstance(step, Step)
        if step.kind == "at":
            self.at = step
            tally.runs += step.text == "kernel"
        else:
            self.done.add(step.seed)
            tally.add(step)
        return True

    def rest(self, tally: Tally, how: str) -> list[Batch]:
        """What is left to do after the process has ended or was ended, a finding being counted."""
        self.process.kill()
        self.process.join()
        left = tuple(seed for seed in self.batch.seeds if seed not in self.done)
        options = self.batch.options
        if not left:
            return []
        if self.at.text in {"build", "start"} and len(left) > 1:
            middle = len(left) // 2
            return [Batch(left[:middle], options), Batch(left[middle:], options)]
        if self.at.text == "original":
            tally.invalid.append(self.at.seed)
        else:
            tally.add(Step(self.at.seed, "wrong", f"the {self.at.text} {how}", self.at.size))
        left = tuple(seed for seed in left if seed != self.at.seed)
        return [Batch(left, options)] if left else []


def _quiet_work(batch: Batch, comparison: Comparison, news: Connection) -> None:
    """`work` without the output of drivers and of crashes; what is wrong shows in the exit."""
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 2)
    work(batch, comparison, news)


def compare(comparison: Comparison, count: int, seed: int, jobs: int, seconds: float) -> Tally:
    """Draw cases until `count` of them were compared, or the time is over."""
    tally = Tally()
    source = batches(seed, comparison)
    again: list[Batch] = []
    workers: list[Worker] = []
    begin = told = time.monotonic()
    while True:
        ended = tally.compared >= count or time.monotonic() - begin > seconds
        while len(workers) < jobs and (again or not ended):
            workers.append(Worker(again.pop() if again else next(source), comparison))
        if not workers:
            return tally
        ready = wait([worker.news for worker in workers], timeout=1.0)
        for worker in list(workers):
            how = "crashes"
            if worker.news in ready:
                if worker.read(tally):
                    continue
            elif time.monotonic() - worker.last > PATIENCE:
                how = "does not end"
            else:
                continue
            again += worker.rest(tally, how)
            workers.remove(worker)
        if time.monotonic() - told > 20:
            told = time.monotonic()
            print(
                f"  {tally.compared} compared in {told - begin:.0f} s, {len(tally.findings)} findings",
                file=sys.stderr,
            )


def table(tally: Tally) -> str:
    """The counts by kind, one line each."""
    lines = [
        f"{title:22}" + ", ".join(f"{name} {number}" for name, number in sorted(counter.items()))
        for title, counter in tally.kinds.items()
    ]
    refused = ", ".join(f"{code} {number}" for code, number in tally.refused.most_common())
    return "\n".join([*lines, f"{'refused':22}{refused}", f"{'undefined in C':22}{len(tally.invalid)}"])


def one_case(seed: int, comparison: Comparison, options: Sequence[str]) -> int:
    """Show one case in full; the exit status is 1 if it is wrong."""
    kernel = comparison.draw(seed)
    print(f"{declarations(kernel)}\n{kernel.code}\n{kernel.transformation}")
    try:
        variant = offloaded(seed, kernel)
    except Refusal as refusal:
        print(refusal)
        return 0
    print(f"live: {' '.join(kernel.live)}\n{emit(variant.tree, braces=True)}\n{comparison.text(variant)}")
    tally = Tally()
    waiting = [Batch((seed,), tuple(options))]
    while waiting:
        worker = Worker(waiting.pop(), comparison)
        while worker.news.poll(PATIENCE) and worker.read(tally):
            pass
        waiting += worker.rest(tally, "crashes or does not end")
    print("the same" if tally.same else "undefined in C" if tally.invalid else tally.findings[seed])
    return int(bool(tally.findings))


def arguments_of(description: str) -> argparse.ArgumentParser:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=500, help="how many cases to compare")
    parser.add_argument("--seed", type=int, default=1, help="number of the run")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--case", type=int, help="show the case of this seed and stop")
    return parser


def report(arguments: argparse.Namespace, comparison: Comparison) -> int:
    """Compare and print the counts; the exit status is 1 when a result differs."""
    start = time.monotonic()
    tally = compare(comparison, arguments.count, arguments.seed, arguments.jobs, arguments.seconds)
    print(table(tally))
    print(
        f"\n{tally.compared} cases compared in {time.monotonic() - start:.0f} s, {tally.runs} runs, "
        f"{tally.launches} launches, {len(tally.findings)} findings"
    )
    for seed, text in tally.findings.items():
        print(f"seed {seed}: {text}")
    return 1 if tally.findings else 0
