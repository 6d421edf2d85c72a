"""Clocks, temperature and power of a GPU now, from NVML: the library that `nvidia-smi` is made of.

It comes with the driver and its C interface is stable, so that `ctypes` does (NVML API Reference Guide,
"Device Queries").  It knows devices by their place on the bus, as `CUDA_VISIBLE_DEVICES` gives them other numbers.
"""

from __future__ import annotations

import ctypes

_LIBRARY = "libnvidia-ml.so.1"
_SM_CLOCK, _MEMORY_CLOCK = 1, 2  # nvmlClockType_t
_GPU_SENSOR = 0  # nvmlTemperatureSensors_t


class Clocks:
    """What NVML tells of one device; nothing where it is missing."""

    def __init__(self, bus_id: str, library: str = _LIBRARY) -> None:
        self._device = ctypes.c_void_p()
        self._nvml: ctypes.CDLL | None = None
        try:
            nvml = ctypes.CDLL(library)
            if nvml.nvmlInit_v2() != 0:
                return
            if nvml.nvmlDeviceGetHandleByPciBusId_v2(bus_id.encode(), ctypes.byref(self._device)) != 0:
                nvml.nvmlShutdown()
                return
        except (OSError, AttributeError):  # no library, or one without these functions
            return
        self._nvml = nvml

    def read(self) -> dict[str, str]:
        """Clocks in MHz, temperature in degrees Celsius, power in watts, as far as they are told."""
        found = {
            "cuda_sm_clock_now_mhz": self._number("nvmlDeviceGetClockInfo", _SM_CLOCK),
            "cuda_memory_clock_now_mhz": self._number("nvmlDeviceGetClockInfo", _MEMORY_CLOCK),
            "cuda_temperature_celsius": self._number("nvmlDeviceGetTemperature", _GPU_SENSOR),
        }
        told = {name: str(value) for name, value in found.items() if value is not None}
        milliwatts = self._number("nvmlDeviceGetPowerUsage")
        return told if milliwatts is None else {**told, "cuda_power_watts": f"{milliwatts / 1000:.1f}"}

    def close(self) -> None:
        """Give the library back."""
        if self._nvml is not None:
            self._nvml.nvmlShutdown()
            self._nvml = None

    def _number(self, function: str, *arguments: int) -> int | None:
        if self._nvml is None or not hasattr(self._nvml, function):
            return None
        value = ctypes.c_uint()
        status = getattr(self._nvml, function)(self._device, *arguments, ctypes.byref(value))
        return value.value if status == 0 else None
