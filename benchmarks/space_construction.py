"""How long it takes to count a search space of about 10^20 points and to draw from it.

    python benchmarks/space_construction.py

Prints, for two 20-parameter specifications of a tiled matrix multiplication, the size without and with
the constraints, the seconds to build and count the structure and to draw 1 000 distinct configurations,
and the memory; every configuration drawn is checked with the plain evaluator of expressions.  Then a
small space is compared with brute force.
"""

from __future__ import annotations

import argparse
import itertools
import random
import resource
import time
from collections.abc import Mapping

from orio_py.core.expr import Value, evaluate
from orio_py.frontend.expressions import parse_expression
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.parameter import Constraint, Parameter

TILES = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 384, 512)
LISTS: Mapping[str, tuple[Value, ...]] = {
    **{f"T{level}_{loop}": TILES for level in (1, 2) for loop in "IJK"},
    **{f"U_{loop}": tuple(range(1, 41)) for loop in "IJK"},
    **{f"RT_{loop}": tuple(range(1, 25)) for loop in "IJK"},
    "PERM": ("ijk", "ikj", "jik", "jki", "kij", "kji"),
    **dict.fromkeys(("VEC", "OMP", "SCREP", "ACOPY_A", "ACOPY_B", "ACOPY_C"), (False, True)),
    "CFLAGS": ("-O2", "-O3", "-O3 -ffast-math", "-Ofast"),
}
"""Twenty parameters: two levels of tiles, unroll factors, register tiles, loop order, switches, flags."""

USUAL: Mapping[str, str] = {
    **{f"tile_{loop}": f"T1_{loop} == 1 or T2_{loop} % T1_{loop} == 0" for loop in "IJK"},
    **{f"rest_{loop}": f"RT_{loop} == 1 or U_{loop} % RT_{loop} == 0" for loop in "IJ"},
    "registers": "RT_I*RT_J + RT_I*RT_K + RT_J*RT_K <= 150",
    "register_tile": "RT_I*RT_J*RT_K <= 150",
    "unroll": "U_I*U_J*U_K <= 1024",
    "level_1": "(T1_I*T1_J + T1_I*T1_K + T1_J*T1_K) * 8 <= L1",
    "level_2": "(T2_I*T2_J + T2_I*T2_K + T2_J*T2_K) * 8 <= L2",
}
"""Divisible tiles and unroll factors, and capacities of registers, of unrolled code and of two cache levels."""

ENTANGLED: Mapping[str, str] = {
    **USUAL,
    "copies": "(ACOPY_A*T1_I*T1_K + ACOPY_B*T1_K*T1_J + ACOPY_C*T1_I*T1_J) * 8 <= 24576",
    **{f"jam_{loop}": f"T1_{loop} == 1 or T1_{loop} % U_{loop} == 0" for loop in "IJK"},
}
"""The same, with further constraints that connect 15 of the parameters into one group."""

CACHES: Mapping[str, Value] = {"L1": 32 * 1024, "L2": 1024 * 1024}


def space_of(lists: Mapping[str, tuple[Value, ...]], conditions: Mapping[str, str]) -> SearchSpace:
    """A space from texts."""
    parameters = [Parameter(name, values) for name, values in lists.items()]
    constraints = [Constraint(name, parse_expression(text)) for name, text in conditions.items()]
    return SearchSpace(parameters, constraints, CACHES)


def measure(title: str, conditions: Mapping[str, str], draws: int) -> None:
    """Count and draw, print what it took."""
    start, busy = time.perf_counter(), time.process_time()
    space = space_of(LISTS, conditions)
    size = space.size
    counted = time.perf_counter()
    drawn = space.sample(draws, random.Random(1))
    done, busy = time.perf_counter(), time.process_time() - busy
    expressions = [constraint.expression for constraint in space.constraints]
    valid = sum(all(evaluate(e, {**CACHES, **point}) for e in expressions) for point in drawn)
    nodes = sum(group.nodes for group in space.groups)
    widest = max(len(group.parameters) for group in space.groups)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{title}: {len(LISTS)} parameters, {len(expressions)} constraints")
    print(f"  Cartesian size     {space.cartesian:.3e}")
    print(f"  valid size         {size} ({size:.3e})")
    print(f"  share              {size / space.cartesian:.2e}")
    print(f"  groups             {len(space.groups)}, the largest of {widest} parameters; {nodes} nodes")
    print(f"  build and count    {counted - start:.3f} s")
    print(f"  draw {draws:<6}        {done - counted:.3f} s, {len(set(drawn))} distinct, {valid} valid")
    print(f"  total              {done - start:.3f} s ({busy:.3f} s of processor time)")
    print(f"  peak memory        {memory} MiB, the whole process")


def cross_check() -> None:
    """Compare a small space with brute force, point by point and in order."""
    lists = {name: values[:3] for name, values in LISTS.items() if name[:2] in ("T1", "T2", "RT")}
    conditions = {
        "tile_I": USUAL["tile_I"],
        "tile_J": USUAL["tile_J"],
        "level_1": "T1_I*T1_J + T1_I*T1_K + T1_J*T1_K <= 20",
        "registers": "RT_I*RT_J*RT_K <= 6",
    }
    space = space_of(lists, conditions)
    expressions = [constraint.expression for constraint in space.constraints]
    points = (dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values()))
    expected = [point for point in points if all(evaluate(e, point) for e in expressions)]
    same = [dict(c) for c in space] == expected
    verdict = "equal, in order" if same else "DIFFERENT"
    print(f"brute force: {len(expected)} of {space.cartesian} points; the space has {space.size}: {verdict}")
    if not same:
        raise SystemExit(1)


def main() -> None:
    """Run all parts."""
    arguments = argparse.ArgumentParser(description="Search-space construction.")
    arguments.add_argument("--draws", type=int, default=1000, help="configurations to draw (1000)")
    draws = arguments.parse_args().draws
    measure("usual", USUAL, draws)
    measure("entangled", ENTANGLED, draws)
    cross_check()


if __name__ == "__main__":
    main()
