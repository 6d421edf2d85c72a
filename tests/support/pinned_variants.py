"""Random cases whose variants are pinned: what the transformations write for them may not change unnoticed.

Each case was compiled and run beside its original before it was pinned.  A change of the transformations that
means to change their output pins it anew, which compiles and runs what has changed:

    python tests/support/pinned_variants.py --update

Other cases than the first of each family stand there because they notice mistakes that those do not; more of
them are pinned by

    python tests/support/pinned_variants.py --add Tile:7000123 all:7000999
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
"""How many cases are pinned at least for each transformation alone, and for recipes of all."""

TOGETHER = 40
"""How many variants are compiled into one program."""


def seeds(family: str) -> list[int]:
    """The seeds of a family's cases: the first ones, and those that were added."""
    return sorted({*range(FIRST_SEED, FIRST_SEED + CASES[family]), *pinned(family)})


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


def changes(family: str, added: Sequence[int] = ()) -> Iterator[tuple[int, str, Tried]]:
    """Seed, new fingerprint and case of everything that is not as it was pinned."""
    before = pinned(family)
    for seed in (*seeds(family), *added):
        each = tried(family, seed)
        if (now := fingerprint(each)) != before.get(seed):
            yield seed, now, each


def prove(cases: Sequence[Tried]) -> list[Tried]:
    """Compile and run the cases; those that went wrong."""
    for start in range(0, len(cases), TOGETHER):
        with tempfile.TemporaryDirectory(prefix="orio-pinned-") as folder:
            run_batch(cases[start : start + TOGETHER], Path(folder))
    return [each for each in cases if each.outcome is not None and each.outcome.kind == "wrong"]


def update(family: str, added: Sequence[int] = ()) -> int:
    """Pin a family anew, with more cases, unless a changed case is wrong; the number of wrong cases."""
    found = list(changes(family, added))
    wrong = prove([each for _, _, each in found])
    for each in wrong:
        print(f"{family} {each.case.seed}: {each.outcome}\n{each.case.source}")
    if not wrong:
        kept = pinned(family) | {seed: now for seed, now, _ in found}
        FOLDER.mkdir(parents=True, exist_ok=True)
        lines = [f"{seed} {now}\n" for seed, now in sorted(kept.items())]
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
    parser.add_argument(
        "--add", nargs="+", default=[], metavar="FAMILY:SEED", help="prove and pin more cases"
    )
    arguments = parser.parse_args()
    if arguments.add:
        added: dict[str, list[int]] = {}
        for family, _, seed in (word.partition(":") for word in arguments.add):
            added.setdefault(family, []).append(int(seed))
        return int(sum(update(family, found) for family, found in added.items()) > 0)
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
