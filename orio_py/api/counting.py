"""`space`: the search spaces, counted and not listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orio_py.api.report import BAD_INPUT, OK, Paths, Report, given_paths, nothing_found
from orio_py.core.diagnostics import DiagnosticError, has_errors
from orio_py.core.expr import Value, show
from orio_py.tuning.files.load import LoadedTask, load


@dataclass(frozen=True, slots=True)
class SpaceParameter:
    """A parameter with the number of its values and the values as text."""

    name: str
    count: int
    values: str


@dataclass(frozen=True, slots=True)
class SpaceGroup:
    """Parameters that constraints connect, and how many combinations of them are valid."""

    parameters: tuple[str, ...]
    constraints: tuple[str, ...]
    valid: int


@dataclass(frozen=True, slots=True)
class SpaceRegion:
    """The search space of one task at one problem size."""

    file: str
    line: int
    name: str
    inputs: Mapping[str, Value]
    parameters: tuple[SpaceParameter, ...]
    cartesian: int
    valid: int
    groups: tuple[SpaceGroup, ...]

    def as_json(self) -> dict[str, object]:
        """The entry of `space --json`."""
        return {
            "file": self.file,
            "line": self.line,
            "name": self.name,
            "inputs": dict(self.inputs),
            "parameters": [{"name": p.name, "count": p.count, "values": p.values} for p in self.parameters],
            "space": {"cartesian": self.cartesian, "valid": self.valid},
            "groups": [
                {"parameters": list(g.parameters), "constraints": list(g.constraints), "valid": g.valid}
                for g in self.groups
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceReport(Report):
    """The outcome of `space`."""

    regions: tuple[SpaceRegion, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Diagnostics and the spaces."""
        return {**Report.as_json(self), "regions": [region.as_json() for region in self.regions]}


def space(paths: Paths, *, spec: Path | None = None) -> SpaceReport:
    """Count the search space of every region, exactly, without listing it."""
    loaded = load(given_paths(paths), spec=spec)
    problems = list(loaded.diagnostics)
    regions: list[SpaceRegion] = []
    try:
        regions = [region for task in loaded.tasks for region in _space_regions(task)]
    except DiagnosticError as problem:
        problems.extend(problem.diagnostics)
    problems.extend(nothing_found(loaded, problems))
    return SpaceReport(
        diagnostics=tuple(problems),
        sources=loaded.sources,
        exit_code=BAD_INPUT if has_errors(problems) else OK,
        regions=tuple(regions),
    )


def _space_regions(loaded: LoadedTask) -> list[SpaceRegion]:
    task = loaded.task
    return [
        SpaceRegion(
            task.position.file,
            task.position.line,
            task.name,
            dict(point.values),
            tuple(
                SpaceParameter(p.name, len(p.values), ", ".join(show(v) for v in p.values))
                for p in space_.parameters
            ),
            space_.cartesian,
            space_.size,
            tuple(SpaceGroup(g.parameters, g.constraints, g.count) for g in space_.groups),
        )
        for point, space_ in zip(loaded.points, loaded.spaces, strict=True)
    ]
