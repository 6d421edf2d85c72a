"""Bounds that leave no room: variants stay right, and compilers have nothing to say of them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from c_programs import openmp
from c_trees import context, parse, statement, transformed_file
from same_result import Case, assert_same_results

from orio_py.core.source import Position
from orio_py.ctree.emit import emit
from orio_py.transformation.base import Refusal, Transformation
from orio_py.transformation.loop_names import LoopName
from orio_py.transformation.parallel.openmp import OpenMP
from orio_py.transformation.parallel.parallelize import Parallelize
from orio_py.transformation.parallel.vectorize import Vectorize
from orio_py.transformation.restructuring.coalesce import Coalesce
from orio_py.transformation.restructuring.strip_mine import StripMine
from orio_py.transformation.storage.bound_replace import BoundReplace
from orio_py.transformation.storage.scalar_replace import ScalarReplace
from orio_py.transformation.tiling.permute import Permut
from orio_py.transformation.tiling.tile import Tile
from orio_py.transformation.unrolling.peel import Peel
from orio_py.transformation.unrolling.reg_tile import RegTile
from orio_py.transformation.unrolling.unroll import Unroll
from orio_py.transformation.unrolling.unroll_and_jam import UnrollAndJam
from orio_py.transformation.versions.specialize import Specialize

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

SIZES = ((0, 0, 0), (0, 1, 1), (0, 2, 3), (1, 3, 2), (2, 9, 5), (0, 13, 20))


def check(folder: Path, kind: str, *cases: tuple[Transformation, str]) -> None:
    batch = [Case(code, step, kind, SIZES, final_indices=True) for step, code in cases]
    flags = ("-Wsign-compare", "-Wtautological-compare", *openmp())
    assert assert_same_results(batch, folder, *flags) == len(cases)


def warnings_of(text: str, folder: Path) -> str:
    """What a compiler says of a file."""
    file = folder / "new.c"
    file.write_text(text, encoding="utf-8")
    command = ["gcc", "-c", "-Wall", "-Wextra", "-o", os.devnull, str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr


@pytest.mark.parametrize("kind", ["unsigned", "unsigned char", "int"])
def test_literal_bounds_below_the_span(kind: str, tmp_path: Path) -> None:
    loops = [
        f"for (j = {start}; j {test}; j += {step}) a[j] = b[j] * 2;"
        for start in ("s", "m")
        for test in ("< 1", "<= 8", "< 9", "<= 1", "< 12")
        for step in (1, 4)
    ]
    factors = [(Unroll(3), code) for code in loops]
    nest = f"for (j = 0; j < n; j++) for ({kind} k = j; k < 3; k++) p[j][k] = 1.5;"
    check(tmp_path, kind, *factors, (RegTile(("j", "k"), (3, 3)), nest))


def test_a_tile_with_the_size_of_an_index_that_is_declared_outside(tmp_path: Path) -> None:
    nest = "for (i = 0; i < n; i++) for (j = (int)sizeof(i); j > 0; j--) p[i][j] = i - j;"
    step = Tile((4, 3), ("ii", "jj"), (LoopName(("i",)), LoopName(("j",))))
    assert assert_same_results([Case(nest, step, "int", SIZES)], tmp_path, "-Wsign-compare") == 1


@pytest.mark.parametrize("bound", ["(n > 4 && m > 2 ? 9 : 2)", "((int)n & 15)", "(m ? (int)n & 7 : 3)"])
def test_unsigned_index_below_a_bound_that_compilers_know_not_to_be_negative(
    bound: str, tmp_path: Path
) -> None:
    loops = [
        (Unroll(4), f"for (j = {start}; j < {bound}; j++) a[j] = b[j] * 2;") for start in ("0", "3", "s")
    ]
    check(tmp_path, "unsigned", *loops)


@pytest.mark.parametrize("bound", ["sizeof(int) + m", "m + sizeof(int) * 2"])
def test_coalesced_loops_with_sizes_of_objects_as_bounds(bound: str, tmp_path: Path) -> None:
    nest = f"for (i = n; i > 1; i -= 2) for (j = 0; j < {bound}; j++) a[i + j] += b[j];"
    case = Case(nest, Coalesce("number"), "unsigned", SIZES)
    assert assert_same_results([case], tmp_path, "-Wsign-compare") == 1


@pytest.mark.parametrize("start", ["(size_t)(i + 1)", "(unsigned long)m"])
def test_coalesced_loops_with_starts_of_a_wide_unsigned_type(start: str, tmp_path: Path) -> None:
    nest = f"for (i = 0; i < n; i++) {{ for (j = {start}; j < (size_t)n; j++) for (k = 0; k <= m; k++) a[j] += b[k]; }}"
    case = Case(nest, Coalesce("number", loop="j"), "unsigned", SIZES)
    assert assert_same_results([case], tmp_path, "-Wsign-compare") == 1


def test_no_main_loop_where_none_can_run() -> None:
    loop = statement("for (unsigned j = i; j < 1; j += 4) a[j] = b[j];")
    around = context("unsigned i; double *a, *b;", live="a")
    assert Unroll(3).apply(loop, around) is loop
    loop = statement("for (j = i; j < 1; j += 4) a[j] = b[j];")
    text = emit(Unroll(3).apply(loop, context("int i, j; double *a, *b;", live="a")))
    assert "for (j = i; j < -7; j += 12)" in text


def test_the_end_below_a_macro_has_the_sign_of_the_index() -> None:
    loop = statement("for (unsigned j = i; j < TEN; j += 4) a[j] = b[j];")
    text = emit(Unroll(8).apply(loop, context("unsigned i; double *a, *b;", live="a", macros={"TEN": "10"})))
    assert "TEN > i && TEN - i > 28 && j < TEN - 28u" in text


def test_the_end_below_a_macro_that_is_cast_is_not_computed() -> None:
    loop = statement("for (j = 0; j < (long)TEN; j += 4) a[j] = b[j];")
    around = context("unsigned char j; double *a, *b;", live="a", macros={"TEN": "10"})
    assert "j < (long)TEN && (long)TEN - j > 28" in emit(Unroll(8).apply(loop, around))


def test_a_start_that_is_the_bound(tmp_path: Path) -> None:
    nothing, once = "for (j = s; j < s; j++)", "for (j = s; j <= s; j++)"
    body = "{ a[j] = b[j] * 2; acc += b[j]; }"
    steps = (Unroll(2), Peel(1), Peel(1, 2), Peel(0, 1), Peel(3))
    cases = [(step, f"{header} {body}") for header in (nothing, once) for step in steps]
    for header in (nothing, once):
        cases.append((ScalarReplace(), f"for (i = 0; i < n; i++) {header} {{ a[i] += b[j]; }}"))
        cases.append((Parallelize(), f"{header} {{ acc = a[j]; a[j] = b[j]; }}"))
        cases.append((OpenMP(True, ("omp parallel for lastprivate(acc)",)), f"{header} {{ acc = a[j]; }}"))
    check(tmp_path, "int", *cases)
    check(tmp_path, "unsigned", *cases)


SETTLED = (
    "for (i = 0; i < n; i++) a[i] = b[i] * 2;",
    "for (i = 0; i < m; i++) { for (j = 0; j < n; j++) p[i][j] = 1; acc += i; }",
    "{ double t; for (i = 0; i < n; i++) { t = b[i]; a[i] = t * t; } }",
    "for (i = 0; i < m; i++) { if (i < n) a[i] = 1; else b[i] = 2; if (i >= n && i > 1) acc += 1; }",
    "for (i = 0; i < m; i++) { double t = 3; if (n > i) { a[i] = t; } if (n <= i) count += 2; }",
    "for (i = 0; i < n && i < m; i++) a[i] = 1;",
    "{ i = 0; while (i < n) { a[i] = 2; i++; } }",
    "for (i = 0; i < m; i++) { acc += i < n ? 1 : 2; count += !(i < n); if (i < n || i > 3) a[i] = 4; }",
    "for (i = n; i > 0; i--) a[i] = b[i - 1];",
    "{\n#pragma GCC ivdep\nfor (i = 0; i < n; i++) a[i] = b[i] * 2; }",
)


@pytest.mark.parametrize("kind", ["unsigned", "size_t", "unsigned char"])
def test_versions_for_zero(kind: str, tmp_path: Path) -> None:
    codes = SETTLED[:-1]
    check(
        tmp_path, kind, *((Specialize("n", values), code) for code in codes for values in ((0,), (0, 1, 9)))
    )


def test_a_version_for_zero_of_an_unsigned_bound_of_signed_indices(tmp_path: Path) -> None:
    loops = [f"for ({index} k = 0; k < n; k += 2) a[k] = b[k];" for index in ("int", "long", "short")]
    for kind in ("size_t", "unsigned"):
        batch = [Case(code, Specialize("n", (0, 1, 9)), kind, SIZES) for code in loops]
        flags = ("-Wtype-limits", "-Wno-sign-compare")
        assert assert_same_results(batch, tmp_path, *flags) == len(batch)
    around = context("unsigned n; long k; double *a;", live="a")
    text = emit(Specialize("n", (1,)).apply(statement("for (k = 0; k < n - 1; k++) a[k] = 2;"), around))
    assert text.count("k < n - 1") == 2  # whether it is compared as a `long` depends on the machine
    around = context("unsigned n; int k; double *a;", live="a")
    text = emit(Specialize("n", (1,)).apply(statement("for (k = 0; k < n - 1; k++) a[k] = 2;"), around))
    assert text.count("k < n - 1") == 2


def test_casts_that_change_a_number(tmp_path: Path) -> None:
    around = context("int n, m; double *a;", live="a")
    for test, first, second in (
        ("(_Bool)n == 1", 1, 1),
        ("(unsigned char)n == 1", 1, 0),
        ("(short)n > 0", 1, 1),
        ("(short)n == 4464", 0, 1),
    ):
        code = f"for (i = 0; i < m; i++) if ({test}) a[i] = 2;"
        text = emit(Specialize("n", (65537, 70000)).apply(statement(code), around))
        # What the types keep of 65537 is 1, of 70000 it is 112 and 4464.
        assert text.count("a[i] = 2;") == 1 + first + second, test
        assert text.count(f"if ({test})") == 1, test
    loops = [
        f"for (i = 0; i < m; i++) if ({test}) a[i] = 2;"
        for test in ("(double)n / 2 > 0", "(double)n / 2 < 1", "(unsigned char)n == 9", "(_Bool)n == 1")
    ]
    batch = [Case(code, Specialize("n", (1, 9, 13)), "int", SIZES) for code in loops]
    assert assert_same_results(batch, tmp_path) == len(batch)


def test_starts_that_a_short_unsigned_index_does_not_hold(tmp_path: Path) -> None:
    steps = (Tile(4, "ii"), Peel(2), Peel(0, 2), Unroll(3))
    for kind in ("unsigned char", "unsigned short"):
        loops = [
            f"for (i = {start}; i < n; i++) {{ a[i] += 2; acc += i; }}"
            for start in ("s", f"({kind})(s + 65538)", "0x2", "s - 3", "s + 65536")
        ]
        batch = [Case(code, step, kind, SIZES) for code in loops for step in steps]
        # The last two starts are refused.
        assert assert_same_results(batch, tmp_path) == 3 * len(steps)


def test_peeled_loops_between_numbers_with_casts(tmp_path: Path) -> None:
    loops = [
        f"for (i = {start}; i < {bound}; i += {step}) {{ a[i] = b[i] * 2; acc += i; }}"
        for start in ("(unsigned)0", "(short)1")
        for bound in ("(signed char)259", "(unsigned char)(9 + 256)", "1 + 1")
        for step in (1, 2)
    ]
    for kind in ("size_t", "unsigned", "int"):
        batch = [
            Case(code, step, kind, SIZES) for code in loops for step in (Peel(1, 2), Peel(2), Peel(0, 1))
        ]
        assert assert_same_results(batch, tmp_path, "-Wtype-limits") == len(batch)


def test_blocks_of_a_wide_index_down_to_an_unsigned_bound(tmp_path: Path) -> None:
    loops = [
        f"for ({index} k = n; k >= {bound}; k -= {stride}) b[k] = a[k] * 2;"
        for index in ("long", "long long")
        for bound in ("s", "m")
        for stride in (1, 3)
    ]
    batch = [
        Case(code, step, "unsigned", SIZES) for code in loops for step in (Tile(6, "kk"), StripMine(9, "kk"))
    ]
    assert assert_same_results(batch, tmp_path) == len(batch)


def test_starts_of_another_type_than_the_names_in_them(tmp_path: Path) -> None:
    loops = [
        f"for (i = 0; i < n; i++) for (j = ({start}); j <= i + 3; j++) a[i] += b[3];"
        for start in ("m > 3 ? 0 : 1L", "m > 3", "0L", "m / 2 - 1L")
    ]
    for kind in ("size_t", "unsigned"):
        check(tmp_path, kind, *((ScalarReplace(), code) for code in loops))


def test_blocks_of_a_short_unsigned_index_and_an_unsigned_bound(tmp_path: Path) -> None:
    loops = [
        f"for ({index} k = {start}; k {test}; k {step}) {{ b[k] = a[k] * 2; acc += k; }}"
        for index in ("unsigned char", "unsigned short")
        for start, test, step in (
            ("0", "< n", "+= 2"),
            (f"({index})s", "<= m", "++"),
            (f"({index})n", "> s", "--"),
        )
    ]
    for kind in ("size_t", "unsigned"):
        check(tmp_path, kind, *((Tile(4, "kk"), code) for code in loops))


def test_a_short_unsigned_bound_is_not_tested_to_be_at_least_0(tmp_path: Path) -> None:
    code = "for (i = 0; i < m; i++) for (j = 0; j <= n; j++) acc += a[i] * b[j];"
    for kind in ("unsigned short", "unsigned char"):
        batch = [Case(code, step, kind, SIZES) for step in (ScalarReplace(), BoundReplace())]
        assert assert_same_results(batch, tmp_path, "-Wtype-limits") == len(batch)


def test_the_last_value_below_a_bound_computed_as_unsigned(tmp_path: Path) -> None:
    loops = [f"for (i = 0; i <= {bound}; i++) a[i] = b[i];" for bound in ("n / 2 + 1UL", "(n & 7u)", "m")]
    batch = [Case(code, StripMine(4, "it"), "int", SIZES, final_indices=True) for code in loops]
    flags = ("-Wtype-limits", "-Wno-sign-compare")
    assert assert_same_results(batch, tmp_path, *flags) == len(batch)


def test_bounds_in_constants_compare_as_before(tmp_path: Path) -> None:
    bounds = (
        "(unsigned short)(n / 2 + 1)",
        "+TEN",
        "(long)TEN",
        "c[3] % 8 + 2",
        "(n < m ? (unsigned char)n : 4)",
    )
    loops = [f"for (i = 0; i < s; i++) for (j = 0; j < {bound}; j++) acc += a[j];" for bound in bounds]
    check(tmp_path, "int", *((BoundReplace(), code.replace("TEN", "10")) for code in loops))
    wide = [code.replace("TEN", "10") for code in loops if "%" not in code]
    check(tmp_path, "size_t", *((BoundReplace(), code) for code in wide))


def test_short_bounds_of_an_unsigned_index(tmp_path: Path) -> None:
    for kind in ("unsigned char", "unsigned short"):
        loops = [
            f"for ({index} k = 0; k < {bound}; k += 2) a[k] = b[k] * 2;"
            for index in ("unsigned", "size_t")
            for bound in ("n", f"({kind})(n / 2)", f"({kind})9")
        ]
        check(tmp_path, kind, *((Unroll(3), code) for code in loops))


def test_openmp_counts_in_the_type_of_the_index(tmp_path: Path) -> None:
    bounds = (
        "n * 0.5",
        "(double)n / 2",
        "(n > 5 ? 2.5 : 3)",
        "s - n",
        "(long)(s - n)",
        "(unsigned char)(n - 1)",
    )
    loops = [f"for (unsigned char k = 0; k < {bound}; k++) a[k] += 1;" for bound in bounds]
    batch = [Case(code, step, "int", SIZES) for code in loops for step in (Parallelize(), Vectorize())]
    # All but the last bound are refused: the index does not hold them.
    assert assert_same_results(batch, tmp_path, *openmp()) == 2


def test_a_bound_that_a_cast_makes_smaller(tmp_path: Path) -> None:
    loops = [
        f"for (i = 0; i < {bound}; i++) a[i] += 2;"
        for bound in ("(unsigned char)260", "(_Bool)8", "(size_t)7", "(short)1", "(unsigned char)5")
    ]
    batch = [Case(code, step, "int", SIZES) for code in loops for step in (Unroll(3), Unroll(4))]
    flags = ("-Wno-sign-compare", "-Wno-overflow")
    assert assert_same_results(batch, tmp_path, *flags) == len(batch)


def test_a_loop_that_cannot_run_keeps_its_test() -> None:
    around = context("unsigned i, n; double *a, *b;", live="a i")
    text = emit(Specialize("n", (0,)).apply(statement(SETTLED[0]), around))
    assert text.startswith("if (n == 0u) {\n  for (i = 0; i < n; i++)")
    text = emit(Specialize("n", (0,)).apply(statement(SETTLED[-1]), around))
    assert text.count("#pragma GCC ivdep\n") == text.count("for (") == 2


def test_what_the_original_says_itself_stays() -> None:
    around = context("unsigned i, n; double *a; unsigned char c[9];", live="a")
    code = "for (i = 0; i < n; i++) if (i >= 0 && c[i] < n) a[i] = 2;"
    text = emit(Specialize("n", (300,)).apply(parse(code), around))
    assert text.count("if (i >= 0 && c[i] < n)") == 2, text


def test_blocks_that_count_a_signed_index_down_to_an_unsigned_bound(tmp_path: Path) -> None:
    # With blocks of 4 the index over blocks would come below zero, which compares as a huge number.
    loops = [
        f"for ({kind} k = n + 1; k {relation} s + 1u; k--) a[k] = b[k] * 2;"
        for kind in ("int", "short", "long")
        for relation in (">=", ">")
    ]
    batch = [Case(code, Tile(4, "block"), "size_t", SIZES) for code in loops]
    assert assert_same_results(batch, tmp_path) == len(loops)


WRAPPING = (
    "for (i = 0; i < n; i++) for (j = 2; j < n - 1; j++) p[i][j] += q[j][i];",
    "for (i = 0; i < m; i += 2) for (j = s; j <= n - s - 1; j += 2) p[i][j] += q[j][i];",
    "for (i = 0; i < s; i++) for (j = 9; j >= s; j -= 3) p[i][j] += q[j][i];",
    "for (i = 0; i < s; i++) for (j = 9; j > n - 1; j--) p[i][j] += q[j][i];",
)


def test_loops_whose_test_wraps_around_stay_behind_those_around_them(tmp_path: Path) -> None:
    orders = Permut((LoopName(("j",)), LoopName(("i",))))
    sizes = ((0, 0, 0), (0, 1, 0), (0, 9, 3), (0, 13, 7))
    batch = [Case(code, orders, "unsigned", sizes) for code in WRAPPING]
    assert assert_same_results(batch, tmp_path) == len(batch)
    text = emit(orders.apply(statement(WRAPPING[0]), batch[0].context))
    assert text.startswith("if (n > 0)\n  for (j = 2; j < n - 1; j++)")


def test_a_protecting_loop_that_cannot_be_tested_before() -> None:
    code = "for (k = 0; k < n; k++) for (i = k; i < n; i++) for (j = 0; j < n - 1; j++) p[k][i] = j;"
    around = Case(code, Unroll(1), "unsigned").context
    with pytest.raises(Refusal) as caught:
        Permut((LoopName(("k",)), LoopName(("j",)), LoopName(("i",)))).apply(statement(code), around)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.position) == ("ORIO-T031", Position("code.c", 1, 25))


def test_copies_of_loops_that_count_an_unsigned_index_down_to_zero(tmp_path: Path) -> None:
    code = "for (i = m; i <= n; i++) for (u = i + 1; u > 0; u--) a[u] += b[u];"
    around = context("unsigned i, u, m, n; double *restrict a, *restrict b;", live="a")
    text = emit(UnrollAndJam(2).apply(statement(code), around))
    assert "u > i + 1" in text  # and not `u > (0 > i + 1 ? 0 : i + 1)`, which gcc warns of
    batch = [Case(code.replace("(u =", "(unsigned u ="), UnrollAndJam(2), "unsigned", SIZES)]
    assert assert_same_results(batch, tmp_path) == 1


def test_a_start_that_a_cast_moves_out_of_the_index(tmp_path: Path) -> None:
    loops = [
        "for (signed char k = (unsigned char)(-3); k < n; k++) a[k + 40] = b[k + 40];",
        "for (signed char k = 300; k < n; k++) a[k] = b[k];",
        "for (short k = (unsigned char)(-3); k < n; k++) a[k] = b[k];",
    ]
    batch = [Case(code, StripMine(4, "kk"), "int", SIZES) for code in loops]
    assert assert_same_results(batch, tmp_path, "-Wno-overflow") == 1


@pytest.mark.parametrize(
    ("recipe", "body"),
    [
        (Unroll(3), "if (i < 4ul) a[i < sizeof(acc) ? i : 5u] += b[i == n ? 9u : i];"),
        (UnrollAndJam(2), "for (j = 0; j < 3; j++) a[i] += b[j] * (i < 4ul ? 2 : 3);"),
    ],
)
def test_copies_of_a_short_index_beside_unsigned_numbers(
    recipe: Unroll | UnrollAndJam, body: str, tmp_path: Path
) -> None:
    batch = [Case(f"for (unsigned short i = 0; i < n; i++) {{ {body} }}", recipe, "unsigned short", SIZES)]
    assert assert_same_results(batch, tmp_path, "-Wsign-compare") == 1


@pytest.mark.parametrize("bound", ["0", "1 - (short)1"])
def test_blocks_of_an_unsigned_index_that_is_never_below_zero(bound: str, tmp_path: Path) -> None:
    code = f"for (size_t i = n; i >= {bound}; --i) a[i] = b[i];"
    text = emit(StripMine(2, "ii").apply(statement(code), context("size_t n; double *a, *b;", live="a")))
    assert "ii -= 2" in text
    file = tmp_path / "blocks.c"
    file.write_text(f"#include <stddef.h>\nvoid f(size_t n, double *a, double *b) {{ {text} }}\n")
    compiled = subprocess.run(
        ["gcc", "-c", "-Wall", "-Wsign-compare", "-Werror", "-o", os.devnull, file], capture_output=True
    )
    assert compiled.stderr == b""


def test_limits_that_types_decide(tmp_path: Path) -> None:
    """Nothing is tested that holds for every value of a type: `0 > u`, or a size that is too small."""
    down = "for (i = s; i < n; i++) for (j = 2 * i; j > 0; j--) a[j] -= b[i + 3] * 0.5 + b[j];"
    size = "for (j = 1; j < (int)sizeof(acc); j += 4) a[j] += b[j];"
    for kind, case in (("unsigned", (UnrollAndJam(5), down)), ("unsigned char", (Unroll(4), size))):
        batch = [Case(case[1], case[0], kind, SIZES)]
        assert assert_same_results(batch, tmp_path, "-Wtype-limits") == 1


def test_what_a_truth_value_never_equals(tmp_path: Path) -> None:
    """Compilers say of a constant `_Bool` that it is out of range of 2, and of a variable by another warning."""
    text = """void f(double *y)
{
  _Bool i = 0;
  /*@ begin Loop(transform Peel(first=2)) @*/
  while (i < 1) { if (i == 2) y[2] = 1; y[i] = 2; i++; }
  /*@ end @*/
}
"""
    new = transformed_file(text, {})
    assert "_Bool i_first = i;" in new
    file = tmp_path / "new.c"
    file.write_text(new, encoding="utf-8")
    flags = ("-Wall", "-Wextra", "-Wno-bool-compare", "-Wno-bool-operation", "-Werror")
    compiled = subprocess.run(["gcc", "-c", *flags, "-o", os.devnull, file], capture_output=True)
    assert compiled.stderr == b""


def test_what_a_short_index_cuts_off_is_tested_as_it_is_then() -> None:
    """`s - 1` is -1 as an `int` and 255 as the index, with which the loop does not run."""
    around = context("unsigned char i, j, s, n; double *a;", live="a")
    code = "for (i = 1; i <= n; i++) for (j = s - 1; j < n; j += 2) a[i] += a[i + 3] + j;"
    text = emit(ScalarReplace().apply(statement(code), around))
    assert "if ((unsigned char)(s - 1) < n)" in text, text


def test_values_that_nothing_reads_get_no_variable_of_their_own(tmp_path: Path) -> None:
    text = """void f(int n, double *restrict a, double *restrict b)
{
  double t = 0;
  (void)t;
  /*@ begin Loop(transform Distribute()) @*/
  for (int i = 0; i < n; i++) {
    t = a[i];
    if (i % 3 != 1) b[i] += 2; else { t = a[i]; b[i] = t * 0.5; }
    t = b[i] + i;
  }
  /*@ end @*/
}
"""
    assert warnings_of(transformed_file(text, {}), tmp_path) == ""


def test_loops_up_to_an_unsigned_member_need_no_test_that_they_run(tmp_path: Path) -> None:
    text = """struct image { unsigned char w; int h; };
struct shade { unsigned char red, green; short rest; };
double f(double *a, double *b, int *c, struct image *image, struct shade *paint)
{
  int i;
  double acc = 0;
  /*@ begin Loop(transform Distribute()) @*/
  for (i = 0; i <= image->w; i += 4) {
    if (c[3] > 3) acc += paint[i].green;
    a[i + 1] = b[i + 1] + paint[i].rest;
  }
  /*@ end @*/
  return acc;
}
"""
    new = transformed_file(text, {})
    assert "const unsigned char image_w = image->w;" in new
    assert warnings_of(new, tmp_path) == ""


def test_unsigned_members_that_are_converted_or_divided_need_no_test_either(tmp_path: Path) -> None:
    text = """struct image { unsigned char w; unsigned char **rows; };
void f(int n, double *restrict a, double *restrict b, struct image *image)
{
  int i, j;
  /*@ begin Loop(transform ScalarReplace()) @*/
  for (i = 0; i < n; i++) for (j = image->w; j >= 0; j -= 3) a[i + 3] = b[j] - a[i - 3] / 3;
  /*@ end @*/
}
void g(double *a, struct image *image)
{
  int i, j;
  /*@ begin Loop(transform UnrollJam(ufactor=3)) @*/
  for (i = 0; i < 9; i++) for (j = 1; j <= image->w / 2; j++) a[i] += image->rows[j + 1][i] * 0.5;
  /*@ end @*/
}
"""
    assert warnings_of(transformed_file(text, {}), tmp_path) == ""


def test_unsigned_indices_below_small_constants_are_not_compared_with_less(tmp_path: Path) -> None:
    text = """void f(long n, long *restrict a, long *restrict b)
{
  unsigned long i;
  long sum = 0;
  /*@ begin Loop(transform UnrollReduction(ufactor=3)) @*/
  for (i = 0; i < sizeof(double); i += 4) sum += a[i] * b[i];
  /*@ end @*/
  a[n] = sum;
}
void g(unsigned n, unsigned m, double *restrict a, double *restrict b)
{
  unsigned i, j;
  /*@ begin Loop(transform RegTile(loops=['i', 'j'], ufactors=[2, 1])) @*/
  for (i = 0; i < 3 - !m; i += 3) for (j = 0; j < n; j++) a[i] += b[j];
  /*@ end @*/
  /*@ begin Loop(transform Unroll(ufactor=2)) @*/
  for (i = 0; i < 2 + (m > n); i += 2) b[i] = b[i] * 0.5;
  /*@ end @*/
}
"""
    assert warnings_of(transformed_file(text, {}), tmp_path) == ""


def test_blocks_of_names_that_are_needed_elsewhere_leave_nothing_in_tests(tmp_path: Path) -> None:
    text = """void f(int n, int m, double *a, double *b, double (*p)[40])
{
  int i, j;
  /*@ begin Loop(transform RegTile(loops=['i', 'j'], ufactors=[2, 3])) @*/
  for (i = m; i >= -3; i -= 2)
    for (j = 0; j < n + 2; j++) {
      a[i] = a[i] + p[i][j];
      { int j = 1; b[j] += 0.5; }
    }
  /*@ end @*/
}
"""
    assert warnings_of(transformed_file(text, {}), tmp_path) == ""


def test_short_unsigned_bounds_are_not_compared_with_what_is_below_zero(tmp_path: Path) -> None:
    text = """double f(unsigned n, const double *b)
{
  double acc = 0;
  /*@ begin Loop(transform Peel(first=3)) @*/
  for (int i = (long)(-3); i < (unsigned char)n; i++) acc += b[i];
  /*@ end @*/
  return acc;
}
"""
    assert warnings_of(transformed_file(text, {}), tmp_path) == ""
