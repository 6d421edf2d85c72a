"""Compilers of CUDA for tests: the one of the extra `cuda`, or a skipped test; and one that only answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orio_py.build.compiler import BuildFailure
from orio_py.build.cuda import CudaBinary, CudaBuildOptions
from orio_py.build.nvrtc import Nvrtc, find_nvrtc
from orio_py.core.diagnostics import EnvironmentProblem

CUBINS = Path(__file__).resolve().parents[1] / "unit" / "build" / "cubins"


def nvrtc_or_skip() -> Nvrtc:
    try:
        return find_nvrtc()
    except EnvironmentProblem as problem:
        pytest.skip(problem.diagnostics[0].message)


@dataclass(frozen=True)
class Answering:
    """Gives what it was told to give, and notes what it was asked."""

    answers: dict[str, CudaBinary | BuildFailure]
    asked: list[tuple[str, str, CudaBuildOptions]] = field(default_factory=list)
    name: str = "answers"
    version: str = "1.0"
    path: str = "nowhere"
    is_from_wheels: bool = False

    @property
    def architectures(self) -> tuple[str, ...]:
        return tuple(self.answers)

    def compile(self, source: str, architecture: str, options: CudaBuildOptions) -> CudaBinary | BuildFailure:
        self.asked.append((source, architecture, options))
        return self.answers[architecture]
