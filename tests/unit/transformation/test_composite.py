"""Composite's keys as a schedule: which steps there are, when, and for which loops."""

from __future__ import annotations

import pytest
from c_trees import composite, transformed_file

from orio_py.transformation.base import Refusal
from orio_py.transformation.composite.steps import Loops, Named, Over, ScheduleStep
from orio_py.transformation.loop_names import LoopName
from orio_py.transformation.restructuring.strip_mine import StripMine
from orio_py.transformation.tiling.tile import Tile


def stages(**keys: object) -> list[tuple[str, bool]]:
    return [(stage.key, stage.is_check) for stage in composite(**keys).stages]


def test_nothing_asked_for_is_no_stage() -> None:
    off = {"openmp": (False, "omp parallel for"), "scalarreplace": False, "tile": [], "cuda": False}
    assert stages(**off, unrolljam=(["i"], [1]), regtile=(["i"], [1]), force=True) == []


def test_keys_have_their_turns_however_they_are_written() -> None:
    assert stages(openmp=(True, "omp parallel for"), unrolljam=(["i"], [2]), tile=[("i", 4, "ii")]) == [
        ("tile", False),
        ("openmp", True),
        ("unrolljam", False),
        ("unrolljam", False),
        ("openmp", False),
    ]


def test_kernels_are_looked_for_before_unrolling_only_where_that_still_holds() -> None:
    jams = (["i"], [2])
    assert stages(cuda=True) == [("cuda", False)]
    assert stages(cuda=True, unrolljam=jams)[0] == ("cuda", True)
    assert ("cuda", True) not in stages(cuda=True, unrolljam=jams, unrollreduction=jams)


def test_steps_say_which_loops_they_are_for() -> None:
    (tiles,) = composite(tile=[("i", 1, "ii"), (["j"], 4, "jj")], force=True).stages
    assert tiles.steps == (
        ScheduleStep(None, Named(LoopName(("i",)))),
        ScheduleStep(Tile(4, "jj", force=True), Named(LoopName(("j",), optional=True))),
    )
    outer, inner = composite(unrolljam=(["i"], [2])).stages
    assert [step.loops for step in (*outer.steps, *inner.steps)] == [Over("i", innermost=False), Over("i")]
    check, _ = composite(parallelize=True).stages
    assert [step.loops for step in check.steps] == [Loops.HEADS]


def test_strips_are_tiles_of_another_name() -> None:
    (strips,) = composite(stripmine=[("i", 4, "ii")]).stages
    (step,) = strips.steps
    assert type(step.transformation) is StripMine
    assert isinstance(step.transformation, Tile)
    assert (StripMine.name, Tile.name) == ("StripMine", "Tile")


def test_loops_of_register_tiles_are_unrolled_once() -> None:
    both = composite(regtile=(["i", "j"], [2, 1]), unrolljam=(["i", "j", "k"], [3, 4, 5]))
    alone = composite(regtile=(["i", "j"], [2, 1]), unrolljam=(["j", "k"], [4, 5]))
    assert both == alone
    assert both.factors == {"i": 2, "j": 4, "k": 5}


def test_a_limit_to_the_vector_length_is_kept_or_copies_are_refused() -> None:
    """`x[479]` is written two iterations before it is read."""
    file = """void f(int first, double *out) {{
  double x[961];
  int i;
  for (i = 0; i < 961; i++) x[i] = out[i];
  /*@ begin Loop(transform Composite({keys})) @*/
  for (i = first; i < 960; i++) x[i] = x[960 - i];
  /*@ end @*/
  out[0] = x[3];
}}
"""
    assert "#pragma omp simd safelen(2)" in transformed_file(file.format(keys="vectorize=True"), {})
    with pytest.raises(Refusal) as caught:
        transformed_file(file.format(keys="unrolljam=(['i'], [4]), vectorize=True"), {})
    assert caught.value.diagnostics[0].code == "ORIO-T040"
