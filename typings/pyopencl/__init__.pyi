"""The part of PyOpenCL that `orio_py.measure.opencl.runtime` uses; the package is optional."""

from collections.abc import Sequence
from typing import Any

class Error(Exception): ...

class device_type:
    CPU: int
    GPU: int
    ACCELERATOR: int

class command_queue_properties:
    PROFILING_ENABLE: int

class mem_flags:
    READ_WRITE: int

class program_build_info:
    LOG: int

class kernel_work_group_info:
    LOCAL_MEM_SIZE: int
    WORK_GROUP_SIZE: int

class Platform:
    name: str
    version: str
    vendor: str
    def get_devices(self) -> list[Device]: ...

class Device:
    name: str
    vendor: str
    type: int
    version: str
    opencl_c_version: str
    driver_version: str
    extensions: str
    max_compute_units: int
    max_clock_frequency: int
    max_work_group_size: int
    max_work_item_sizes: Sequence[int]
    global_mem_size: int
    local_mem_size: int
    max_constant_buffer_size: int
    max_mem_alloc_size: int
    mem_base_addr_align: int
    available: bool
    compiler_available: bool

class Context:
    def __init__(self, devices: Sequence[Device]) -> None: ...

class CommandQueue:
    def __init__(self, context: Context, device: Device, *, properties: int = ...) -> None: ...
    def finish(self) -> None: ...
    def flush(self) -> None: ...

class Profile:
    start: int
    end: int

class Event:
    profile: Profile
    def wait(self) -> None: ...

class Buffer:
    def __init__(self, context: Context, flags: int, size: int) -> None: ...
    def get_sub_region(self, origin: int, size: int) -> Buffer: ...
    def release(self) -> None: ...

class Program:
    def __init__(self, context: Context, src: str) -> None: ...
    def build(self, options: Sequence[str] = ..., devices: Sequence[Device] | None = ...) -> Program: ...
    def get_build_info(self, device: Device, param: int) -> Any: ...

class Kernel:
    def __init__(self, program: Program, name: str) -> None: ...
    def set_args(self, *args: Any) -> None: ...
    def get_work_group_info(self, param: int, device: Device) -> Any: ...

def get_platforms() -> list[Platform]: ...
def enqueue_copy(
    queue: CommandQueue,
    dest: Any,
    src: Any,
    *,
    src_offset: int = ...,
    dst_offset: int = ...,
    is_blocking: bool = ...,
    wait_for: Sequence[Event] | None = ...,
) -> Event: ...
def enqueue_fill_buffer(queue: CommandQueue, mem: Buffer, pattern: Any, offset: int, size: int) -> Event: ...
def enqueue_nd_range_kernel(
    queue: CommandQueue,
    kernel: Kernel,
    global_work_size: Sequence[int],
    local_work_size: Sequence[int] | None,
    *,
    wait_for: Sequence[Event] | None = ...,
) -> Event: ...
