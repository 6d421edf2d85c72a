"""The libraries that call NVIDIA's driver: a table, and nothing of them is imported before it is used."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from orio_py.core.registry import Registry
from orio_py.measure.cuda.drivers.base import CudaDriver
from orio_py.record.cuda import CudaDevice


@dataclass(frozen=True, slots=True)
class DriverLibrary:
    """A library: its module here with the driver's class, the packages that it consists of, and how to get it."""

    name: str
    module: str
    driver: str
    package: str
    advice: str

    @property
    def is_installed(self) -> bool:
        """Whether its package is there; whether it works is another question."""
        top, _, _ = self.package.partition(".")
        return find_spec(top) is not None and find_spec(self.package) is not None

    @property
    def version(self) -> str | None:
        """The version that is installed."""
        try:
            return version(self.name)
        except PackageNotFoundError:
            return None

    def open(self, number: int) -> CudaDriver:
        """The driver of a device.  Raises ImportError, or DriverProblem."""
        return getattr(self._import(), self.driver)(number)

    def devices(self) -> list[CudaDevice]:
        """The devices.  Raises ImportError, or DriverProblem."""
        return self._import().devices()

    def _import(self) -> Any:
        return import_module(f"orio_py.measure.cuda.drivers.{self.module}")


LIBRARIES: Registry[DriverLibrary] = Registry(
    "library for CUDA's driver",
    [
        (
            "cuda-bindings",
            DriverLibrary(
                "cuda-bindings",
                "bindings",
                "BindingsDriver",
                "cuda.bindings",
                "`pip install 'orio_py[cuda]'` installs it as a wheel",
            ),
        ),
        (
            "pycuda",
            DriverLibrary(
                "pycuda",
                "pycuda",
                "PycudaDriver",
                "pycuda",
                "`pip install 'orio_py[pycuda]'` builds it where a CUDA toolkit, a C++ compiler and the driver are installed",
            ),
        ),
    ],
)
"""Those that are known, the preferred one first: it needs no toolkit."""
