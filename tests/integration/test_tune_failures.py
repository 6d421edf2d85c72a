"""Variants that crash, hang, compute something else or do not compile are counted, and nothing ends the run."""

import json
import os
from pathlib import Path

import pytest
from c_programs import SANITIZERS, links

import orio_py
from orio_py.cli.main import main
from orio_py.core.units import Seconds
from orio_py.record.measurement import Stage
from orio_py.record.outcome import Outcome
from orio_py.search.base import Search, SearchContext
from orio_py.spec.assumptions import Promise
from orio_py.tuning import plan as plans
from orio_py.tuning.variants import evaluators

SOURCE = r"""#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifndef MODE
#define MODE 0
#endif
static double factor(double x)
{
#if MODE == 1
  abort();
#elif MODE == 2
  for (;;) { volatile int forever = 1; (void)forever; }
#elif MODE == 3
  return x * 1.001;
#elif MODE == 4
  return x @ 2;
#elif MODE == 6
  exit(3);
#elif MODE == 7
  static int forks = 1;
  if (forks-- > 0) fork();
#elif MODE == 8
  kill(getppid(), SIGKILL);
#elif MODE == 9
  static int starts = 1;
  if (starts-- > 0 && fork() == 0) {
    setsid();
    if (fork() == 0) {
      FILE *noted = fopen("daemon.pid", "w");
      fprintf(noted, "%%d", (int)getpid());
      fclose(noted);
      for (;;) sleep(1);
    }
    sleep(1);
    _exit(0);
  }
#elif MODE == 10
  if (fork()) _exit(0);
#endif
  return x;
}
void scale(int n, double *a, double *b)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1 @CFLAGS@'; }
    def performance_params { param CFLAGS[] = ['', %s]; }
    def input_params { param n[] = [1000]; }
    def input_vars { decl dynamic double a[n] = random; decl dynamic double b[n] = random; }
    def search { arg algorithm = 'Exhaustive'; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=2)) @*/
  for (i = 0; i < n; i++)
    b[i] = factor(a[i]);
  /*@ end @*/
#if MODE == 5
  b[n] = 1.0;
#endif
  /*@ end @*/
}
"""


def tune(tmp_path: Path, modes: list[int], **options):
    source = tmp_path / "scale.c"
    source.write_text(SOURCE % ", ".join(f"'-DMODE={mode}'" for mode in modes))
    return orio_py.tune(source, options=orio_py.TuneOptions(seed=3, **options))


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        (1, "crash"),
        (2, "timeout"),
        (3, "wrong result"),
        (4, "compile error"),
        (5, "write out of bounds"),
        (6, "no result"),
        (7, "no result"),
        (8, "no result"),
        (10, "no result"),
    ],
)
def test_each_failure_is_counted_by_kind(tmp_path: Path, mode: int, kind: str) -> None:
    report = tune(tmp_path, [mode], timeout=Seconds(2.0))
    region = report.regions[0]
    assert region.failures == {kind: 1}
    assert region.trials == 2
    assert report.exit_code == 0
    assert region.best is not None
    assert region.best.configuration == {"CFLAGS": ""}


@pytest.mark.share(2)
@pytest.mark.parametrize("options", ["", " -fsanitize=address"], ids=["server", "processes of their own"])
def test_what_a_variant_leaves_behind_is_ended(tmp_path: Path, options: str) -> None:
    if options and not links(*SANITIZERS):
        pytest.skip("the compiler's sanitizer libraries are not installed")
    source = tmp_path / "scale.c"
    source.write_text((SOURCE % "'-DMODE=9'").replace("gcc -O1", f"gcc -O1{options}"))
    region = orio_py.tune(source, options=orio_py.TuneOptions(seed=3)).regions[0]
    assert region.failures == {"no result": 1}
    if (noted := tmp_path / "daemon.pid").exists():
        with pytest.raises(ProcessLookupError):
            os.kill(int(noted.read_text()), 0)


def test_json_tells_failed_from_invalid(tmp_path: Path) -> None:
    entry = tune(tmp_path, [1, 3, 4]).regions[0].as_json()
    assert (entry["trials"], entry["failed"], entry["invalid"], entry["refused"]) == (4, 2, 1, 0)


@pytest.mark.skipif(not links(*SANITIZERS), reason="the compiler's sanitizer libraries are not installed")
def test_a_sanitizer_report_is_a_failure_of_its_own(tmp_path: Path) -> None:
    source = tmp_path / "scale.c"
    text = (SOURCE % "'-DMODE=5'").replace("gcc -O1", "gcc -O1 -g -fsanitize=address,undefined")
    source.write_text(text)
    region = orio_py.tune(source).regions[0]
    assert region.failures == {"sanitizer report": 1}


def test_no_valid_variant_leaves_the_file_alone_and_exits_with_4(tmp_path: Path) -> None:
    source = tmp_path / "scatter.c"
    source.write_text(
        """void scatter(int n, const int *p, double *a)
{
  /*@ begin PerfTuning (
    def input_params { param n[] = [40]; }
    def input_vars { decl dynamic double a[n] = random; decl dynamic int p[n] = random; }
  ) @*/
  /*@ begin Loop (transform Permut(seq=['j', 'i'], force=True)) @*/
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      a[p[i]] = 0.5 * a[p[j]] + 0.1 * i;
  /*@ end @*/
  /*@ end @*/
}
"""
    )
    report = orio_py.tune(source)
    assert report.exit_code == 4
    assert report.regions[0].failures == {"wrong result": 1}
    assert report.diagnostics[-1].code == "ORIO-M020"
    assert [p.name for p in tmp_path.iterdir()] == ["scatter.c"]


REGION = """void {name}(int n, const int *p, double *a)
{{
  /*@ begin PerfTuning (
    def input_params {{ param n[] = [40]; }}
    def input_vars {{ decl dynamic double a[n] = random; decl dynamic int p[n] = random; }}
  ) @*/
  /*@ begin Loop (transform {recipe}) @*/
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      a[{index}] = 0.5 * a[p[j]] + 0.1 * i;
  /*@ end @*/
  /*@ end @*/
}}
"""
GOOD = REGION.format(name="good", recipe="Unroll(ufactor=2)", index="i")
INVALID = REGION.format(name="invalid", recipe="Permut(seq=['j', 'i'], force=True)", index="p[i]")
REFUSED = REGION.format(name="refused", recipe="Permut(seq=['j', 'i'])", index="p[i]")
BROKEN = REGION.format(name="broken", recipe="Unroll(ufactor=2)", index="undeclared(i)")
UNMEASURED = """void unmeasured(int n, const int *p, double *a)
{
  /*@ begin Loop (transform Permut(seq=['j', 'i'])) @*/
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      a[p[i]] = 0.5 * a[p[j]] + 0.1 * i;
  /*@ end @*/
}
"""


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("others", "codes"),
    [
        ([INVALID], {"ORIO-M020"}),
        ([REFUSED], {"ORIO-T041"}),
        ([UNMEASURED], {"ORIO-T041"}),
        ([INVALID, REFUSED, UNMEASURED], {"ORIO-M020", "ORIO-T041"}),
    ],
    ids=["no valid variant", "refused", "refused, not measured", "all"],
)
@pytest.mark.parametrize("is_first", [True, False], ids=["good one first", "good one last"])
def test_regions_without_a_valid_variant_keep_their_text_and_the_others_are_written(
    tmp_path: Path, capsys, others: list[str], codes: set[str], is_first: bool
) -> None:
    source = tmp_path / "file.c"
    source.write_text("".join([GOOD, *others] if is_first else [*others, GOOD]))
    assert main(["tune", str(source), "--no-db", "--json", str(tmp_path / "r.json")]) == 4
    text = (tmp_path / "_file.c").read_text()
    assert text.count("generated by orio_py") == 1
    assert all(other in text for other in others)
    assert GOOD not in text
    report = json.loads((tmp_path / "r.json").read_text())
    assert {d["code"] for d in report["diagnostics"]} == codes
    assert report["outputs"] == [str(tmp_path / "_file.c")]
    assert [r["name"] for r in report["regions"] if r["best"] is not None] == ["good"]
    told = " ".join(capsys.readouterr().out.split())
    assert ("original kept: every configuration was refused" in told) == (REFUSED in others)
    assert ("original kept: no valid variant was found" in told) == (INVALID in others)


@pytest.mark.share(3)
@pytest.mark.parametrize(
    "regions",
    [[BROKEN], [INVALID, BROKEN], [REFUSED, INVALID], [UNMEASURED]],
    ids=["broken", "invalid, broken", "refused, invalid", "not measured"],
)
def test_where_no_region_can_be_tuned_nothing_is_written(tmp_path: Path, regions: list[str]) -> None:
    source = tmp_path / "file.c"
    source.write_text("".join(regions))
    report = orio_py.tune(source)
    assert (report.exit_code, report.outputs) == (2, ())
    assert [p.name for p in tmp_path.iterdir()] == ["file.c"]


@pytest.mark.share(2)
@pytest.mark.parametrize("regions", [[GOOD, BROKEN], [BROKEN, GOOD]], ids=["good first", "good last"])
def test_a_region_whose_original_does_not_build_costs_no_other(
    tmp_path: Path, capsys, regions: list[str]
) -> None:
    source = tmp_path / "file.c"
    source.write_text("".join(regions))
    assert main(["tune", str(source), "--no-db", "--json", str(tmp_path / "r.json")]) == 2
    text = (tmp_path / "_file.c").read_text()
    assert text.count("generated by orio_py") == 1
    assert BROKEN in text
    assert GOOD not in text
    report = json.loads((tmp_path / "r.json").read_text())
    assert [d["code"] for d in report["diagnostics"]] == ["ORIO-M018"]
    reasons = {r["name"]: r["reason"] for r in report["regions"] if r["best"] is None}
    assert list(reasons) == ["broken"]
    assert "is called, and neither the file nor a library defines it" in " ".join(
        capsys.readouterr().out.split()
    )


def test_in_a_tree_the_files_without_bad_input_are_written(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.c").write_text(GOOD + REFUSED)
    (tmp_path / "src" / "b.c").write_text(BROKEN)
    report = orio_py.tune(tmp_path / "src", output=tmp_path / "out")
    assert (report.exit_code, report.outputs) == (2, (tmp_path / "out" / "a.c",))
    assert (tmp_path / "out" / "b.c").read_text() == BROKEN


def test_an_original_that_fails_is_bad_input_at_its_place(tmp_path: Path) -> None:
    source = tmp_path / "scale.c"
    source.write_text((SOURCE % "'-DMODE=0'").replace("#define MODE 0", "#define MODE 1"))
    report = orio_py.tune(source)
    assert report.exit_code == 2
    assert report.diagnostics[0].code == "ORIO-M010"
    assert "SIGABRT" in report.diagnostics[0].message
    assert report.diagnostics[0].position is not None
    assert report.outputs == ()


def test_an_original_that_does_not_compile_names_the_compilers_words(tmp_path: Path) -> None:
    source = tmp_path / "scale.c"
    source.write_text((SOURCE % "'-DMODE=0'").replace("factor(a[i])", "factor(a[i]) + undeclared_thing"))
    report = orio_py.tune(source)
    assert report.exit_code == 2
    assert report.diagnostics[0].code == "ORIO-B004"
    assert "undeclared_thing" in report.diagnostics[0].message
    place = report.diagnostics[0].position
    assert place is not None
    assert "undeclared_thing" in source.read_text().splitlines()[place.line - 1][place.column - 1 :]


def test_without_a_compiler_it_is_the_environments_fault(tmp_path: Path, monkeypatch) -> None:
    source = tmp_path / "scale.c"
    source.write_text(SOURCE % "'-DMODE=0'")
    monkeypatch.setenv("PATH", str(tmp_path))
    report = orio_py.tune(source)
    assert report.exit_code == 3
    assert report.diagnostics[-1].code == "ORIO-B001"
    assert [p.name for p in tmp_path.iterdir()] == ["scale.c"]


@pytest.mark.parametrize(
    ("change", "code", "word"),
    [
        (("ufactor=2", "ufactor=0"), "ORIO-T", "0"),
        (("Unroll(ufactor=2)", "Tile(tsize=4, tindex='i')"), "ORIO-T", "i"),
        (("Unroll(ufactor=2)", "Composite(unrolljam=([], []), tile=[('k', 4, 'kk')])"), "ORIO-T", "k"),
    ],
)
def test_a_recipe_that_is_refused_everywhere_is_bad_input(
    tmp_path: Path, change, code: str, word: str
) -> None:
    source = tmp_path / "scale.c"
    source.write_text((SOURCE % "'-DMODE=0'").replace(*change))
    report = orio_py.tune(source)
    assert report.exit_code == 2
    found = report.diagnostics[-1]
    assert found.code.startswith(code)
    assert found.position is not None
    assert word in found.message
    assert [p.name for p in tmp_path.iterdir()] == ["scale.c"]


def test_a_variant_cannot_take_more_than_its_memory(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(evaluators, "memory_bytes", lambda: 2 << 30)
    source = tmp_path / "scale.c"
    hungry = "char *p = malloc((size_t)4 << 30);\n  p[0] = (char)x;\n  return p[0] ? x : 0.0;"
    source.write_text((SOURCE % "'-DMODE=1'").replace("gcc -O1", "gcc -O0").replace("abort();", hungry))
    assert orio_py.tune(source).regions[0].failures == {"crash": 1}


LARGE = """void sums(int n, double *restrict y, const double *restrict x) {{
  /*@ begin PerfTuning(
    def build {{ arg build_command = 'gcc -O1'; }}
    def performance_params {{ param U[] = [2, 3]; }}
    def input_params {{ param n[] = [5000000]; }}
    def input_vars {{ decl dynamic double y[{extent}] = 0; decl dynamic double x[n] = random; }}
  ) @*/
  /*@ begin Loop(transform Unroll(ufactor=U)) @*/
  for (int i = 0; i < n; i++) y[{place}] += x[i];
  /*@ end @*/
  /*@ end @*/
}}
"""


def test_what_is_only_read_needs_no_second_copy(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(evaluators, "memory_bytes", lambda: 90 << 20)
    source = tmp_path / "sums.c"
    source.write_text(LARGE.format(extent="8", place="i & 7"))
    report = orio_py.tune(source, options=orio_py.TuneOptions(trials=2))
    assert report.regions[0].trials == 2
    assert not report.regions[0].failures
    source.write_text(LARGE.format(extent="n", place="i"))
    assert main(["tune", str(source), "--trials", "2", "-q"]) == 2
    assert "out of memory: 40 MB" in capsys.readouterr().err


def test_a_searcher_is_told_counters_and_where_a_variant_failed(tmp_path, monkeypatch):
    told: dict[tuple[object, ...], Outcome] = {}

    def listening(algorithm: str, context: SearchContext, position: object = None) -> Search:
        for outcome in (yield list(context.space)):
            told[tuple(outcome.configuration[name] for name in ("CFLAGS", "U"))] = outcome

    monkeypatch.setattr(plans, "start_search", listening)
    source = tmp_path / "scale.c"
    text = (SOURCE % "'-DMODE=1', '-DMODE=3', '-DMODE=4'").replace("ufactor=2", "ufactor=U")
    text = text.replace("'-DMODE=4'];", "'-DMODE=4']; param U[] = [2, 0];")
    counter = "def performance_counter { arg method = 'rusage'; arg objective = ['time', 'user_time']; }"
    source.write_text(text.replace("    def input_params", f"    {counter}\n    def input_params"))
    report = orio_py.tune(source, options=orio_py.TuneOptions(seed=3, trials=8))
    assert report.regions[0].trials == 4
    failures = {values: outcome.failure for values, outcome in told.items() if outcome.failure is not None}
    assert failures == {
        ("-DMODE=1", 2): Stage.CRASH,
        ("-DMODE=3", 2): Stage.WRONG_RESULT,
        ("-DMODE=4", 2): Stage.COMPILE,
        **{(flags, 0): Stage.TRANSFORM for flags in ("", "-DMODE=1", "-DMODE=3", "-DMODE=4")},
    }
    valid = told["", 2]
    assert (valid.objective, len(valid.objectives)) == (valid.objectives[0], 2)
    assert valid.objectives[1] == valid.counters["user_time"]
    assert {outcome.objective for values, outcome in told.items() if values != ("", 2)} == {None}


def test_a_search_that_had_no_time_tries_the_first_configuration(tmp_path: Path) -> None:
    source = tmp_path / "first.c"
    source.write_text(
        "void f(int n, double *x)\n{\n  /*@ begin PerfTuning (\n"
        "    def performance_params { param U[] = [1, 2, 4]; }\n"
        "    def input_params { param n[] = [500]; }\n"
        "    def input_vars { decl dynamic double x[n] = random; }\n  ) @*/\n"
        "  /*@ begin Loop (transform Unroll(ufactor=U)) @*/\n"
        "  for (int i = 0; i < n; i++)\n    x[i] = 2 * x[i];\n  /*@ end @*/\n  /*@ end @*/\n}\n"
    )
    report = orio_py.tune(source, options=orio_py.TuneOptions(time=1e-9, repeats=3))
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    assert report.regions[0].trials == 1


@pytest.mark.parametrize(("first", "last", "place"), [(0, "n", "30 of 30"), (-2, "n - 1", "-1")])
def test_an_original_that_writes_outside_its_arrays_is_told_the_element(
    tmp_path: Path, first: int, last: str, place: str
) -> None:
    source = tmp_path / "over.c"
    text = (
        "/*@ begin PerfTuning (\n  def performance_params { param U[] = [1, 2]; }\n"
        "  def input_params { param n[] = [30]; }\n  def input_vars { decl dynamic double a[%s] = 0; }\n) @*/\n"
        f"int i;\n/*@ begin Loop (transform Unroll(ufactor=U)\n  for (i = {first}; i <= {last}; i++) a[i] = i + 0.5;\n) @*/\n"
        "/*@ end @*/\n/*@ end @*/\n"
    )
    source.write_text(text % "n")
    report = orio_py.tune(source, options=orio_py.TuneOptions(seed=3))
    assert report.exit_code == 2
    (problem,) = report.diagnostics
    assert problem.code == "ORIO-M010"
    assert f"wrote outside `a`: element {place}" in problem.message
    assert "decl dynamic double x[N + 1]" in (problem.help or "")
    if first == 0:
        promised = orio_py.TuneOptions(seed=3, assume=(Promise.LONGER,))
        assert orio_py.tune(source, options=promised).exit_code == 0
        source.write_text(text % "n+1")
        assert orio_py.tune(source, options=orio_py.TuneOptions(seed=3)).exit_code == 0
