"""Random cases whose variants are pinned: what the transformations write for them may not change unnoticed.

Each case was compiled and run beside its original before it was pinned.  A change of the transformations that
means to change their output pins it anew, which compiles and runs what has changed:

    python tests/support/pinned_variants.py --update
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from proof import Tried, apply, known_names, run_batch, seeded_case

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "tests" / "golden_random"
FIRST_SEED = 7_000_000
CASES: Mapping[str, int] = {"all": 800} | dict.fromkeys(known_names(), 50)
"""How many cases are pinned for each transformation alone, and for recipes of all."""

TOGETHER = 40
"""How many variants are compiled into one program."""


def seeds(family: str) -> range:
    """The seeds of a family's cases."""
    return range(FIRST_SEED, FIRST_SEED + CASES[family])


def tried(family: str, seed: int) -> Tried:
    """A case with what its recipe made of it."""
    return apply(seeded_case(seed, () if family == "all" else (family,)))


def fingerprint(each: Tried) -> str:
    """What came of a case, and digests of its source and of the code that the recipe wrote."""
    kind, code = ("variant", "") if each.outcome is None else (each.outcome.kind, f" {each.outcome.text}")
    return f"{kind}{code} {_digest(each.case.source)} {_digest(each.variant + each.places)}"


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


def pinned(family: str) -> dict[int, str]:
    """The pinned fingerprints of a family, by seed."""
    path = FOLDER / f"{family}.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    return {int(seed): rest for seed, _, rest in (line.partition(" ") for line in lines)}


def changes(family: str) -> Iterator[tuple[int, str, Tried]]:
    """Seed, new fingerprint and case of everything that is not as it was pinned."""
    before = pinned(family)
    for seed in seeds(family):
        each = tried(family, seed)
        if (now := fingerprint(each)) != before.get(seed):
            yield seed, now, each


def prove(cases: Sequence[Tried]) -> list[Tried]:
    """Compile and run the cases; those that went wrong."""
    for start in range(0, len(cases), TOGETHER):
        with tempfile.TemporaryDirectory(prefix="orio-pinned-") as folder:
            run_batch(cases[start : start + TOGETHER], Path(folder))
    return [each for each in cases if each.outcome is not None and each.outcome.kind == "wrong"]


def update(family: str) -> int:
    """Pin a family anew, unless a changed case is wrong; the number of wrong cases."""
    found = list(changes(family))
    wrong = prove([each for _, _, each in found])
    for each in wrong:
        print(f"{family} {each.case.seed}: {each.outcome}\n{each.case.source}")
    if not wrong:
        kept = pinned(family) | {seed: now for seed, now, _ in found}
        FOLDER.mkdir(parents=True, exist_ok=True)
        lines = [f"{seed} {kept[seed]}\n" for seed in seeds(family)]
        (FOLDER / f"{family}.txt").write_text("".join(lines))
    print(f"{family}: {len(found)} changed, {len(wrong)} wrong", flush=True)
    return len(wrong)


def main() -> int:
    """Run from the command line; exit status 1 when a changed case is wrong, which is then not pinned."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--update", action="store_true", help="prove what has changed, and pin it")
    parser.add_argument("--family", choices=list(CASES), help="only these cases")
    arguments = parser.parse_args()
    families = [arguments.family] if arguments.family else list(CASES)
    if arguments.update:
        return int(sum(update(family) for family in families) > 0)
    count = 0
    for family in families:
        for seed, now, each in changes(family):
            count += 1
            print(f"{family} {seed}: {now}\n{each.case.source}\n{each.variant}")
    print(f"{count} cases are not as they were pinned")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
