"""Feed the front end with damaged copies of valid annotated files.

Each input is a valid file with one to six random mutations: bytes deleted, inserted, swapped or repeated,
the file cut off, or a piece of the annotation language put in.  Reading it must give tasks or diagnostics,
never an exception, and quickly.

    python benchmarks/fuzz_frontend.py --count 5000 --seed 1
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orio_py.core.diagnostics import has_errors, render
from orio_py.core.source import SourceFile
from orio_py.frontend.read import read
from orio_py.spec.check import check

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 2.0
TOKENS = (
    b"/*@ begin Loop( @*/ ( ) [ ] { } ; , = == < <= ** // % @*/ /*@ end @*/ /*@ */ /* // # ' \" \\ \\\n \r\n \0 "
    b"\xff \x80 transform Unroll(ufactor=2) def build { arg let param X[] = decl static double random "
    b"constraint import spec range( for if else and or not in lambda __import__('os') 10**9 1e999 0x "
    b"#ifndef ORIO_ORIGINAL #else /* ORIO_ORIGINAL */ #endif #pragma Orio Oiro orio loop begin "
    b"struct typedef int while do return goto sizeof *p (( )) ++ -- ? : 'a' \"b\" !@ begin PerfTuning("
).split(b" ")


@dataclass
class Tally:
    """What came of the inputs."""

    inputs: int = 0
    accepted: int = 0
    refused: int = 0
    slowest: float = 0.0
    codes: Counter[str] = field(default_factory=Counter[str])
    failures: list[tuple[bytes, str]] = field(default_factory=list[tuple[bytes, str]])


def corpus() -> list[bytes]:
    """The valid files to start from."""
    folders = ("tests/compat", "tests/bad_input", "benchmarks/kernels")
    files = [path for folder in folders for path in sorted((ROOT / folder).glob("**/*.c"))]
    return [path.read_bytes() for path in files if path.stat().st_size < 20_000]


def mutate(data: bytes, random_source: random.Random) -> bytes:
    """The bytes with one mutation."""
    start = random_source.randrange(len(data) + 1)
    length = min(int(random_source.expovariate(0.2)) + 1, 200)
    piece = data[start : start + length]
    match random_source.randrange(8):
        case 0:
            return data[:start] + data[start + length :]
        case 1:
            return data[:start] + piece * random_source.choice((2, 3, 50)) + data[start + length :]
        case 2:
            return data[:start]
        case 3:
            noise = bytes(random_source.randrange(256) for _ in range(min(length, 8)))
            return data[:start] + noise + data[start:]
        case 4:
            other = random_source.randrange(len(data) + 1)
            return data[:other] + piece + data[other:]
        case 5:
            return data[:start] + random_source.choice(TOKENS) + data[start + length :]
        case _:
            return data[:start] + b" " + random_source.choice(TOKENS) + b" " + data[start:]


def inputs(files: Sequence[bytes], count: int, seed: int) -> Iterator[bytes]:
    """`count` mutated files, the same for the same seed."""
    random_source = random.Random(seed)
    for _ in range(count):
        data = random_source.choice(files)
        for _ in range(random_source.randint(1, 6)):
            data = mutate(data, random_source)
        yield data


def try_input(data: bytes, directory: Path, tally: Tally) -> None:
    """Read one input and count what came of it."""
    tally.inputs += 1
    start = time.perf_counter()
    try:
        result = read(SourceFile("fuzz.c", data), directory=directory)
        problems = [*result.diagnostics, *(p for task in result.tasks for p in check(task))]
        for problem in problems:
            render(problem, result.sources)
    except Exception:  # every exception is what this program looks for
        tally.failures.append((data, traceback.format_exc()))
        return
    elapsed = time.perf_counter() - start
    tally.slowest = max(tally.slowest, elapsed)
    tally.codes.update(problem.code for problem in problems)
    if has_errors(problems):
        tally.refused += 1
    else:
        tally.accepted += 1
    if elapsed > SECONDS:
        tally.failures.append((data, f"took {elapsed:.1f} s"))


def main() -> int:
    """Run from the command line; exit status 1 when something unexpected happened."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=2000, help="number of inputs")
    parser.add_argument("--seed", type=int, default=1, help="seed of the mutations")
    parser.add_argument("--keep", type=Path, help="folder to write failing inputs to")
    arguments = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for data in inputs(corpus(), arguments.count, arguments.seed):
            try_input(data, Path(folder), tally)
    print(f"inputs      {tally.inputs}")
    print(f"accepted    {tally.accepted}")
    print(f"refused     {tally.refused}")
    print(f"unexpected  {len(tally.failures)}")
    print(f"slowest     {tally.slowest:.2f} s")
    print("diagnostics " + ", ".join(f"{code} {n}" for code, n in tally.codes.most_common()))
    for index, (data, what) in enumerate(tally.failures):
        print(f"--- failure {index}: {what}", file=sys.stderr)
        if arguments.keep is not None:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            (arguments.keep / f"failure_{index}.c").write_bytes(data)
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
