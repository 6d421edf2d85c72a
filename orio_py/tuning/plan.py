"""From a task and the caller's options to a plan: searcher, budget, target, build."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec

from orio_py.build.detect import cpu_cores
from orio_py.core.diagnostics import Diagnostic, fail
from orio_py.core.expr import Value
from orio_py.core.expr_nodes import Literal
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Position
from orio_py.core.units import Seconds
from orio_py.frontend.expressions import parse_setting
from orio_py.frontend.objective import parse_objective
from orio_py.kernel.backends import BACKENDS
from orio_py.measure.base import ORIGINAL_LIMIT, PATIENCE
from orio_py.measure.observers.choose import (
    ChosenObservers,
    Watch,
    choose_for_device,
    choose_observers,
    work_method,
)
from orio_py.measure.offload.measurer import MEASURED, EmulationWish, device_measurer
from orio_py.search.base import CountedSeries, FeatureSource, PastSeries, Search, SearchContext, TrustListener
from orio_py.search.catalog import find, start_search
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.inputs import InputPoint
from orio_py.spec.objective import Objective
from orio_py.spec.recipe import MarkedRecipe
from orio_py.spec.search import Budget, SearchSpec
from orio_py.spec.target import COMPILER_OPTIONS, DIRECTIVES, Target
from orio_py.spec.task import TuningTask
from orio_py.transformation.recipe import device_targets, directive_targets, uses_openmp
from orio_py.tuning.options import TuneOptions
from orio_py.tuning.result import PastUse

BATCH = 64
"""Variants built in parallel before they are timed alone.

At the end of a batch the other cores wait for the last build: the larger the batch, the smaller that share.
"""

TIMED_BATCH = 32
"""The same when the search has a time limit, which is only heeded between builds and measurements."""

SMALL_SPACE = 200
"""Up to this size a task without a `search` section is searched exhaustively, if the budget allows it."""

DEFAULT_SEARCHER = "auto"
"""What searches larger spaces, and small ones whose budget does not reach to their end."""

DEFAULT_TRIALS = 200
"""Trials of a search that nobody limited and that is not exhaustive."""

DEFAULT_SEED = 1

BATCH_PER_JOB = 4
"""On machines with many cores a batch keeps each of them busy for this many builds."""


LEAST_ORIGINAL_LIMIT = Seconds(30.0)
"""However short the search is to be, its original may run for so long."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How the variants of a task are built, measured and judged, wherever that happens; plain data."""

    task: TuningTask
    point: InputPoint
    target: str
    repeats: int
    timeout: Seconds | None = None
    pin: bool | None = None
    full_samples: bool = False
    original_limit: Seconds = ORIGINAL_LIMIT
    patience: Seconds | None = PATIENCE
    objective: Objective | None = None
    watches: tuple[Watch, ...] = ()
    emulation: EmulationWish = MEASURED


@dataclass(frozen=True, slots=True)
class Plan:
    """How a session searches: what to build, with which searcher, within which limits.

    `context` is what `search` was started with.  `past` tells of the earlier trials that guide the search.
    """

    task: TuningTask
    point: InputPoint
    space: SearchSpace
    search: Search
    context: SearchContext
    budget: Budget
    target: str
    seed: int
    jobs: int
    repeats: int
    timeout: Seconds | None
    full_samples: bool = False
    pin: bool | None = None
    keeps_files: bool = False
    spec: SearchSpec = SearchSpec()
    objective: Objective | None = None
    watches: tuple[Watch, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    past: PastUse | None = None
    emulated: str = ""
    """The GPU whose times are emulated; '' where variants are measured."""
    bottlenecks: bool = False
    """Whether the search wants to know what limits variants by emulation."""
    insists_on_repeats: bool = False
    """Whether the caller named the number of repetitions, which then holds for long calls, too."""

    @property
    def _original_limit(self) -> Seconds:
        """What the search may take is also enough for the original's first run, but for very short searches."""
        if self.budget.time is None:
            return ORIGINAL_LIMIT
        return Seconds(min(ORIGINAL_LIMIT, max(LEAST_ORIGINAL_LIMIT, self.budget.time)))

    @property
    def evaluation(self) -> Evaluation:
        """How variants are built, measured and judged."""
        return Evaluation(
            self.task,
            self.point,
            self.target,
            self.repeats,
            self.timeout,
            self.pin,
            self.full_samples,
            self._original_limit,
            None if self.insists_on_repeats else PATIENCE,
            self.objective,
            self.watches,
            EmulationWish(self.emulated, self.bottlenecks),
        )


def make_plan(task: TuningTask, point: InputPoint, space: SearchSpace, options: TuneOptions) -> Plan:
    """Resolve what specification and options leave open.

    Raises DiagnosticError for unknown searchers, options and targets and for bad objectives,
    EnvironmentProblem ORIO-M015 for a counter that cannot be had here.
    """
    objective = parse_objective(options.objective) if options.objective else task.measurement.objective
    spec = search_spec(task, space, options)
    if objective is not None and objective.others:
        spec = _for_a_front(spec, space, options)
    chosen = dict(spec.options)
    wanted = chosen.pop("seed", DEFAULT_SEED)
    seed = options.seed if options.seed is not None else wanted if isinstance(wanted, int) else DEFAULT_SEED
    if options.seed is not None:
        task = replace(task, inputs=replace(task.inputs, seed=options.seed))
    target = resolve_target(task, options.target)
    wish = options.device or (predicting_device(task, target) if options.accept_predicted else None)
    emulated = resolve_device(target, wish, objective, task.position)
    searcher = find(spec.algorithm, spec.position)
    if searcher.uses_counters and not task.measurement.methods and target not in BACKENDS:
        task = replace(task, measurement=replace(task.measurement, methods=(work_method(),)))
    jobs = options.jobs if options.jobs is not None else cpu_cores()
    batch = max(BATCH if spec.budget.time is None else TIMED_BATCH, BATCH_PER_JOB * jobs)
    choice = _observers(task, objective, target)
    task = replace(task, measurement=replace(task.measurement, methods=choice.methods))
    context = SearchContext(
        space,
        random.Random(seed),
        chosen,
        spec.budget.trials,
        batch_size=batch,
        objectives=len(objective.all) if objective is not None else 1,
    )
    return Plan(
        task=with_target(task, target),
        point=point,
        space=space,
        search=start_search(spec.algorithm, context, spec.position),
        context=context,
        budget=spec.budget,
        target=target,
        seed=seed,
        jobs=jobs,
        repeats=options.repeats if options.repeats is not None else task.measurement.repetitions,
        timeout=options.timeout,
        full_samples=options.full_samples,
        pin=options.pin,
        keeps_files=options.keep is not None,
        spec=replace(spec, options=chosen, position=None),
        objective=objective,
        watches=choice.watches,
        warnings=choice.warnings,
        emulated=emulated,
        bottlenecks=(searcher.uses_bottlenecks and target in BACKENDS)
        or (searcher.uses_counters and _is_emulated(target)),
        insists_on_repeats=options.repeats is not None,
    )


def _is_emulated(target: str) -> bool:
    """Whether kernels for a target can be emulated, wherever they are run."""
    measurer = device_measurer(target)
    return measurer is not None and measurer.emulates is not None


def _observers(task: TuningTask, objective: Objective | None, target: str) -> ChosenObservers:
    """What counts the variants of a target."""
    if target in BACKENDS:
        return choose_for_device(task.measurement, objective)
    return choose_observers(task.measurement, objective, is_parallel=target != Target.C)


def with_past(plan: Plan, series: Sequence[PastSeries], past: PastUse, counted: CountedSeries = ()) -> Plan:
    """The plan with a search that knows earlier trials, some with counters; the search before must not have begun."""
    context = replace(plan.context, past=series, counted=counted)
    return replace(plan, search=start_search(plan.spec.algorithm, context), context=context, past=past)


def with_features(plan: Plan, features: FeatureSource, trusted: TrustListener) -> Plan:
    """The plan with a search that can ask for static features; the search before must not have begun.

    `trusted` hears how what they predict does.
    """
    context = replace(plan.context, features=features, trusted=trusted)
    return replace(plan, search=start_search(plan.spec.algorithm, context), context=context)


def search_spec(task: TuningTask, space: SearchSpace, options: TuneOptions) -> SearchSpec:
    """The search as the options, the specification and the size of the space decide it."""
    spec = task.search
    if options.search is not None:
        name, chosen = parse_search(options.search)
        spec = SearchSpec(name, chosen, spec.budget)
    elif spec.position is None:
        trials = options.trials if options.trials is not None else spec.budget.trials
        is_small = space.size <= SMALL_SPACE and (trials is None or space.size <= trials)
        spec = replace(spec, algorithm="exhaustive" if is_small else DEFAULT_SEARCHER)
    budget = Budget(
        options.trials if options.trials is not None else spec.budget.trials,
        options.time if options.time is not None else spec.budget.time,
    )
    exhaustive = spec.algorithm.lower() == "exhaustive"
    if budget.trials is None and budget.time is None and not exhaustive:
        budget = Budget(DEFAULT_TRIALS, None)
    return replace(spec, budget=budget)


def _for_a_front(spec: SearchSpec, space: SearchSpace, options: TuneOptions) -> SearchSpec:
    """The search where nobody named one and there are several objectives."""
    is_open = spec.position is None and options.search is None and space.size > SMALL_SPACE
    return replace(spec, algorithm="nsga") if is_open and find_spec("optuna") is not None else spec


def parse_search(text: str) -> tuple[str, dict[str, Value]]:
    """`NAME` or `NAME:option=value,…`.  Raises DiagnosticError ORIO-U012."""
    name, _, rest = text.partition(":")
    chosen: dict[str, Value] = {}
    for item in filter(None, (part.strip() for part in rest.split(","))):
        key, equals, value = item.partition("=")
        if not equals or not key.strip():
            fail("ORIO-U012", f"`--search {text}`: `{item}` is not of the form option=value")
        chosen[key.strip()] = parse_setting(value.strip())
    if not name.strip():
        fail("ORIO-U012", f"`--search {text}` names no searcher")
    return name.strip(), chosen


def resolve_target(task: TuningTask, wish: str | None) -> str:
    """The target asked for, or what the recipe needs.  Raises DiagnosticError ORIO-U013, U018."""
    devices = frozenset[str]().union(*(device_targets(region) for region in task.regions))
    if len(devices) > 1:
        fail(
            "ORIO-U018",
            f"the recipe makes kernels for {' and '.join(sorted(devices))}, and variants run on one device",
            task.position,
            help="use one of `transform OpenCL(...)` and `transform CUDA(...)`",
        )
    needed = next(iter(devices)) if devices else None
    if wish is None:
        if needed is not None:
            return needed
        return _target_of_directives(task)
    known = [*map(str, Target), *BACKENDS]
    if wish not in known:
        fail("ORIO-U013", f"there is no target `{wish}`", help=did_you_mean(wish, known))
    if needed != (wish if wish in BACKENDS else None):
        title = BACKENDS[wish].title if wish in BACKENDS else ""
        found = f"makes {BACKENDS[needed].title} kernels" if needed else f"makes no {title} kernels"
        help_text = "leave `--target` out" if needed else f"add `transform {title}(...)` to the recipe"
        fail("ORIO-U018", f"the target is `{wish}`, but the recipe {found}", task.position, help=help_text)
    _require_directives(task, wish)
    return wish


def _directives(task: TuningTask) -> frozenset[Target]:
    return frozenset[Target]().union(*(directive_targets(region) for region in task.regions))


def _target_of_directives(task: TuningTask) -> Target:
    """The target that the directives of a recipe without kernels need."""
    found = _directives(task)
    if found:
        return Target.OPENACC if Target.OPENACC in found else Target.OPENMP_TARGET
    return Target.OPENMP if any(uses_openmp(region) for region in task.regions) else Target.C


def _require_directives(task: TuningTask, wish: str) -> None:
    """A recipe makes the directives of the target asked for.  Raises DiagnosticError: ORIO-U018."""
    titles = {target: title for title, target in DIRECTIVES.items()}
    if wish in titles and wish not in _directives(task):
        fail(
            "ORIO-U018",
            f"the target is `{wish}`, but the recipe makes no directives of {titles[Target(wish)]}",
            task.position,
            help=f"add `transform {titles[Target(wish)]}(...)` to the recipe",
        )


EMULATED = "emulated:"
"""Begins the name of a device that is not there."""


def predicting_device(task: TuningTask, target: str) -> str | None:
    """The GPU whose emulated times rank variants where this machine has none: of the architecture that the recipe names.

    None where one is there, or variants of the target need none.  Raises DiagnosticError ORIO-U060 for a language whose
    variants are not emulated.
    """
    measurer = device_measurer(target)
    if measurer is None or (measurer.missing is not None and not measurer.missing()):
        return None
    if measurer.emulates is None:
        message = f"`--accept-predicted`: nothing predicts how fast variants for `{target}` are, only CUDA kernels are emulated"
        fail("ORIO-U060", message, task.position)
    named = {
        str(argument.expression.value)
        for region in task.regions
        if isinstance(region.recipe, MarkedRecipe)
        for step in region.recipe.steps
        for argument in step.arguments
        if argument.name == "arch" and isinstance(argument.expression, Literal)
    }
    architecture = named.pop() if len(named) == 1 else PREDICTED_ARCHITECTURE
    return f"{EMULATED}{architecture}"


PREDICTED_ARCHITECTURE = "sm_90"
"""Whose GPU ranks variants where the recipe names no other."""


def resolve_device(target: str, wish: str | None, objective: Objective | None, position: Position) -> str:
    """The GPU to emulate of `emulated:GPU`, by its full name; '' for the devices of this machine.

    Raises DiagnosticError ORIO-U060 where the target or the objective cannot be emulated, U054 for an unknown GPU.
    """
    if wish is None:
        return ""
    if not wish.startswith(EMULATED):
        message = f"`--device {wish}`: it must read `emulated:GPU`"
        help_text = "`--device emulated:sm_90`; without `--device` variants run on this machine's own"
        fail("ORIO-U060", message, help=help_text)
    measurer = device_measurer(target)
    if measurer is None or measurer.emulates is None:
        message = f"`--device {wish}`: variants for `{target}` are not emulated, only CUDA kernels are"
        fail("ORIO-U060", message, position)
    if objective is not None:
        message = (
            f"the objective `{objective.text}` needs measurements, and `{wish}` is not there to be measured"
        )
        fail(
            "ORIO-U060",
            message,
            objective.position or position,
            help="leave the objective out: it is the emulated time",
        )
    return measurer.emulates(wish.removeprefix(EMULATED))


def with_target(task: TuningTask, target: str) -> TuningTask:
    """The task with the compiler options that its target needs."""
    threads = target == Target.OPENMP or any(uses_openmp(region) for region in task.regions)
    needed = [Target.OPENMP] if threads else []
    needed += [Target.OPENACC] if Target.OPENACC in _directives(task) else []
    options = [COMPILER_OPTIONS[one] for one in needed if one not in task.build.command]
    if target == Target.C or not options:
        return task
    command = " ".join([task.build.command, *options])
    adds_openmp = COMPILER_OPTIONS[Target.OPENMP] in options
    return replace(task, build=replace(task.build, command=command, adds_openmp=adds_openmp))
