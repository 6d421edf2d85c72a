"""Energy by the processor's own meter, RAPL, as Linux shows it under `/sys/class/powercap`.

Packages and their memory are added up; the meter counts microjoules for the whole machine, in steps of
about a millisecond, and runs over at `max_energy_range_uj` (Linux, Documentation/power/powercap).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orio_py.measure.observers.base import Counter

_PACKAGE = re.compile(r"intel-rapl:\d+")
_PART = re.compile(r"intel-rapl:\d+:\d+")


@dataclass(frozen=True, slots=True)
class EnergyMeter:
    """The file of one meter and the largest number, in microjoules, that it shows."""

    file: Path
    largest: int


@dataclass(frozen=True, slots=True)
class Rapl:
    """Joules per execution of the kernel; `folder` is where the system shows the meters."""

    folder: Path = Path("/sys/class/powercap")
    name: str = "rapl"

    def counters(self) -> tuple[Counter, ...]:
        """The energy, in joules."""
        return (Counter("energy", "J"),)

    def available(self) -> str | None:
        """Whether there is a meter that this user can read."""
        if not self.folder.is_dir():
            return (
                f"the system has no {self.folder}: no power meter, or a virtual machine without access to it"
            )
        found = self._domains()
        if not found:
            return f"{self.folder} shows no RAPL package"
        if not self.meters():
            return f"{found[0] / 'energy_uj'} cannot be read; on most systems only root may"
        return None

    def missing(self) -> Mapping[str, str]:
        """Nothing beside `available`."""
        return {}

    def meters(self) -> tuple[EnergyMeter, ...]:
        """The meters of all packages and of their memory that can be read."""
        found: list[EnergyMeter] = []
        for domain in self._domains():
            try:
                int((domain / "energy_uj").read_text())
                largest = int((domain / "max_energy_range_uj").read_text())
            except (OSError, ValueError):
                continue
            found.append(EnergyMeter(domain / "energy_uj", largest))
        return tuple(found)

    def job_lines(self) -> tuple[str, ...]:
        """One line per meter."""
        return tuple(f"observe rapl {meter.largest} {meter.file}" for meter in self.meters())

    def _domains(self) -> list[Path]:
        found: list[Path] = []
        for domain in sorted(self.folder.glob("intel-rapl:*")):
            try:
                label = (domain / "name").read_text().strip()
            except OSError:
                continue
            # `psys` counts the packages again, and the parts `core` and `uncore` lie inside them.
            is_package = _PACKAGE.fullmatch(domain.name) is not None and label.startswith("package")
            if is_package or (_PART.fullmatch(domain.name) is not None and label == "dram"):
                found.append(domain)
        return found
