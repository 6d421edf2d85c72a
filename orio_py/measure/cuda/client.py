"""Where CUDA variants run: on a GPU, or without one on the processor, to be checked only."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from orio_py.build.process import run
from orio_py.measure.cuda.drivers.processor import NAME
from orio_py.measure.cuda.worker import DESCRIBE, MARK
from orio_py.measure.offload.client import START_TIMEOUT, DeviceWorker, worker_command
from orio_py.record.cuda import CudaDevice

GPU = "orio_py.measure.cuda.drivers.catalog:cuda_driver"
PROCESSOR = "orio_py.measure.cuda.drivers.processor:processor_driver"

DEFAULT_ARCHITECTURE = "sm_90"
"""What variants are compiled for where neither recipe nor GPU says it."""

_COMMAND = worker_command("orio_py.measure.cuda.worker")


@dataclass(frozen=True, slots=True)
class CudaPlace:
    """What runs variants: the driver's factory and what that is given, and its name.

    `device` is the GPU, None where the executor on the processor checks variants; `problem` then says why no GPU
    runs them, and `advice` what helps.
    """

    factory: str
    word: str
    name: str
    device: CudaDevice | None = None
    problem: str = ""
    advice: str | None = None

    @property
    def has_times(self) -> bool:
        """Whether variants are timed."""
        return self.device is not None

    @property
    def runs_machine_code(self) -> bool:
        """Whether it wants machine code; otherwise shared objects for the executor."""
        return self.name != NAME

    @property
    def identity(self) -> tuple[str, ...]:
        """What times depend on."""
        if self.device is None:
            return (self.name,)
        device = self.device
        return (self.name, device.name, device.architecture, device.driver, str(device.multiprocessors))

    def worker(self, folder: Path) -> DeviceWorker:
        """A worker process, which is started by its first request."""
        return DeviceWorker(folder, (*_COMMAND, self.factory, self.word), "CUDA kernels")


@cache
def cuda_place(number: int = 0) -> CudaPlace:
    """The GPU of this number, or the processor; asked for once, in a process that a driver may crash."""
    told = run([*_COMMAND, GPU, str(number), DESCRIBE], timeout=START_TIMEOUT, directory=Path.cwd())
    line = next((t for t in told.stdout.splitlines() if t.startswith(MARK)), None)
    if line is None:
        how = "takes too long" if told.timed_out else f"ends with {told.signal_name or told.returncode}"
        return processor_place(
            ": ".join([f"looking for a GPU {how}", *told.stderr.strip().splitlines()[-1:]])
        )
    answer = json.loads(line.removeprefix(MARK))
    if "problem" in answer:
        return processor_place(answer["problem"], answer["help"])
    if not answer["has_times"]:
        return processor_place("the driver has no times")
    return CudaPlace(GPU, str(number), answer["name"], CudaDevice(**answer["device"]))


def processor_place(problem: str, advice: str | None = None) -> CudaPlace:
    """The executor on the processor, with why no GPU runs variants, and what helps."""
    return CudaPlace(PROCESSOR, DEFAULT_ARCHITECTURE, NAME, None, problem, advice)
