"""`devices`: what this machine has to build and to count with."""

from __future__ import annotations

from dataclasses import dataclass, field

from orio_py.api.report import ENVIRONMENT, OK, Report
from orio_py.build.cuda_catalog import cuda_survey
from orio_py.build.detect import CompilerInfo, compilers, cpu_cores, cpu_name, default_compiler
from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem
from orio_py.measure.cuda.drivers.catalog import with_libraries
from orio_py.measure.observers.base import ObserverInfo, look_at
from orio_py.measure.observers.catalog import OBSERVERS
from orio_py.measure.opencl.survey import survey
from orio_py.record.cuda import CudaSurvey
from orio_py.record.device import OpenCLSurvey


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceReport(Report):
    """The outcome of `devices`."""

    cpu: str = ""
    cores: int = 0
    compilers: tuple[CompilerInfo, ...] = ()
    observers: tuple[ObserverInfo, ...] = ()
    opencl: OpenCLSurvey = field(default_factory=OpenCLSurvey)
    cuda: CudaSurvey = field(default_factory=CudaSurvey)

    def as_json(self) -> dict[str, object]:
        """Processor, compilers, methods of counting, OpenCL platforms with their devices, and what there is of CUDA."""
        return {
            **Report.as_json(self),
            "cpu": self.cpu,
            "cores": self.cores,
            "compilers": [
                {"name": c.name, "path": c.path, "version": c.version, "works": c.works, "reason": c.reason}
                for c in self.compilers
            ],
            "observers": [
                {
                    "name": o.name,
                    "works": o.reason is None,
                    "reason": o.reason,
                    "counters": list(o.counters),
                    "missing": dict(o.missing),
                }
                for o in self.observers
            ],
            "opencl": self.opencl.as_json(),
            "cuda": self.cuda.as_json(),
        }


def devices() -> DeviceReport:
    """Look for compilers, methods of counting, OpenCL devices and CUDA on this machine and try each."""
    found = compilers()
    try:
        default_compiler()
        missing: tuple[Diagnostic, ...] = ()
    except EnvironmentProblem as problem:
        missing = problem.diagnostics
    return DeviceReport(
        diagnostics=missing,
        exit_code=ENVIRONMENT if missing else OK,
        cpu=cpu_name(),
        cores=cpu_cores(),
        compilers=found,
        observers=tuple(look_at(observer) for observer in OBSERVERS.values()),
        opencl=survey(),
        cuda=with_libraries(cuda_survey()),
    )
