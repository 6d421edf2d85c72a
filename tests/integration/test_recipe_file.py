"""Recipes by statement number on whole files: `--recipe`, the examples, and a region that is tuned."""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from c_programs import checked, compile_strictly, run
from c_trees import transformed_file

from orio_py import TuneOptions, check, space, transform, tune
from orio_py.cli.main import main
from orio_py.core.expr import Value
from orio_py.transformation.statements.table import COMMANDS, OTHER_NAMES
from orio_py.tuning.files.load import load

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples" / "statement-recipes"
PAIRS = sorted(path.stem for path in EXAMPLES.glob("*.recipe") if path.with_suffix(".c").exists())
ON_GPU = {"sd_t_d1_1_cuda.recipe": "sd_t_d1_1.c", "local_grad3_cuda.recipe": "local_grad3.c"}
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FUNCTION = """void f(int n, double *restrict x)
{
  int i;
  /*@ begin CHiLL(RECIPE) @*/
  for (i = 0; i < n; i++)
    x[i] = 2 * x[i];
  /*@ end @*/
}
"""
RECIPE = "# twice\nUF[] = [2, 3];\nunroll(0, 'i', UF)\n"

SMALL: Mapping[str, Mapping[str, str]] = {
    "sd_t_d1_1": {" 16\n": " 5\n"},
    "local_grad3": {"nelt 1000": "nelt 3", "lx 10": "lx 7"},
}
"""What makes an example small enough to run under the sanitizers."""

DRIVER = """#include <stdio.h>
#include <string.h>
PROTOTYPES
#define ELEMENTS 100000
static double before[ARRAYS][ELEMENTS], one[ARRAYS][ELEMENTS], two[ARRAYS][ELEMENTS];
int main(void) {
  unsigned x = 12345;
  for (int a = 0; a < ARRAYS; a++)
    for (int k = 0; k < ELEMENTS; k++)
      before[a][k] = (double)((x = x * 1103515245u + 12345u) >> 16) / 777.0;
  memcpy(one, before, sizeof one);
  memcpy(two, before, sizeof two);
  original(ONE);
  variant(TWO);
  puts(memcmp(one, two, sizeof one) == 0 && memcmp(one, before, sizeof one) != 0 ? "same" : "different");
  return 0;
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "f.c").write_text(FUNCTION.replace("RECIPE", ""))
    (tmp_path / "own.c").write_text(FUNCTION.replace("RECIPE", " unroll(0, 'i', 5) "))
    (tmp_path / "f.recipe").write_text(RECIPE)
    return tmp_path


def unrolled(path: Path) -> int:
    """How many copies the body of the main loop has."""
    return path.read_text().partition("\n#else")[0].count("= 2 * x[i") - 1


PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "statement-recipes.md"
BLOCK = r"^```c\n((?:(?!```).)*)^```"
SHOWN = re.compile(BLOCK + r"\n\nbecomes with `([^`]*)`\n\n" + BLOCK, re.MULTILINE | re.DOTALL)
AROUND = """void f(double *restrict x, double *restrict y, double a[restrict 8][8], double b[restrict 8][8])
{
int i, j, k;
/*@ begin CHiLL(RECIPE) @*/
CODE/*@ end @*/
}
"""


# --- the examples ---


def small(name: str, folder: Path) -> Path:
    text = (EXAMPLES / f"{name}.c").read_text()
    for old, new in SMALL[name].items():
        assert old in text
        text = text.replace(old, new)
    path = folder / f"{name}.c"
    path.write_text(text)
    return path


def compare(name: str, path: Path, folder: Path) -> str:
    """Run the variant in a transformed file beside the user's code, which the file keeps."""
    (prototype,) = re.findall(rf"^void {name}\([^;]*\);", path.read_text(), re.MULTILINE)
    arrays = prototype.count("*")
    driver = folder / "driver.c"
    text = DRIVER.replace("ARRAYS", str(arrays))
    both = (prototype.replace(name, which) for which in ("original", "variant"))
    text = text.replace("PROTOTYPES", "\n".join(both))
    for word, array in (("ONE", "one"), ("TWO", "two")):
        text = text.replace(f"({word})", "(" + ", ".join(f"{array}[{k}]" for k in range(arrays)) + ")")
    driver.write_text(text)
    objects = []
    for which, flags in (("original", ["-DORIO_ORIGINAL"]), ("variant", [])):
        objects.append(str(folder / f"{which}.o"))
        run(["gcc", *checked(), f"-D{name}={which}", *flags, "-c", str(path), "-o", objects[-1]])
    run(["gcc", *checked(), str(driver), *objects, "-o", str(folder / "compare")])
    return run([str(folder / "compare")])


@pytest.mark.proof
@needs_gcc
@pytest.mark.parametrize("name", PAIRS)
def test_an_example_computes_the_same_with_every_factor(name: str, tmp_path: Path) -> None:
    source, recipe, output = small(name, tmp_path), EXAMPLES / f"{name}.recipe", tmp_path / "out.c"
    (task,) = load([source], recipe=recipe).tasks
    names = [parameter.name for parameter in task.task.parameters]
    points = list(itertools.product(*(parameter.values for parameter in task.task.parameters)))
    assert len(points) == {"sd_t_d1_1": 5, "local_grad3": 16}[name]
    seen: set[str] = set()
    for point in points:
        pins: dict[str, Value] = dict(zip(names, point, strict=True))
        report = transform(source, output=output, recipe=recipe, pins=pins)
        assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
        seen.add(output.read_text())
        compile_strictly(output, tmp_path)
        assert compare(name, output, tmp_path) == "same\n"
    assert len(seen) == len(points)


@needs_gcc
@pytest.mark.parametrize("name", ON_GPU)
def test_examples_for_a_gpu_become_calls_of_host_functions(name: str, tmp_path: Path) -> None:
    """What the kernels compute is compared in `test_cuda_recipes.py`."""
    output = tmp_path / "out.c"
    report = transform(EXAMPLES / ON_GPU[name], output=output, recipe=EXAMPLES / name)
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    assert [path.name for path in report.outputs] == ["out.c", "out_cuda.cu", "out_cuda.h"]
    # The indices are the user's, and nothing counts in them any more.
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable"]
    run(["gcc", *flags, "-c", str(output), "-o", str(tmp_path / "out.o")])


def test_each_recipe_of_the_examples_is_tested() -> None:
    assert {path.name for path in EXAMPLES.glob("*.recipe")} == {f"{name}.recipe" for name in PAIRS} | set(
        ON_GPU
    )


def test_the_page_shows_the_kernel_that_cuda_makes(tmp_path: Path) -> None:
    shown = re.search(
        BLOCK + r"\n\nbecomes with `([^`]*)` a call.*?^```cuda\n(.*?)^```", PAGE.read_text(), re.M | re.S
    )
    assert shown is not None
    linear = AROUND.replace(
        "double a[restrict 8][8], double b[restrict 8][8]", "double *restrict a, double *restrict b"
    )
    (tmp_path / "f.c").write_text(linear.replace("RECIPE", shown[2]).replace("CODE", shown[1]))
    assert transform(tmp_path / "f.c", output=tmp_path / "out.c").exit_code == 0
    assert shown[3] in (tmp_path / "out_cuda.cu").read_text()


@needs_gcc
def test_the_comparison_can_fail(tmp_path: Path) -> None:
    source, output = small("sd_t_d1_1", tmp_path), tmp_path / "out.c"
    transform(source, output=output, recipe=EXAMPLES / "sd_t_d1_1.recipe", pins={"UF0": 2})
    text = output.read_text()
    broken = text.replace("t2[h7 + 1 +", "t2[h7 +", 1)
    assert broken != text
    output.write_text(broken)
    assert compare("sd_t_d1_1", output, tmp_path) == "different\n"


def test_the_examples_are_free_of_mistakes() -> None:
    report = check(EXAMPLES)
    assert [d.headline() for d in report.diagnostics] == []
    assert report.regions == len(list(EXAMPLES.glob("*.c")))


# --- where a recipe comes from ---


def test_the_file_serves_regions_without_a_recipe(folder: Path) -> None:
    report = transform(folder, output=folder / "out", recipe=folder / "f.recipe")
    assert (report.exit_code, report.diagnostics) == (0, ())
    assert unrolled(folder / "out" / "f.c") == 2
    assert unrolled(folder / "out" / "own.c") == 5


@pytest.mark.parametrize(("settings", "copies"), [([], 2), (["--set", "UF=3"], 3)])
def test_a_list_takes_its_first_value_or_the_one_set(folder: Path, settings: list[str], copies: int) -> None:
    output = folder / "out.c"
    command = ["transform", str(folder / "f.c"), "--recipe", str(folder / "f.recipe"), "-o", str(output)]
    assert main([*command, *settings]) == 0
    assert unrolled(output) == copies
    assert f"configuration: UF={copies}; not measured" in output.read_text()


def test_without_a_recipe_the_code_stays(folder: Path) -> None:
    output = folder / "out.c"
    assert transform(folder / "f.c", output=output).exit_code == 0
    assert unrolled(output) == 0


def test_a_value_that_is_not_listed_is_refused(folder: Path) -> None:
    report = transform(folder / "f.c", recipe=folder / "f.recipe", pins={"UF": 7})
    assert report.exit_code == 2
    assert [d.code for d in report.diagnostics] == ["ORIO-P008"]


@pytest.mark.parametrize(
    ("recipe", "code", "place"),
    [
        ("unroll(0, 'i', 2", "ORIO-A020", "1:7"),
        ("unrol(0, 'i', 2)", "ORIO-T100", "1:1"),
        ("\n  unroll(0, 'j', 2)", "ORIO-T103", "2:13"),
        ("unroll(0, 'i', V)", "ORIO-T007", "1:16"),
        ("# nothing\n", "ORIO-U016", None),
        ("UF[] = [2];\n", "ORIO-U016", None),
    ],
)
def test_mistakes_stand_in_the_recipe_file(folder: Path, recipe: str, code: str, place: str | None) -> None:
    path = folder / "bad.recipe"
    path.write_text(recipe)
    report = transform(folder / "f.c", recipe=path)
    assert report.exit_code == 2
    problem = report.diagnostics[0]
    assert problem.code == code
    assert problem.position is None or str(problem.position) == f"{path}:{place}"
    assert (problem.position is None) == (place is None)
    assert str(path) in report.sources
    assert not (folder / "_f.c").exists()


def test_a_recipe_that_no_region_takes_is_an_error(folder: Path) -> None:
    report = transform(folder / "own.c", recipe=folder / "f.recipe")
    (problem,) = report.diagnostics
    assert (report.exit_code, problem.code) == (2, "ORIO-U016")
    assert "CHiLL" in (problem.help or "")


def test_a_missing_recipe_file_is_reported(folder: Path) -> None:
    report = transform(folder / "f.c", recipe=folder / "none.recipe")
    assert (report.exit_code, [d.code for d in report.diagnostics]) == (2, ["ORIO-U008"])


def test_a_refusal_shows_the_recipe_and_the_code(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "carried.c"
    path.write_text(FUNCTION.replace("RECIPE", "").replace("2 * x[i]", "x[i - 1]").replace("i = 0", "i = 1"))
    nest = path.read_text().replace("  for (i", "  for (int t = 0; t < n; t++)\n  for (i", 1)
    path.write_text(nest)
    (folder / "swap.recipe").write_text("permute(0, ('i', 't'))\n")
    assert main(["transform", str(path), "--recipe", str(folder / "swap.recipe")]) == 2
    shown = capsys.readouterr().err
    assert f"{folder / 'swap.recipe'}:1:1: error[ORIO-T040]" in shown
    assert "permute(0, ('i', 't'))\n" in shown
    assert f"{path}:7:5: note: writes `x[i]`" in shown


# --- the page ---


@pytest.mark.parametrize(("before", "recipe", "after"), SHOWN.findall(PAGE.read_text()))
def test_the_code_becomes_what_the_page_says(before: str, recipe: str, after: str) -> None:
    text = AROUND.replace("RECIPE", recipe).replace("CODE", before)
    assert transformed_file(text, {}) == AROUND.replace("RECIPE", recipe).replace("CODE", after)


def test_the_page_shows_some_commands() -> None:
    assert len(SHOWN.findall(PAGE.read_text())) == 3
    assert all(f"| `{name}(" in PAGE.read_text() for name in COMMANDS)
    assert all(f"`{name}" in PAGE.read_text() for name in OTHER_NAMES)


# --- tuning ---


@needs_gcc
def test_a_region_with_lists_is_tuned(tmp_path: Path) -> None:
    path, output = tmp_path / "contraction.c", tmp_path / "out.c"
    path.write_text((EXAMPLES / "contraction.c").read_text().replace("[200]", "[24]"))
    (region,) = space(path).regions
    assert {p.name: p.count for p in region.parameters} == {"ORDER": 3, "UF0": 3}
    assert region.valid == 9
    report = tune([path], output=output, options=TuneOptions(trials=4, seed=1))
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    (tuned,) = report.regions
    assert tuned.trials == 4
    assert tuned.best is not None
    assert set(tuned.best.configuration) == {"ORDER", "UF0"}
    run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-c", str(output), "-o", str(tmp_path / "out.o")])


@needs_gcc
def test_a_tuned_file_can_be_tuned_again(tmp_path: Path) -> None:
    path = tmp_path / "contraction.c"
    path.write_text((EXAMPLES / "contraction.c").read_text().replace("[200]", "[16]"))
    first = transform(path, in_place=True, pins={"UF0": 2})
    again = transform(path, in_place=True, pins={"UF0": 2})
    assert (first.exit_code, again.exit_code) == (0, 0)
    once = path.read_text()
    assert transform(path, in_place=True, pins={"UF0": 2}).exit_code == 0
    assert path.read_text() == once
