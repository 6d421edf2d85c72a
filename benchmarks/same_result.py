"""Compare original and transformed code on random loop nests with random recipes.

Each seed gives a region of one to three loop nests and a recipe of one to four transformations.  Those that
are not refused are compiled with the address and undefined-behaviour sanitizers and must leave the same
values, bit for bit, in every array and every variable that is read afterwards.  Half of the batches hold
whole files, transformed as by `orio transform`, in which macros, calls, global variables and other forms stand
around and in the region; `--forms` chooses among them, `--forms none` leaves them out.

    python benchmarks/same_result.py --count 20000 --seed 1 --jobs 2
    python benchmarks/same_result.py --case 4711            # one case, in full
    python benchmarks/same_result.py --case 4711 --shrink   # the simplest case that fails like it
    python benchmarks/same_result.py --forms macros,overlap --count 500
"""

from __future__ import annotations

import argparse
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from proof import Tried, apply, known_names, optimised_flags, report, run_batch, seeded_case  # noqa: E402
from proof_shrinking import shrunk  # noqa: E402
from random_real_nests import REAL_FORMS  # noqa: E402

TOGETHER = 48
"""How many variants are compiled into one program."""

OPTIMISED = 6
"""Every so many batches one is compiled with optimisation in place of the sanitizers."""


PATIENCE = 20
"""How many batches may take too long before no more are drawn."""


@dataclass(slots=True)
class Count:
    """What came of the recipes that name one transformation."""

    drawn: int = 0
    same: int = 0
    unchanged: int = 0
    invalid: int = 0
    wrong: int = 0
    compiler: int = 0
    runs: int = 0
    refused: Counter[str] = field(default_factory=Counter[str])


@dataclass(slots=True)
class Tally:
    """The counts of each transformation and of all, the findings, and the batches that took too long."""

    by_name: dict[str, Count] = field(default_factory=dict[str, Count])
    total: Count = field(default_factory=Count)
    findings: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    compiler: list[int] = field(default_factory=list[int])
    late: list[str] = field(default_factory=list[str])

    def add(self, tried: Tried) -> None:
        """Count one case, once for each transformation of its recipe."""
        outcome = tried.outcome
        assert outcome is not None
        file = tried.case.code.file
        names = {*tried.case.recipe.names, *(f"with {form}" for form in (file.forms if file else ()))}
        for count in (self.total, *(self.by_name.setdefault(name, Count()) for name in names)):
            count.drawn += 1
            count.runs += outcome.runs
            match outcome.kind:
                case "refused":
                    count.refused[outcome.text] += 1
                case "same":
                    count.same += 1
                case "unchanged":
                    count.unchanged += 1
                case "invalid":
                    count.invalid += 1
                case "wrong":
                    count.wrong += 1
                case "compiler":
                    count.compiler += 1
        if outcome.kind == "compiler":
            self.compiler.append(tried.case.seed or 0)
        if outcome.kind == "wrong":
            self.findings.append((tried.case.seed or 0, report(tried)))


@dataclass(frozen=True, slots=True)
class Task:
    """Seeds for a worker: it goes on from `seed` until it has a batch of variants."""

    number: int
    seed: int
    only: tuple[str, ...]
    forms: tuple[str, ...] = ()


def worker(task: Task) -> list[Tried] | str:
    """The cases of one batch, compared; what took too long if that happens twice."""
    try:
        return _compared(task)
    except subprocess.TimeoutExpired:
        pass
    try:
        return _compared(task)
    except subprocess.TimeoutExpired as late:
        return f"seeds from {task.seed}: `{late.cmd[0]}` took longer than {late.timeout:.0f} s twice"


def _compared(task: Task) -> list[Tried]:
    with tempfile.TemporaryDirectory(prefix="orio-proof-") as folder:
        tried: list[Tried] = []
        variants = 0
        seed = task.seed
        while variants < TOGETHER and len(tried) < STRIDE:
            each = apply(seeded_case(seed, task.only, task.forms))
            variants += each.outcome is None
            tried.append(each)
            seed += 1
        if task.number % OPTIMISED != OPTIMISED - 1:
            run_batch(tried, Path(folder))
        else:
            run_batch(tried, Path(folder), optimised_flags())
            for number, each in enumerate(tried):
                if each.outcome is not None and each.outcome.kind == "wrong":
                    tried[number] = _without_optimisation(each, Path(folder))
        return tried


def _without_optimisation(tried: Tried, folder: Path) -> Tried:
    """The case again, under the sanitizers and at -O1: is it right there, and wrong only when optimised?"""
    for flags in ((), ("-O1", "-fopenmp")):
        again = apply(tried.case)
        run_batch([again], folder, flags)
        if again.outcome is None or again.outcome.kind != "same":
            return again if again.outcome is not None and again.outcome.kind == "wrong" else tried
    assert tried.outcome is not None
    tried.outcome = replace(tried.outcome, kind="compiler")
    return tried


STRIDE = 1000
"""How many seeds a batch may use up."""


def batches(seed: int, only: Sequence[str], forms: Sequence[str] | None) -> Iterator[Task]:
    """The tasks of one run, the same for the same seed; half of them are of whole files if `forms` is None."""
    number = 0
    while True:
        drawn = forms if forms is not None else REAL_FORMS if number % 4 in {1, 2} else ()
        yield Task(number, (seed * 1000 + number) * STRIDE, tuple(only), tuple(drawn))
        number += 1


def compare(
    count: int, seed: int, jobs: int, only: Sequence[str], forms: Sequence[str] | None = None
) -> Tally:
    """Draw cases until `count` of them were compared."""
    tally = Tally()
    start = last = time.monotonic()
    tasks = batches(seed, only, forms)
    with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=40) as pool:
        waiting = [pool.apply_async(worker, (next(tasks),)) for _ in range(2 * jobs)]
        while waiting:
            batch = waiting.pop(0).get()
            if isinstance(batch, str):
                tally.late.append(batch)
                print(f"  not compared: {batch}", file=sys.stderr)
                batch = []
            for each in batch:
                tally.add(each)
                if each.outcome is not None and each.outcome.kind == "wrong":
                    print(f"  finding: seed {each.case.seed}", file=sys.stderr)
            done = tally.total.same + tally.total.wrong
            if done + TOGETHER * len(waiting) < count and len(tally.late) < PATIENCE:
                waiting.append(pool.apply_async(worker, (next(tasks),)))
            if time.monotonic() - last > 20:
                last = time.monotonic()
                print(
                    f"  {done} compared in {last - start:.0f} s, {tally.total.wrong} findings",
                    file=sys.stderr,
                )
    return tally


def table(tally: Tally) -> str:
    """The counts of each transformation, one line each."""
    lines = [
        f"{'':24}{'drawn':>8}{'refused':>9}{'unchanged':>11}{'invalid':>9}{'compared':>10}{'runs':>9}{'wrong':>7}"
    ]
    for name, count in (*sorted(tally.by_name.items()), ("all", tally.total)):
        refused = sum(count.refused.values())
        lines.append(
            f"{name:24}{count.drawn:8}{refused:9}{count.unchanged:11}{count.invalid:9}"
            f"{count.same + count.wrong:10}{count.runs:9}{count.wrong:7}"
        )
    lines.append("")
    for name, count in sorted(tally.by_name.items()):
        codes = ", ".join(f"{code} {number}" for code, number in count.refused.most_common(9))
        lines.append(f"{name:24}{codes}")
    return "\n".join(lines)


def one_case(seed: int, only: Sequence[str], forms: Sequence[str], *, shrink: bool) -> int:
    """Show one case in full; the exit status is 1 if it is wrong."""
    with tempfile.TemporaryDirectory(prefix="orio-proof-") as folder:
        tried = shrunk(seed, Path(folder), only, forms) if shrink else apply(seeded_case(seed, only, forms))
        run_batch([tried], Path(folder))
    print(report(tried))
    return int(tried.outcome is not None and tried.outcome.kind == "wrong")


def chosen_forms(text: str | None) -> tuple[str, ...] | None:
    """The forms of whole files that the argument names; None if nothing is said of them."""
    if text == "all":
        return REAL_FORMS
    if text == "none":
        return ()
    return None if text is None else tuple(text.split(","))


def main() -> int:
    """Run from the command line; exit status 1 when a result differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=2000, help="how many cases to compare")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first case")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--only", default="", help="names of transformations, with commas")
    parser.add_argument("--forms", help="names of forms of whole files, with commas; `all` or `none`")
    parser.add_argument("--case", type=int, help="show the case of this seed and stop")
    parser.add_argument("--shrink", action="store_true", help="with --case: simplify a case that is wrong")
    parser.add_argument("--show", type=int, default=5, help="how many findings to print in full")
    arguments = parser.parse_args()
    only = tuple(name for name in arguments.only.split(",") if name)
    if unknown := set(only) - set(known_names()):
        parser.error(
            f"no random recipes for {', '.join(sorted(unknown))}; there are {', '.join(known_names())}"
        )
    forms = chosen_forms(arguments.forms)
    if unknown := set(forms or ()) - set(REAL_FORMS):
        parser.error(f"there is no form {', '.join(sorted(unknown))}; there are {', '.join(REAL_FORMS)}")
    if arguments.case is not None:
        return one_case(arguments.case, only, forms or (), shrink=arguments.shrink)
    start = time.monotonic()
    tally = compare(arguments.count, arguments.seed, arguments.jobs, only, forms)
    print(table(tally))
    total = tally.total
    print(
        f"\n{total.same + total.wrong} cases compared in {time.monotonic() - start:.0f} s, "
        f"{total.runs} runs, {total.wrong} findings"
    )
    for text in tally.late:
        print(f"not compared: {text}")
    for _, text in tally.findings[: arguments.show]:
        print(f"\n{text}")
    if tally.compiler:
        print(
            "right under the sanitizers and at -O1, other results at -O3: "
            + " ".join(map(str, tally.compiler))
        )
    if tally.findings:
        print("seeds with findings: " + " ".join(str(seed) for seed, _ in tally.findings[:200]))
    return 1 if tally.findings else 0


if __name__ == "__main__":
    sys.exit(main())
