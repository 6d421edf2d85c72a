"""The winner of a finished run, told again: nothing is built, measured or, as a rule, transformed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orio_py.build.compiler import Compiler
from orio_py.build.features import chosen_options
from orio_py.core.digest import digest
from orio_py.core.units import Seconds
from orio_py.spec.inputs import InputPoint
from orio_py.spec.task import TuningTask
from orio_py.tuning import events
from orio_py.tuning.plan import Plan
from orio_py.tuning.result import RegionReport, TimeSpent, Winner
from orio_py.tuning.session.report_codec import Remembered
from orio_py.tuning.variants.build_flags import needed_flags
from orio_py.tuning.variants.variant import VariantGenerator


def answered(plan: Plan, known: Remembered, listener: events.Listener, total: Seconds) -> Winner:
    """The winner of an earlier run of the same plan, found in `total` seconds.

    The same code may have been tuned in another file, under another name.
    """
    seconds = TimeSpent(total, Seconds(0.0), Seconds(0.0), Seconds(0.0))
    report = replace(known.report, name=plan.task.name, cached=known.report.trials, seconds=seconds)
    listener(events.TaskFinished(report))
    codes = known.codes
    if codes is None or report.kept_original or known.layout != layout_of(plan.task):
        codes = winning_codes(VariantGenerator.of(plan.task), plan.point, report)
    return Winner(plan.point, codes, report)


def winning_codes(
    generator: VariantGenerator, point: InputPoint, report: RegionReport
) -> tuple[str, ...] | None:
    """The code of each region in the best configuration; None where the original stays."""
    if report.best is None or report.kept_original:
        return None
    regions = range(len(generator.task.regions))
    return tuple(generator.code(index, point, report.best.configuration) for index in regions)


def with_flags(
    report: RegionReport,
    codes: Sequence[str] | None,
    generator: VariantGenerator,
    point: InputPoint,
    compiler: Compiler,
) -> RegionReport:
    """The report with the options that the application's build needs for the winner's `codes` and their fall-back."""
    best = report.best
    if codes is None or best is None:
        return report
    regions = range(len(generator.task.regions))
    fallback = best.fallback if best.features else None
    others = [generator.code(index, point, fallback) for index in regions] if fallback is not None else []
    chosen = chosen_options(compiler, best.configuration)
    return replace(report, best=replace(best, build_with=needed_flags([*codes, *others], chosen)))


def layout_of(task: TuningTask) -> str:
    """A digest of how the regions are written, which decides how their code is laid out.

    All else that decides it is in the digest of the plan.
    """
    return digest([[r.indent, r.step, r.reference_text, r.position.line] for r in task.regions])


def task_started(plan: Plan) -> events.TaskStarted:
    """The event that a task begins."""
    planned = plan.budget.trials
    if planned is None and plan.budget.time is None:
        planned = plan.space.size
    return events.TaskStarted(
        plan.task.position.file,
        plan.task.position.line,
        plan.task.name,
        dict(plan.point.values),
        plan.space.cartesian,
        plan.space.size,
        None if planned is None else min(planned, plan.space.size),
        plan.emulated,
    )
