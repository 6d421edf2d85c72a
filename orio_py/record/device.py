"""OpenCL platforms and devices as their drivers describe them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from orio_py.core.units import Bytes

DEVICE_NAME = "OpenCL Device"
"""Under this name the metadata of a trial holds the name of its device."""


class DeviceKind(StrEnum):
    """What a device is."""

    CPU = "cpu"
    GPU = "gpu"
    ACCELERATOR = "accelerator"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class DriverFault:
    """What the self-test found a driver unable to do: a feature of OpenCL C (`double8`), and how it fails."""

    feature: str
    problem: str


@dataclass(frozen=True, slots=True)
class OpenCLDevice:
    """One device, in the words and numbers of its driver (OpenCL 1.2, table 4.3).

    `platform_number` and `number` are its places in the driver's lists, `platform` and `platform_version`
    describe the platform.  `max_group` is the largest number of items in a group, `max_items` the largest
    per dimension.  `max_buffer` is the largest buffer, `alignment` that of a sub-buffer's first byte.
    `tested` counts the features that the self-test tried, 0 where it did not run; `faults` are those that failed.
    """

    platform: str
    platform_version: str
    platform_number: int
    number: int
    name: str
    vendor: str
    kind: DeviceKind
    version: str
    language: str
    driver: str
    compute_units: int
    clock_mhz: int
    max_group: int
    max_items: tuple[int, ...]
    global_bytes: Bytes
    local_bytes: Bytes
    constant_bytes: Bytes
    max_buffer: Bytes
    alignment: Bytes
    has_doubles: bool
    is_usable: bool
    tested: int = 0
    faults: tuple[DriverFault, ...] = ()

    @property
    def place(self) -> str:
        """Platform and device by number, `0:0`, as a user may write them."""
        return f"{self.platform_number}:{self.number}"

    @property
    def label(self) -> str:
        """Device and platform for a message."""
        return f"{self.name} ({self.platform}, {self.platform_version})"

    @property
    def fails_everything(self) -> bool:
        """Whether its driver passes no case of its self-test."""
        return 0 < self.tested == len(self.faults)

    @property
    def fault_text(self) -> str | None:
        """What the driver fails at in its self-test, in words; None where it passes."""
        if not self.faults:
            return None
        features: dict[str, list[str]] = {}
        for fault in self.faults:
            features.setdefault(fault.problem, []).append(f"`{fault.feature}`")
        if len(features) == 1 and self.fails_everything:
            (problem,) = features
            return f"{self.label} fails all {self.tested} self-tests of its driver: each {problem}"
        told = "; ".join(f"{', '.join(names)} {problem}" for problem, names in features.items())
        return f"{self.label} fails {len(self.faults)} of {self.tested} self-tests of its driver; not used: {told}"

    @property
    def identity(self) -> tuple[str, ...]:
        """What measurements depend on: the device, its driver and how much of it there is."""
        return (self.platform, self.platform_version, self.name, self.driver, str(self.compute_units))

    @property
    def metadata(self) -> dict[str, str]:
        """The description as text, to be filed with trials; sizes in bytes."""
        return {
            "OpenCL Platform": self.platform,
            "OpenCL Platform Version": self.platform_version,
            DEVICE_NAME: self.name,
            "OpenCL Device Vendor": self.vendor,
            "OpenCL Device Type": str(self.kind),
            "OpenCL Device Version": self.version,
            "OpenCL C Version": self.language,
            "OpenCL Driver Version": self.driver,
            "OpenCL Compute Units": str(self.compute_units),
            "OpenCL Clock Frequency": str(self.clock_mhz),
            "OpenCL Max Work Group Size": str(self.max_group),
            "OpenCL Max Work Item Sizes": " ".join(map(str, self.max_items)),
            "OpenCL Global Memory Size": str(self.global_bytes),
            "OpenCL Local Memory Size": str(self.local_bytes),
            "OpenCL Constant Memory Size": str(self.constant_bytes),
            "OpenCL Max Buffer Size": str(self.max_buffer),
            "OpenCL Double Precision": "yes" if self.has_doubles else "no",
        }

    def as_json(self) -> dict[str, Any]:
        """All fields as JSON content."""
        faults = [asdict(fault) for fault in self.faults]
        return {**asdict(self), "kind": str(self.kind), "max_items": list(self.max_items), "faults": faults}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> OpenCLDevice:
        """The device that `as_json` described."""
        changed: dict[str, Any] = {
            "kind": DeviceKind(content["kind"]),
            "max_items": tuple(content["max_items"]),
            "faults": tuple(DriverFault(**fault) for fault in content["faults"]),
        }
        return cls(**{**content, **changed})


@dataclass(frozen=True, slots=True)
class OpenCLPlatform:
    """One platform with its devices; `problem` says why a platform has none."""

    name: str
    version: str
    vendor: str
    devices: tuple[OpenCLDevice, ...]
    problem: str | None = None

    def as_json(self) -> dict[str, Any]:
        """All fields as JSON content."""
        return {**asdict(self), "devices": [device.as_json() for device in self.devices]}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> OpenCLPlatform:
        """The platform that `as_json` described."""
        changed: dict[str, Any] = {"devices": tuple(map(OpenCLDevice.from_json, content["devices"]))}
        return cls(**{**content, **changed})


@dataclass(frozen=True, slots=True)
class OpenCLSurvey:
    """What was found of OpenCL on a machine; `problem` says why there is no platform, `advice` what helps.

    `environment` are the variables that processes need to find the drivers as they were tested, `setting` says
    what these change; both are empty for the drivers as they are installed.  `loader` is the library through which
    they were found, None where the system does not tell.
    """

    platforms: tuple[OpenCLPlatform, ...] = ()
    problem: str | None = None
    advice: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    setting: str | None = None
    loader: str | None = None

    def as_json(self) -> dict[str, Any]:
        """All fields as JSON content."""
        return {**asdict(self), "platforms": [platform.as_json() for platform in self.platforms]}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> OpenCLSurvey:
        """The survey that `as_json` described."""
        changed: dict[str, Any] = {"platforms": tuple(map(OpenCLPlatform.from_json, content["platforms"]))}
        return cls(**{**content, **changed})

    @property
    def devices(self) -> tuple[OpenCLDevice, ...]:
        """All devices that are there and have a compiler."""
        return tuple(device for p in self.platforms for device in p.devices if device.is_usable)
