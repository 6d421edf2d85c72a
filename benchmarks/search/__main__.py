r"""Compare searchers on recorded search spaces.

    python -m benchmarks.search --spaces DIR --searchers random,annealing --seeds 50 --trials 200 \
        --jobs 2 --csv runs.csv --picture curves.svg

DIR holds one file per space: T4, cache files of Kernel Tuner, or anything else that `orio results import`
reads.  Every searcher runs on every space once per seed; nothing is built or measured.  `--peers` lets other
tuners run on the same spaces, `--read` adds the runs of earlier CSV files to tables and picture.

An evaluation is a configuration that the run has not evaluated before, failures included.
"""

from __future__ import annotations

import argparse
import csv
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.search.curves import draw
from benchmarks.search.recordings import SpaceFacts, facts_of, find_spaces, space_name, write_for_peers
from benchmarks.search.runs import Searcher, run_seeds
from benchmarks.search.tables import all_tables, read_runs
from benchmarks.search.traces import Trace, write_rows
from orio_py.core.diagnostics import DiagnosticError

SEEDS_AT_ONCE = 5


def options() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser("python -m benchmarks.search", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--spaces", type=Path, required=True, metavar="DIR", help="the folder of the recorded spaces")
    add("--only", default="", metavar="A,B", help="these spaces of the folder only, by name or file name")
    add("--searchers", default="", metavar="A,B", help="searchers; `NAME;OPTION=VALUE` sets an option")
    add("--peers", default="", metavar="P", help="TUNER:STRATEGY,STRATEGY;TUNER:… (kernel_tuner, optuna)")
    add("--peer-python", type=Path, default=Path(sys.executable), metavar="PATH", help="the peers' Python")
    add("--seeds", type=int, default=50, metavar="N", help="runs of each searcher on each space (50)")
    add("--first-seed", type=int, default=0, metavar="N", help="the seed of the first run (0)")
    add("--trials", type=int, default=200, metavar="N", help="evaluations of a run (200)")
    add("--batch", type=int, default=1, metavar="N", help="configurations that are proposed at once (1)")
    add("--jobs", type=int, default=2, metavar="N", help="processes (2)")
    add("--csv", type=Path, metavar="FILE", help="write a row per evaluation")
    add("--read", type=Path, nargs="*", default=[], metavar="FILE", help="add the runs of earlier CSV files")
    add("--picture", type=Path, metavar="FILE", help="draw anytime curves (.svg, .png, .pdf)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything, write the rows, print the tables."""
    chosen = options().parse_args(arguments)
    paths = find_spaces(chosen.spaces, _names(chosen.only))
    with TemporaryDirectory() as folder:
        target = chosen.csv or Path(folder) / "runs.csv"
        parts = [*_own(chosen, paths, Path(folder)), *_peers(chosen, paths, Path(folder))]
        _join(parts, target)
        runs = read_runs([*([target] if parts else []), *chosen.read])
    facts = [facts_of(path) for path in paths]
    print(_space_table(facts))
    known = {space_name(path) for path in paths}
    runs = {key: found for key, found in runs.items() if key[1] in known}
    if runs:
        print(all_tables(runs, chosen.trials, [fact.name for fact in facts if fact.is_discriminating]))
        if chosen.picture is not None:
            draw(runs, chosen.trials, chosen.picture)
    return 0


def _names(text: str) -> list[str]:
    """What stands between commas, apart from those inside brackets."""
    return [name.strip() for name in re.split(r",(?![^\[(]*[\])])", text) if name.strip()]


def _chunks(chosen: argparse.Namespace) -> Iterator[range]:
    end = chosen.first_seed + chosen.seeds
    for first in range(chosen.first_seed, end, SEEDS_AT_ONCE):
        yield range(first, min(first + SEEDS_AT_ONCE, end))


def _own(chosen: argparse.Namespace, paths: Sequence[Path], folder: Path) -> list[Path]:
    """Run our searchers; the files with their rows."""
    searchers = [Searcher.read(text) for text in _names(chosen.searchers)]
    written: list[Path] = []
    if not searchers:
        return written
    work = [
        (path, searcher, seeds, chosen.trials, chosen.batch)
        for path in paths
        for searcher in searchers
        for seeds in _chunks(chosen)
    ]
    for traces in _results(work, chosen.jobs):
        written.append(folder / f"own{len(written)}.csv")
        write_rows(written[-1], (row for trace in traces for row in trace.rows))
        _progress(len(written), len(work))
    return written


def _results(work: Sequence[tuple[Any, ...]], jobs: int) -> Iterator[list[Trace]]:
    """What `run_seeds` gives for each piece of work, in any order."""
    if jobs <= 1:
        yield from (run_seeds(*piece) for piece in work)
        return
    # New processes instead of copies of this one, which may have threads and open databases.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(run_seeds, *piece) for piece in work]):
            yield future.result()


def _peers(chosen: argparse.Namespace, paths: Sequence[Path], folder: Path) -> list[Path]:
    """Run the peers; the files with their rows."""
    names: list[str] = []
    for part in filter(None, chosen.peers.split(";")):
        tuner, _, strategies = part.partition(":")
        names += [f"{tuner.strip()}:{strategy}" for strategy in _names(strategies)]
    written: list[Path] = []
    if not names:
        return written
    with ThreadPoolExecutor(chosen.jobs) as pool:
        futures: list[Future[Path]] = []
        for path in paths:
            table = folder / f"{space_name(path)}.json"
            write_for_peers(path, table)
            for name in names:
                for seeds in _chunks(chosen):
                    target = folder / f"peer{len(futures)}.csv"
                    futures.append(pool.submit(_run_peer, chosen, table, name, seeds, target))
        for future in as_completed(futures):
            written.append(future.result())
            _progress(len(written), len(futures))
    return written


def _run_peer(chosen: argparse.Namespace, table: Path, name: str, seeds: range, target: Path) -> Path:
    numbers = [str(value) for value in (seeds.start, len(seeds), chosen.trials)]
    command = [
        str(chosen.peer_python),
        "-m",
        "benchmarks.search.peers",
        str(table),
        name,
        *numbers,
        str(target),
    ]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{name}: {done.stderr.strip() or done.returncode}")
    return target


def _join(parts: Sequence[Path], target: Path) -> None:
    """Put files with rows together, sorted."""
    rows: list[list[str]] = []
    for part in parts:
        with part.open(newline="", encoding="utf-8") as file:
            rows += list(csv.reader(file))[1:]
    if parts:
        write_rows(target, sorted(rows, key=_order))


def _order(row: Sequence[str]) -> tuple[str, str, int, int]:
    space, searcher, seed, evaluation, *_ = row
    return space, searcher, int(seed), int(evaluation)


def _space_table(facts: Sequence[SpaceFacts]) -> str:
    lines = [
        "| space | configurations | valid | optimum | median | within 10 / 5 / 1 % | hours | discriminating |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for fact in facts:
        within = " / ".join(map(str, fact.within))
        lines.append(
            f"| {fact.name} | {fact.configurations} | {fact.valid} | {fact.optimum:.4g} s | "
            f"{fact.middle / fact.optimum:.2f} x | {within} | {fact.hours:.1f} | "
            f"{'yes' if fact.is_discriminating else 'no'} |"
        )
    return "\n".join(lines) + "\n"


def _progress(done: int, of: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {of}", end="\n" if done == of else "", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DiagnosticError as error:
        sys.exit("\n".join(str(diagnostic.message) for diagnostic in error.diagnostics))
