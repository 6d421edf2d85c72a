"""The application with original and with tuned code: built, run, compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from orio_py.api.report import BAD_INPUT, NO_VARIANT, OK, Report
from orio_py.api.writing import apply_results
from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.core.units import Seconds
from orio_py.tuning.program_outputs import LineRules
from orio_py.tuning.verify import (
    TunedProgramFailure,
    Verification,
    VerifyRequest,
    Version,
    scratch_workspace,
)
from orio_py.tuning.verify import verify as run_both


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport(Report):
    """What `verify` found; without a `result` where a program could not be built or run."""

    result: Verification | None = None

    def as_json(self) -> dict[str, object]:
        """The report as JSON content."""
        found = self.result
        if found is None:
            return Report.as_json(self)
        different = found.difference
        return {
            **Report.as_json(self),
            "sources": list(found.sources),
            "equal": different is None,
            "difference": different
            and {
                "output": different.output,
                "line": different.line,
                "original": different.original,
                "tuned": different.tuned,
            },
            "not_compared": [asdict(each) for each in found.unsteady],
            "original_s": list(found.seconds[Version.ORIGINAL]),
            "tuned_s": list(found.seconds[Version.TUNED]),
            "speedup": found.ratio,
        }


def verify(
    command: Sequence[str],
    *,
    tree: Path | str = ".",
    build: str | None = None,
    outputs: Sequence[Path] = (),
    tolerance: float = 0.0,
    ignore: Sequence[str] = (),
    runs: int = 3,
    timeout: float = 600.0,
    database: Path | str | None = None,
) -> VerifyReport:
    """Build and run an application with original and with tuned code, and compare what they write.

    `command` runs the program in the folder `tree`, `build` is a shell's command line (by default `make` or `cmake`, as
    the tree has it).  Standard output and the files `outputs` below the tree are compared; numbers may differ by
    `tolerance`, relative to the larger one.  Lines that match one of the regular expressions `ignore`, and those that the
    original writes in another way in each run, do not count.  `timeout` in seconds is the limit of one build or run.  Sources without a
    result of their own in the tree take the best of the results `database`.

    The exit code is 4 where outputs differ or the tuned program alone fails, 2 where nothing is tuned or the original
    fails.
    """
    rules = LineRules(tolerance, [re.compile(each) for each in ignore])
    request = VerifyRequest(Path(tree), build, command, outputs, rules, runs, Seconds(timeout))
    scratch, workspace = scratch_workspace(None)
    try:
        sources, without = workspace.prepare(request.tree)
        sources = (*sources, *_applied(without, database, workspace.tree(Version.TUNED)))
        if not sources:
            return VerifyReport(
                diagnostics=(
                    Diagnostic(
                        "ORIO-U039",
                        f"nothing in `{request.tree}` is tuned",
                        help="run `orio tune` on its sources first",
                    ),
                ),
                exit_code=BAD_INPUT,
            )
        result = run_both(request, workspace, sources)
    except TunedProgramFailure as problem:
        return VerifyReport(diagnostics=problem.diagnostics, exit_code=NO_VARIANT)
    except DiagnosticError as problem:
        return VerifyReport(diagnostics=problem.diagnostics, exit_code=BAD_INPUT)
    except OSError as error:
        message = f"`{request.tree}` cannot be copied: {error}"
        return VerifyReport(diagnostics=(Diagnostic("ORIO-U009", message),), exit_code=BAD_INPUT)
    finally:
        scratch.remove()
    return VerifyReport(result=result, exit_code=OK if result.difference is None else NO_VARIANT)


def _applied(files: Sequence[Path], database: Path | str | None, tree: Path) -> tuple[str, ...]:
    """The sources into which a result of the database was written."""
    if database is None or (isinstance(database, Path) and not database.is_file()):
        return ()
    found: list[str] = []
    for file in files:
        report = apply_results([file], database, in_place=True)
        if report.exit_code == OK and report.outputs:
            found.append(file.relative_to(tree).as_posix())
    return tuple(found)
