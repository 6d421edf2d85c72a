"""The platforms and devices that PyOpenCL finds; asked in a worker process only."""

from __future__ import annotations

import pyopencl as cl

from orio_py.core.units import Bytes
from orio_py.measure.offload.problem import VariantProblem
from orio_py.record.device import DeviceKind, OpenCLDevice, OpenCLPlatform

_KINDS = (
    (cl.device_type.GPU, DeviceKind.GPU),
    (cl.device_type.CPU, DeviceKind.CPU),
    (cl.device_type.ACCELERATOR, DeviceKind.ACCELERATOR),
)


def platforms() -> list[OpenCLPlatform]:
    """All platforms and devices.  Raises VariantProblem `none` when the loader knows no driver."""
    try:
        found = cl.get_platforms()
    except cl.Error as error:
        raise VariantProblem("none", str(error)) from None
    return [_platform(number, platform) for number, platform in enumerate(found)]


def _platform(number: int, platform: cl.Platform) -> OpenCLPlatform:
    problem = None
    devices: list[OpenCLDevice] = []
    try:
        listed = platform.get_devices()
    except cl.Error as error:
        listed, problem = [], str(error)
    for index, device in enumerate(listed):
        devices.append(_device(platform, number, device, index))
    return OpenCLPlatform(
        platform.name.strip(), platform.version.strip(), platform.vendor.strip(), tuple(devices), problem
    )


def _device(platform: cl.Platform, platform_number: int, device: cl.Device, number: int) -> OpenCLDevice:
    kind = next((name for flag, name in _KINDS if device.type & flag), DeviceKind.OTHER)
    extensions = device.extensions.split()
    return OpenCLDevice(
        platform.name.strip(),
        platform.version.strip(),
        platform_number,
        number,
        " ".join(device.name.split()),
        device.vendor.strip(),
        kind,
        device.version.strip(),
        device.opencl_c_version.strip(),
        device.driver_version.strip(),
        int(device.max_compute_units),
        int(device.max_clock_frequency),
        int(device.max_work_group_size),
        tuple(int(n) for n in device.max_work_item_sizes),
        Bytes(int(device.global_mem_size)),
        Bytes(int(device.local_mem_size)),
        Bytes(int(device.max_constant_buffer_size)),
        Bytes(int(device.max_mem_alloc_size)),
        Bytes(int(device.mem_base_addr_align) // 8),
        "cl_khr_fp64" in extensions,
        bool(device.available and device.compiler_available),
    )
