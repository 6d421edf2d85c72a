"""One tuning problem: regions that are built, run and written back together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from orio_py.core.source import Position, SourceFile, Span
from orio_py.ctree.file_scope import FileScope, with_independent_calls
from orio_py.ctree.structures import Structures
from orio_py.spec.assumptions import SPARE_ROWS, Assumptions, Promise
from orio_py.spec.inputs import ExternalFile, InputSpec
from orio_py.spec.objective import Objective
from orio_py.spec.parameter import Constraint, Parameter
from orio_py.spec.region import Region
from orio_py.spec.search import SearchSpec
from orio_py.spec.target import BuildSpec, DeviceTime


@dataclass(frozen=True, slots=True)
class MeasurementSpec:
    """Repetitions (the minimum), and the largest accepted relative and absolute error by element type.

    `tolerance` maps a C floating type to `(relative, absolute)`; types that are missing take the
    defaults of `measure.validate`, integers are always compared exactly.  `methods` are the observers by
    which variants are counted; without an `objective` the least time is searched for.  `time` is what counts
    as the time of a variant on a device.
    """

    repetitions: int = 5
    tolerance: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    validation_file: ExternalFile | None = None
    skeleton_file: ExternalFile | None = None
    methods: tuple[str, ...] = ()
    methods_position: Position | None = None
    objective: Objective | None = None
    time: DeviceTime = DeviceTime.CALL


@dataclass(frozen=True, slots=True)
class TuningTask:
    """Everything that a tuning session needs to know of one `PerfTuning` region, or of a lone recipe.

    `extent` is the timed part of the file: the body of the PerfTuning region, or the hull of the Loop
    regions where the specification comes from outside.  `has_spec` is False for Loop regions without
    any specification; those are transformed, not tuned.
    """

    name: str
    source: SourceFile
    extent: Span
    position: Position
    regions: tuple[Region, ...]
    surroundings: FileScope
    parameters: tuple[Parameter, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    inputs: InputSpec = InputSpec()
    build: BuildSpec = BuildSpec()
    measurement: MeasurementSpec = MeasurementSpec()
    search: SearchSpec = SearchSpec()
    assumptions: Assumptions = Assumptions()
    has_spec: bool = False

    @property
    def files(self) -> tuple[ExternalFile, ...]:
        """The files of C code that the specification names for the test program."""
        named = (self.inputs.decl_file, self.inputs.init_file, self.measurement.validation_file)
        return tuple(file for file in named if file is not None)

    @property
    def types(self) -> Mapping[str, str]:
        """The names that typedefs give to numbers, with the C types that they stand for."""
        return self.surroundings.unit.number_types

    @property
    def structures(self) -> Structures:
        """The members of structures and unions, by the names of their types."""
        return self.surroundings.unit.structures

    def with_promises(self, promises: Collection[Promise]) -> TuningTask:
        """The task with what is promised of all files, and as its promises have it."""
        kept = replace(self, assumptions=self.assumptions.with_promises(promises))
        if kept.assumptions.calls:
            kept = replace(kept, regions=tuple(map(self._with_independent_calls, kept.regions)))
        if kept.assumptions.longer:
            kept = replace(kept, inputs=kept.inputs.longer(SPARE_ROWS))
        return kept

    def _with_independent_calls(self, region: Region) -> Region:
        trees = (with_independent_calls(tree, self.surroundings) for tree in (region.tree, region.reference))
        tree, reference = trees
        return replace(region, tree=tree, reference=reference)
