"""The drivers of CUDA devices, and what `orio devices` tells of them, on a fake driver: no GPU is needed."""

from __future__ import annotations

import json
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import pytest
from cuda_driver_cases import CASES, WITH_FAKE
from libcuda_double import build_driver, build_module, python
from rich.console import Console

from orio_py.api.machine import DeviceReport
from orio_py.cli.tables import device_results
from orio_py.core.units import Bytes
from orio_py.measure.cuda.drivers.libraries import LIBRARIES
from orio_py.record.cuda import CudaDevice, CudaLibraryInfo, CudaSurvey

CASES_FILE = Path(__file__).resolve().parents[1] / "support" / "cuda_driver_cases.py"

# As much of PyCUDA as shows that it is chosen.
STAND_IN = """
class Error(Exception): pass
class Names:
    def __getattr__(self, name): return name
device_attribute = Names()
class Context:
    def push(self): pass
    def detach(self): pass
    @staticmethod
    def pop(): pass
    @staticmethod
    def synchronize(): pass
class Device:
    def __init__(self, number): self.number = number
    @staticmethod
    def count(): return 1
    def name(self): return "Stand-in"
    def compute_capability(self): return (8, 6)
    def total_memory(self): return 1 << 30
    def get_attribute(self, name): return 7
    def retain_primary_context(self): return Context()
def init(): pass
def get_driver_version(): return 12040
"""


def need(*packages: str) -> None:
    for package in packages:
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_driver(tmp_path_factory.mktemp("driver"))


@pytest.fixture(scope="module")
def outcomes(fake: Path, tmp_path_factory: pytest.TempPathFactory):
    """What became of the cases of a library; they run once, in a process with the fake driver."""
    image = build_module(tmp_path_factory.mktemp("module"))
    found: dict[str, dict[str, str | None]] = {}

    def of(library: str) -> dict[str, str | None]:
        if library not in found:
            done = python(fake, str(CASES_FILE), library, str(image))
            assert done.returncode == 0, done.stderr
            found[library] = json.loads(done.stdout.splitlines()[-1])
        return found[library]

    return of


@pytest.mark.parametrize("case", [*CASES, *WITH_FAKE])
@pytest.mark.parametrize("library", ["bindings", "pycuda"])
def test_a_driver_does_what_it_must(outcomes, library, case):
    need(*{"bindings": ("cuda", "cuda.bindings"), "pycuda": ("pycuda",)}[library])
    trace = outcomes(library)[case]
    assert trace is None, trace


SURVEY = """
import json
from orio_py.build.cuda_catalog import ask_driver
from orio_py.measure.cuda.drivers.catalog import with_libraries
print(json.dumps(with_libraries(ask_driver(())).as_json()))
"""


def survey(folder: Path | None, **variables: str) -> dict:
    """What `orio devices` tells of CUDA, without the rest."""
    done = python(folder, "-c", SURVEY, more=variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_devices_lists_what_the_library_sees(fake):
    need("cuda", "cuda.bindings")
    variables = {"FAKE_CUDA_DEVICES": "2", "ORIO_CUDA_DRIVER": "cuda-bindings"}
    found = json.loads(python(fake, "-m", "orio_py", "devices", "--json", more=variables).stdout)["cuda"]
    assert (found["driver"], found["devices"], found["problem"]) == ("13.2", 2, None)
    assert (found["library"], found["because"]) == ("cuda-bindings", "ORIO_CUDA_DRIVER names it")
    first, second = found["gpus"]
    assert first == {
        "number": 0,
        "name": "Fake GPU 0",
        "architecture": "sm_90",
        "multiprocessors": 132,
        "memory": 1 << 30,
        "driver": "13.2",
        "library": "cuda-bindings",
        "clock_khz": 1980000,
        "memory_clock_khz": None,
        "memory_bus_bits": 5120,
    }
    assert (second["number"], second["architecture"]) == (1, "sm_91")


@pytest.mark.proof
def test_it_is_told_why_a_library_is_used_and_others_are_not(fake, tmp_path):
    need("cuda", "cuda.bindings")
    (tmp_path / "pycuda").mkdir()
    (tmp_path / "pycuda" / "__init__.py").touch()
    (tmp_path / "pycuda" / "driver.py").write_text(STAND_IN)
    path = {"PYTHONPATH": f"{tmp_path}:{CASES_FILE.parents[2]}"}
    both = survey(fake, **path)
    assert [library["works"] for library in both["libraries"]] == [True, True]
    assert both["library"] == "cuda-bindings"
    assert "it is the one that wheels bring; ORIO_CUDA_DRIVER names another" in both["because"]
    named = survey(fake, **path, ORIO_CUDA_DRIVER="pycuda")
    assert (named["library"], named["gpus"][0]["name"]) == ("pycuda", "Stand-in")
    only = survey(fake, **path, FAKE_CUDA_FAIL="cuDevicePrimaryCtxRetain:801")
    assert (only["library"], only["because"]) == ("pycuda", "it is the only one that works")
    reason = only["libraries"][0]["reason"]
    assert reason == "cuDevicePrimaryCtxRetain: CUDA_ERROR_NOT_SUPPORTED: operation not supported"
    crash = survey(fake, FAKE_CUDA_FAIL="cuDeviceGetName:abort", ORIO_CUDA_DRIVER="cuda-bindings")
    assert crash["problem"] == "cuda-bindings, which ORIO_CUDA_DRIVER names, does not work"
    assert crash["libraries"][0]["reason"] == "trying it ends with SIGABRT"
    wrong = survey(fake, ORIO_CUDA_DRIVER="cublas")
    assert wrong["problem"].startswith("there is no library `cublas` for CUDA's driver (ORIO_CUDA_DRIVER)")


def test_without_a_driver_it_is_told_what_is_missing():
    found = survey(None)
    if found["driver"] is not None:
        pytest.skip("this machine has a driver")
    assert found["problem"].startswith("no driver (libcuda.so.1")
    for library in found["libraries"]:
        assert not library["works"]
        assert (
            "running CUDA kernels needs a GPU" in library["advice"]
            or library["reason"] == "it is not installed"
        )


@pytest.mark.parametrize(
    ("variables", "code", "words"),
    [
        ({"FAKE_CUDA_FAIL": "cuInit:100"}, "ORIO-B023", "cuInit: CUDA_ERROR_NO_DEVICE"),
        ({"FAKE_CUDA_DEVICES": "0"}, "ORIO-B023", "cuDeviceGet: CUDA_ERROR_INVALID_DEVICE"),
        ({"ORIO_CUDA_DRIVER": "cudabindings"}, "ORIO-B024", "did you mean `cuda-bindings`?"),
    ],
)
def test_opening_a_device_that_is_not_there_is_a_problem_of_the_machine(fake, variables, code, words):
    need("cuda", "cuda.bindings")
    program = (
        "from orio_py.core.diagnostics import EnvironmentProblem\n"
        "from orio_py.measure.cuda.drivers.catalog import cuda_driver\n"
        "try:\n    cuda_driver()\n"
        "except EnvironmentProblem as problem:\n"
        "    told = problem.diagnostics[0]\n"
        "    print(told.headline(), told.help, *(note.message for note in told.notes), sep='\\n')\n"
    )
    done = python(fake, "-c", program, more=variables)
    assert code in done.stdout, done.stderr
    assert words in done.stdout


def test_nothing_of_cuda_is_imported_before_it_is_used():
    program = (
        "import sys, orio_py, orio_py.measure.cuda.drivers.catalog\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('cuda', 'pycuda')])\n"
    )
    done = python(None, "-c", program)
    assert done.stdout == "[]\n", done.stderr


def test_every_library_says_how_to_get_it():
    for library in LIBRARIES.values():
        assert "pip install 'orio_py[" in library.advice


def shown(found: CudaSurvey) -> str:
    console = Console(width=150, file=StringIO(), record=True)
    console.print(device_results(DeviceReport(cuda=found)))
    return console.export_text()


def test_the_text_names_libraries_devices_and_what_helps():
    gpu = CudaDevice(0, "GPU", "sm_90", 132, Bytes(80 << 30), "13.2", "pycuda", 1980000, None, 5120)
    libraries = (
        CudaLibraryInfo("cuda-bindings", "13.5", "no such call", "A"),
        CudaLibraryInfo("pycuda", "2026"),
    )
    told = shown(
        CudaSurvey((), "13.2", 1, None, libraries, "pycuda", "it is the only one that works", (gpu,))
    )
    assert "CUDA: driver 13.2, called by pycuda 2026: it is the only one that works" in told
    assert "CUDA: not by cuda-bindings 13.5: no such call" in told
    assert "help: A" not in told
    assert [line.split() for line in told.splitlines() if "sm_90" in line] == [
        ["0", "GPU", "sm_90", "132", "80", "GiB", "1980", "MHz", "-"]
    ]
    missing = (
        CudaLibraryInfo("cuda-bindings", "13.5", "none", "A"),
        CudaLibraryInfo("pycuda", None, "absent", "B"),
    )
    told = shown(CudaSurvey((), None, 0, "none", missing))
    assert "CUDA: kernels cannot be run here: none" in told
    assert "CUDA: not by pycuda: absent" in told
    assert "help: A" in told
    assert "help: B" not in told
