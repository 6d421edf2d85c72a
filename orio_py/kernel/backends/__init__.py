"""The device languages there are: one module below this package and one line here for each."""

from __future__ import annotations

from collections.abc import Mapping

from orio_py.kernel.backend import Backend
from orio_py.kernel.backends import cuda, hip, opencl

BACKENDS: Mapping[str, Backend] = {
    backend.name: backend
    for backend in (
        opencl.BACKEND,
        cuda.BACKEND,
        hip.BACKEND,
    )
}
"""The backends by name."""

BY_TITLE: Mapping[str, Backend] = {backend.title: backend for backend in BACKENDS.values()}
"""The backends by the names of their transformations."""
