"""What is told of an original that cannot be run, takes long, or computes something odd."""

from __future__ import annotations

from collections.abc import Sequence

from orio_py.build.process import Completed
from orio_py.core.diagnostics import Diagnostic, Severity
from orio_py.core.expr import show
from orio_py.core.source import Position
from orio_py.core.units import Seconds
from orio_py.ctree.known_functions import called_name
from orio_py.ctree.nodes import c_ast
from orio_py.ctree.parse import position
from orio_py.ctree.rewrite import walk
from orio_py.measure.compiler_messages import undefined_names
from orio_py.measure.job import ResultLines
from orio_py.record.measurement import Failure, Stage, Success
from orio_py.spec.inputs import InputPoint
from orio_py.spec.task import TuningTask

_UNDEFINED_FUNCTION = 127
"""The code with which the loader ends a program that calls what it does not find."""
_ADVICE = {
    Stage.OUT_OF_BOUNDS: "correct the bound, or declare as many elements as the code touches: `decl dynamic double x[N + 1] …`; "
    "or promise that the arrays are longer than declared: `--assume longer`"
}
"""What may help where the original ends so."""


def failed_original(found: Failure, done: Completed, limit: Seconds, task: TuningTask) -> Diagnostic:
    """Why there is nothing to compare variants with.

    ORIO-M010, M018 for a call of what nothing defines, or M025 for an original that takes too long.
    """
    if (problem := _undefined_function(task, done)) is not None:
        return problem
    position = task.position
    if found.stage is not Stage.TIMEOUT:
        message = f"the original code fails: {found.stage}: {found.reason}"
        return Diagnostic("ORIO-M010", message, position, help=_ADVICE.get(found.stage))
    message = f"the original needs more than {limit:g} s for its first run, which variants are compared with"
    help_text = (
        "tune at a smaller problem size, which `--set` can choose, or allow the original more time with a "
        f"`--timeout` above {limit:g}s"
    )
    return Diagnostic("ORIO-M025", message, position, help=help_text)


def too_short(found: Success, report: ResultLines, task: TuningTask, point: InputPoint) -> Diagnostic:
    """ORIO-M013 for an original that no clock resolves."""
    costs = report.costs()
    message = (
        f"the original takes {found.wall_median * 1e6:.2g} µs, too short for a clock with steps of {costs.tick * 1e9:.0f} ns, and "
        f"putting back what it changes takes {costs.restoring * 1e6:.2g} µs, too long to time several calls at once"
    )
    sizes = ", ".join(f"`{name}` ({show(value)})" for name, value in point.values)
    help_text = "tune at a larger problem size" + (f": enlarge {sizes} in `input_params`" if sizes else "")
    return Diagnostic("ORIO-M013", message, task.position, help=help_text)


def slower_than_its_variants_may_be(
    found: Success, limit: Seconds | None, position: Position
) -> Sequence[Diagnostic]:
    """The warning ORIO-M026 where `--timeout` ends even variants that are as fast as the original."""
    run = min(sample.wall for sample in found.samples)
    if limit is None or run <= limit:
        return ()
    message = f"a call of the original takes {run:.3g} s, and a variant is ended after {limit:g} s"
    help_text = "only variants that are faster by that much can be found; raise `--timeout`, or tune at a smaller size"
    return (Diagnostic("ORIO-M026", message, position, Severity.WARNING, help=help_text),)


def output_warnings(report: ResultLines, position: Position) -> Sequence[Diagnostic]:
    """What the original's outputs warn of: ORIO-M011, M012."""
    found: list[Diagnostic] = []
    if report.first("unchanged") is not None:
        message = (
            "the region leaves every variable as it was, so wrong variants cannot be told from right ones"
        )
        found.append(Diagnostic("ORIO-M011", message, position, Severity.WARNING))
    if (place := report.first("nonfinite")) is not None:
        name, index = place.split()
        message = f"the original computes a value that is not finite: `{name}` element {index}"
        found.append(Diagnostic("ORIO-M012", message, position, Severity.WARNING))
    return found


def _undefined_function(task: TuningTask, done: Completed) -> Diagnostic | None:
    """ORIO-M018 where a run ended at such a call, at its place if the region makes it itself."""
    missing = undefined_names(done.stderr) if done.returncode == _UNDEFINED_FUNCTION else ()
    if not missing:
        return None
    name = missing[0]
    calls = (
        position(part)
        for region in task.regions
        for part in walk(region.reference)
        if isinstance(part, c_ast.FuncCall) and called_name(part) == name
    )
    return Diagnostic(
        "ORIO-M018",
        f"`{name}` is called, and neither the file nor a library defines it",
        next(calls, None) or task.position,
        help="name what does in the build section: `def build { arg libs = 'file.o'; }`, a C file or `-lNAME`",
    )
