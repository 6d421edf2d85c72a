"""Random regions and recipes, applied and compared: one case from its choices to its verdict.

A case is a function with an annotated region.  It goes the way of a user's file: the front end reads it,
the recipe is applied, the code is emitted.  The variants of a batch are compiled into one program.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Literal

from c_programs import SANITIZERS, links
from c_trees import parse
from proof_program import HEADER, RUNTIME, annotated_file, cases_file, strict_file, variant_text
from proof_reading import directly, same_context, through_the_front_end
from random_code import Code, plain, render, without_comments
from random_code_choices import Choices, Seeded
from random_code_regions import away_from_the_ends, random_code
from random_code_shapes import PLAIN, SHAPES
from random_real_files import random_real_code
from random_real_nests import REAL_FORMS
from random_recipes import MAKERS, Recipe, random_recipe

import orio_py
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Severity
from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.ctree.nodes import Compound
from orio_py.ctree.rewrite import used_names
from orio_py.ctree.verify import verify
from orio_py.spec.region import Region
from orio_py.transformation.base import Context
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.recipe import apply_recipe

Apply = Callable[[Region, Context], Compound]
"""How the recipe of a region is applied; tests put faulty ones here."""

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wno-bool-compare", "-pedantic", "-fsyntax-only", "-fopenmp")


MISTAKES = frozenset(f"ORIO-T{number:03}" for number in (*range(1, 11), 12, 16))
"""Codes of recipes that are written wrongly, which a drawn recipe should never be."""


@dataclass(frozen=True, slots=True)
class Case:
    """A region with a recipe; `inside` tells whether the annotation holds the code too."""

    code: Code
    recipe: Recipe
    inside: bool
    seed: int | None = None
    forms: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, str]:
        """What stands in the annotation and what behind it."""
        if not self.inside:
            return "\n".join(self.recipe.before.values()) + "\n", plain(render(self.code.items))
        body = plain(render(self.code.items, self.recipe.before))
        whole = self.recipe.before.get(-1, "")
        return (f"{whole}\n{{\n{body}}}\n" if whole else body), ""

    @property
    def source(self) -> str:
        """The annotated file; comments cannot stand inside an annotation."""
        recipe, body = self.lines
        if (file := self.code.file) is not None:
            original = render(self.code.items)
            recipe = without_comments(recipe) if self.inside else recipe
            return plain(file.text(self.code, recipe, original, original))
        return annotated_file(self.code, without_comments(recipe) if self.inside else recipe, body)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a case.

    `refused` has the code of the refusal; `unchanged` means that the recipe was an identity; `invalid` that
    the drawn code itself is undefined at all sizes; `wrong` is a finding, described by `text`;
    `compiler` one that only optimisation by the compiler shows.
    """

    kind: Literal["refused", "unchanged", "invalid", "same", "wrong", "compiler"]
    text: str = ""
    runs: int = 0


@dataclass(slots=True)
class Tried:
    """A case on its way: its variant once it has one, its outcome once there is one.

    `places` are those of a refusal and of its notes.
    """

    case: Case
    variant: str = ""
    outcome: Outcome | None = None
    places: str = ""


def known_names() -> tuple[str, ...]:
    """The transformations that random recipes can name."""
    return tuple(name for name in TRANSFORMATIONS if name in MAKERS)


def make_case(
    choices: Choices, seed: int | None = None, only: Sequence[str] = (), forms: Sequence[str] = ()
) -> Case:
    """A random region with a random recipe of `only` these transformations, or of all.

    Most regions for `only` some, and a quarter of the others, have a shape that suits one of them.  With
    `forms` of `REAL_FORMS` the case is a whole file in which one of them stands for certain.
    """
    aim = choices.pick(only) if only else choices.pick(tuple(SHAPES)) if choices.chance(25) else ""
    shape = SHAPES.get(aim, PLAIN) if aim and choices.chance(85) else PLAIN
    code = random_real_code(choices, forms, shape) if forms else random_code(choices, shape)
    recipe = random_recipe(choices, code, only or known_names())
    if "#" in render(code.items):  # conditions of the preprocessor cannot stand inside an annotation
        recipe = replace(recipe, before={_outermost(code): "\n".join(recipe.before.values())})
    # The end of a tile, of a strip and of a skewed range have to fit in the type, say the pages; so has the bound of
    # a parallel loop with its step, which gcc adds to it.
    lines = recipe.before.values()
    blocks = any(word in line for line in lines for word in ("tile", "tsize", "tripmine", "istribute"))
    if any("kew" in line for line in lines):
        code = away_from_the_ends(code, 8)
    elif blocks or any("nroll" in line and "arallel" in line for line in lines):
        code = away_from_the_ends(code, 1)
    return Case(code, recipe, set(recipe.before) != {_outermost(code)}, seed, tuple(forms))


def _outermost(code: Code) -> int:
    """The number of the only statement if that is a loop, otherwise that of the whole region."""
    single = code.items[0] if len(code.items) == 1 else None
    return -1 if single is None or isinstance(single, str) else single.number


def seeded_case(seed: int, only: Sequence[str] = (), forms: Sequence[str] = ()) -> Case:
    """The case of a seed."""
    return make_case(Seeded(seed), seed, only, forms)


def apply(case: Case, how: Apply | None = None) -> Tried:
    """Apply the recipe and check the tree: the input unchanged, the result well formed and stable."""
    if case.code.file is not None:
        return whole_file(case)
    tried = Tried(case)
    try:
        region, context = _read(case)
        before = structure_digest(region.tree)
        try:
            tree = how(region, context) if how else apply_recipe(region, {}, context)
        except DiagnosticError as refusal:
            code = refusal.diagnostics[0].code
            tried.outcome = Outcome("wrong" if code in MISTAKES else "refused", code)
            tried.places = _places(refusal.diagnostics)
            if any(problem.position is None for problem in refusal.diagnostics):
                tried.outcome = Outcome(
                    "wrong", f"a refusal without a place: {refusal.diagnostics[0].headline()}"
                )
            return tried
        finally:
            if structure_digest(region.tree) != before:
                tried.outcome = Outcome("wrong", "the input tree was modified")
        tried.variant = variant_text(tree)
        problem = _tree_problem(tree, region, context, how)
        if problem:
            tried.outcome = Outcome("wrong", problem)
        elif emit(tree) == _MARK.sub("", emit(region.tree)):
            tried.outcome = Outcome("unchanged")
    except Exception:  # an exception of a transformation is a finding like any other
        tried.outcome = Outcome("wrong", traceback.format_exc())
    return tried


def whole_file(case: Case) -> Tried:
    """Transform the file of the case as the command does; the variant is the file that it writes."""
    tried = Tried(case)
    try:
        with tempfile.TemporaryDirectory(prefix="orio-proof-") as folder:
            source, target = Path(folder, "code.c"), Path(folder, "out.c")
            source.write_text(case.source)
            done = orio_py.transform([source], output=target)
            tried.variant = target.read_text() if done.exit_code == 0 else ""
    except Exception:  # an exception of a transformation is a finding like any other
        tried.outcome = Outcome("wrong", traceback.format_exc())
        return tried
    errors = [each for each in done.diagnostics if each.severity is Severity.ERROR]
    if not tried.variant:
        tried.outcome = Outcome("refused", errors[0].code)
        tried.places = "\n".join(each.headline() for each in errors)
    return tried


def _places(problems: Sequence[Diagnostic]) -> str:
    parts = [part for problem in problems for part in (problem, *problem.notes)]
    return " ".join(f"{p.position.line}:{p.position.column}" for p in parts if p.position is not None)


def _read(case: Case) -> tuple[Region, Context]:
    recipe, body = case.lines
    region, context = directly(case.code, recipe if case.inside else f"{recipe}{{\n{body}}}\n")
    if case.seed is not None and case.seed % 10:
        return region, context
    recipe = without_comments(recipe) if case.inside else recipe
    region, other = through_the_front_end(case.code, recipe, body)
    variables = frozenset(name for name, *_ in (*case.code.indices, *case.code.scalars))
    variables &= used_names([region.tree])
    assert not (difference := same_context(context, other, variables)), difference
    return region, other


_MARK = re.compile(r"^ *#pragma orio_transform \d+\n", re.M)


def _tree_problem(tree: Compound, region: Region, context: Context, how: Apply | None) -> str:
    if problems := verify(tree):
        return f"the tree is not well formed: {problems}"
    text = emit(tree)
    if "#if" not in text:
        again = emit(parse(text))
        if again != text:
            return f"emitting, parsing and emitting again gives\n{again}"
    if how is None and emit(apply_recipe(region, {}, context)) != text:
        return "the transformation is not deterministic"
    return ""


@cache
def _runtime(folder: Path) -> Path:
    """The part of the program that all batches share, compiled."""
    (folder / "proof.h").write_text(HEADER)
    (folder / "runtime.c").write_text(RUNTIME)
    done = subprocess.run(
        ["gcc", "-O2", "-w", "-c", "runtime.c", "-o", "runtime.o"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder / "runtime.o"


def checked_flags() -> tuple[str, ...]:
    """Unoptimised, with the sanitizers where the compiler has them."""
    return ("-O0", "-g0", *(SANITIZERS if links(*SANITIZERS) else ()))


def optimised_flags() -> tuple[str, ...]:
    """Optimised and vectorised, which gives `ivdep` and `omp simd` a meaning."""
    return ("-O3", "-fno-math-errno", "-ffp-contract=off", "-fopenmp")


def run_batch(
    tried: Sequence[Tried], folder: Path, flags: Sequence[str] = (), *, strict: bool = True
) -> None:
    """Compile and run all cases that have no outcome yet, and give them one."""
    waiting = [number for number, each in enumerate(tried) if each.outcome is None]
    cases = [(each.case.code, each.variant) for each in tried]
    flags = tuple(flags) or checked_flags()
    if any("#pragma omp" in each.variant for each in tried) and links("-fopenmp"):
        flags = (*flags, "-fopenmp")
    while waiting:
        (folder / "cases.c").write_text(cases_file(cases, waiting))
        log = compiled_and_run(folder, flags)
        if not log.errors:
            break
        bad = {int(n) for n in re.findall(r"variant_(\d+):\d+(?::\d+)?: (?:fatal )?error", log.errors)}
        bad &= set(waiting)
        if not bad:
            raise AssertionError(f"the drawn code does not compile:\n{log.errors[:3000]}")
        for number in bad:
            lines = [line for line in log.errors.splitlines() if f"variant_{number}:" in line]
            tried[number].outcome = Outcome("wrong", "does not compile:\n" + "\n".join(lines[:9]))
        waiting = [number for number in waiting if number not in bad]
    else:
        return
    for number in waiting:
        if number in log.wrong:
            tried[number].outcome = Outcome("wrong", log.wrong[number], log.same.get(number, 0))
        elif log.same.get(number):
            tried[number].outcome = Outcome("same", runs=log.same[number])
        else:
            tried[number].outcome = Outcome("invalid")
    if strict:
        _look_for_warnings(tried, cases, waiting, folder)


@dataclass(slots=True)
class Log:
    """What a program said: the runs that agreed, by case, what went wrong, or why it does not compile."""

    same: dict[int, int] = field(default_factory=dict[int, int])
    wrong: dict[int, str] = field(default_factory=dict[int, str])
    errors: str = ""


def compiled_and_run(folder: Path, flags: Sequence[str]) -> Log:
    """What comes of the file `cases.c`."""
    runtime = _runtime(folder)
    command = ["gcc", "-std=c99", "-w", *flags, "cases.c", str(runtime), "-o", "cases", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    log = Log(errors=done.stderr if done.returncode else "")
    start = 0
    while not log.errors:
        status, output, errors = _execute(folder, start)
        last = _read_log(output, log)
        if output.endswith("end\n"):
            break
        if last is None:
            raise AssertionError(f"the program ended with status {status}: {errors[-2000:]}")
        phase, run, number = last
        start = run + 1
        if phase == "v":
            what = "does not end" if status == -signal.SIGVTALRM else f"ended with status {status}"
            log.wrong.setdefault(number, f"the variant {what}\n{_shorter(errors)}")
    return log


def _execute(folder: Path, start: int) -> tuple[int, str, str]:
    environment = {
        **os.environ,
        "ASAN_OPTIONS": "detect_leaks=0",
        "OMP_NUM_THREADS": "3",
        "OMP_WAIT_POLICY": "passive",
    }
    command = [str(folder / "cases"), str(start)]
    done = subprocess.run(command, capture_output=True, timeout=600, env=environment)
    return done.returncode, done.stdout.decode(), done.stderr.decode("utf-8", "replace")


def _read_log(output: str, log: Log) -> tuple[str, int, int] | None:
    """Note what the lines say; the last run that began."""
    last: tuple[str, int, int] | None = None
    for line in output.splitlines():
        word, *rest = line.split(" ", 3)
        match word:
            case "o" | "v":
                last = word, int(rest[0]), int(rest[1])
            case "same":
                log.same[int(rest[1])] = log.same.get(int(rest[1]), 0) + 1
            case "diff":
                log.wrong.setdefault(int(rest[1]), rest[2])
            case _:
                pass
    return last


def _shorter(errors: str) -> str:
    lines = [line for line in errors.splitlines() if line.strip()]
    return "\n".join(lines[:12])


_WARNING = re.compile(
    r"^(original|variant)_(\d+):\d+:\d+: (?:warning|error): (.*?)(?:\[(-W[\w=+-]+)\])?$", re.M
)


def _look_for_warnings(
    tried: Sequence[Tried], cases: Sequence[tuple[Code, str]], waiting: Sequence[int], folder: Path
) -> None:
    """Variants must compile without warnings of a kind that the original does not have."""
    (folder / "strict.c").write_text(strict_file(cases, waiting))
    warnings = strictly_compiled(folder)
    had: set[tuple[int, str]] = set()
    found: list[tuple[int, str, str]] = []
    for match in _WARNING.finditer(warnings):
        what, number, message, flag = match[1], int(match[2]), match[3], match[4] or ""
        if what == "original":
            had.add((number, flag))
        else:
            found.append((number, flag, message))
    for number, flag, message in found:
        outcome = tried[number].outcome
        if (number, flag) not in had and outcome is not None and outcome.kind in {"same", "invalid"}:
            tried[number].outcome = Outcome("wrong", f"warning: {message} [{flag}]", outcome.runs)


def strictly_compiled(folder: Path) -> str:
    """What the compiler says of the file `strict.c`."""
    command = ["gcc", *STRICT, "strict.c"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stderr


def report(tried: Tried) -> str:
    """Everything about one case, and how to see it again."""
    case, outcome = tried.case, tried.outcome
    text = f"{case.source}\n--- became ---\n{tried.variant}\n"
    if case.code.noalias or case.code.reassociate:
        text += f"promised: noalias={case.code.noalias}, reassociate={case.code.reassociate}\n"
    text += f"runs: {', '.join(str((r.s, r.n, r.m, r.shift)) for r in case.code.runs)}\n"
    text += f"{outcome.kind}: {outcome.text}\n" if outcome is not None else ""
    if case.seed is not None:
        forms = (
            f" --forms {'all' if case.forms == REAL_FORMS else ','.join(case.forms)}" if case.forms else ""
        )
        text = f"seed {case.seed}; again with: python benchmarks/same_result.py --case {case.seed}{forms}\n{text}"
    return text
