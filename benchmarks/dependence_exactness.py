"""How exact the dependence test is: its verdicts on random nests against what really happens.

    python benchmarks/dependence_exactness.py --cases 20000 --seed 1

Each case is a random nest and a question about it.  All iterations of the nest are run in Python, in both
orders, at several sizes, and the conflicts that are reversed are compared with the verdict.  A legal verdict
on something that clashes would be wrong; a refusal of something that clashes at no size is needless.  The
sizes tried are 8 small ones, and for a refusal that they do not bear out 18 more and those that the
refusal itself names: what clashes only there is no needless refusal but an artefact of small sizes.  The
end status is 1 if a verdict is wrong.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from exactness import CLASSES, KINDS, NOT_AFFINE, Outcome, draw_question, judge

_BATCH = 50


def _batch(task: tuple[str, str, int, int]) -> tuple[str, str, Counter[str], list[str]]:
    """The outcomes of some cases, counted, and the texts of those that are wrong."""
    kind, sort, seed, first = task
    found: Counter[str] = Counter()
    wrong: list[str] = []
    for number in range(first, first + _BATCH):
        question = draw_question(kind, CLASSES[sort], random.Random(f"{seed} {kind} {sort} {number}"))
        outcome = judge(question)
        found.update(_features(outcome))
        if outcome.is_wrong:
            wrong.append(f"{question}\n{question.nest.text}")
    return kind, sort, found, wrong


def _features(outcome: Outcome) -> list[str]:
    verdict = type(outcome.verdict).__name__.lower()
    flags = {
        "cases": True,
        verdict: True,
        "wrong": outcome.is_wrong,
        "structural": outcome.is_structural,
        "harmless": not outcome.is_structural and not outcome.clashes_later,
        "later": outcome.is_needless and not outcome.is_needless_at_any_size,
        "needless": outcome.is_needless_at_any_size,
    }
    return [name for name, holds in flags.items() if holds]


def _line(kind: str, sort: str, found: Counter[str]) -> str:
    share = 100 * found["needless"] / max(1, found["harmless"])
    columns = ("cases", "legal", "illegal", "unknown", "structural", "wrong", "later", "needless")
    numbers = "".join(f"{found[name]:>11}" for name in columns)
    return f"{kind:<16}{sort:<15}{numbers}{share:>9.2f} %"


def main() -> int:
    """Print the table; 1 if a verdict was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    each = -(-arguments.cases // (len(KINDS) * len(CLASSES) * _BATCH))
    tasks = [
        (kind, sort, arguments.seed, batch * _BATCH)
        for kind in KINDS
        for sort in CLASSES
        for batch in range(each)
    ]
    totals: dict[tuple[str, str], Counter[str]] = {}
    failures: list[str] = []
    begin = time.perf_counter()
    with ProcessPoolExecutor(arguments.processes) as pool:
        for kind, sort, found, wrong in pool.map(_batch, tasks):
            totals.setdefault((kind, sort), Counter()).update(found)
            failures.extend(wrong)
    print(f"seed {arguments.seed}, {time.perf_counter() - begin:.0f} s, {arguments.processes} processes\n")
    heads = ("cases", "legal", "illegal", "unknown", "bounds", "wrong", "at larger", "needless", "share")
    print(f"{'question':<16}{'nests':<15}" + "".join(f"{head:>11}" for head in heads))
    affine: Counter[str] = Counter()
    everything: Counter[str] = Counter()
    for (kind, sort), found in totals.items():
        print(_line(kind, sort, found))
        everything.update(found)
        if sort not in NOT_AFFINE:
            affine.update(found)
    print(_line("all", "but the last", affine))
    print(_line("all", "all", everything))
    for failure in failures:
        print(f"\nWRONG: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
