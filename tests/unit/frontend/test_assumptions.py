"""The section `assumptions`: what the user promises about overlaps and arithmetic."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_trees import read_tasks

from orio_py.core.diagnostics import Diagnostic
from orio_py.core.source import SourceFile
from orio_py.frontend.read import read
from orio_py.spec.assumptions import Assumptions
from orio_py.spec.check import check
from orio_py.transformation.recipe import context_for
from orio_py.transformation.verdicts import dependence_context

FILE = """void f(int n, double *a, const double *b)
{
  int i;
  /*@ begin PerfTuning (
    {section}
    def input_params { param n[] = [100]; }
    def input_vars {
      decl dynamic double a[n] = random;
      decl dynamic double b[n] = random;
    }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=2)) @*/
  for (i = 0; i < n; i++)
    a[i] = b[i];
  /*@ end @*/
  /*@ end @*/
}
"""


def assumed(section: str) -> Assumptions:
    (task,) = read_tasks(FILE.replace("{section}", section))
    assert context_for(task, task.regions[0]).assumptions == task.assumptions
    return task.assumptions


def problems(section: str) -> list[Diagnostic]:
    source = SourceFile("code.c", FILE.replace("{section}", section).encode())
    result = read(source, directory=Path())
    return [*result.diagnostics, *(d for task in result.tasks for d in check(task))]


def test_nothing_is_assumed_unless_it_is_said() -> None:
    assert assumed("") == Assumptions()
    assert assumed("def assumptions { }") == Assumptions()
    assert assumed("def assumptions { arg noalias = False; arg reassociate = False; }").noalias is False


def test_promises() -> None:
    found = assumed("def assumptions { arg noalias = True; arg reassociate = True; }")
    assert found.noalias is True
    assert found.reassociate is True
    assert assumed("def assumptions { arg noalias = ['a', 'b']; }").noalias == frozenset({"a", "b"})
    assert assumed("def assumptions { arg noalias = ('a',); }").noalias == frozenset({"a"})


def test_promises_reach_the_dependence_test() -> None:
    text = "def assumptions { arg noalias = ['a']; arg reassociate = True; }"
    (task,) = read_tasks(FILE.replace("{section}", text))
    context = dependence_context(context_for(task, task.regions[0]))
    assert context.noalias == frozenset({"a"})
    assert context.reassociate


@pytest.mark.parametrize(
    ("section", "code", "words"),
    [
        ("def assumptions { arg noalias = 1; }", "ORIO-S006", "needs True, False, or a list of array names"),
        ("def assumptions { arg noalias = 'a'; }", "ORIO-S006", "needs True, False, or a list"),
        ("def assumptions { arg noalias = [1]; }", "ORIO-S006", "not a list"),
        ("def assumptions { arg reassociate = 'yes'; }", "ORIO-S006", "needs True or False"),
        ("def assumptions { arg noalias = ['a', 'c']; }", "ORIO-S006", "names `c`, but the region uses"),
        ("def assumptions { arg noalias = ['i']; }", "ORIO-S006", "names `i`, but the region uses no such"),
        ("def assumptions { arg restrict = True; }", "ORIO-S004", "unknown argument `restrict`"),
        ("def assumption { arg noalias = True; }", "ORIO-S004", "unknown section `def assumption`"),
        ("def assumptions { param n = 3; }", "ORIO-S005", "`param` cannot stand in section `assumptions`"),
    ],
)
def test_mistakes(section: str, code: str, words: str) -> None:
    (problem,) = problems(section)
    assert problem.code == code
    assert words in problem.message
    assert problem.position is not None
    assert problem.position.line == 5


def test_the_nearest_array_is_named() -> None:
    text = FILE.replace("{section}", "def assumptions { arg noalias = ['aa']; }")
    result = read(SourceFile("code.c", text.encode()), directory=Path())
    (problem,) = check(result.tasks[0])
    assert problem.help is not None
    assert "`a`" in problem.help
