"""Random contractions against `numpy.einsum`: as many as asked for, and the first difference if there is one.

python -m benchmarks.tensor.proof --count 10000 --seed 1
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))

from contraction_runs import differences
from random_contractions import random_example

BATCH = 100


def main() -> int:
    """The number of differences found, at most 1."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    begun, done = time.monotonic(), 0
    draw = random.Random(given.seed)
    while done < given.count:
        count = min(BATCH, given.count - done)
        with tempfile.TemporaryDirectory() as folder:
            found = differences([random_example(draw, f"f{k}") for k in range(count)], Path(folder))
        done += count
        if found:
            print(f"after {done} contractions:\n{found[0]}")
            return 1
        print(f"{done} contractions without difference, {time.monotonic() - begun:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
