"""The script that times what is claimed of CUDA, as far as that goes without a GPU."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from cuda_compilers import nvrtc_or_skip
from libcuda_double import FAKE, build_driver, build_module, python

import orio_py
from orio_py.measure.cuda.drivers.catalog import drivers_found

GPU = Path(__file__).resolve().parents[2] / "benchmarks" / "gpu"

COPY_ON_FAKE = f'#include "{FAKE}/kernels.h"\n#include "{GPU}/copy.cu"\nKERNEL(copy)\n'

BANDWIDTH = """
import json, sys
from dataclasses import asdict
from pathlib import Path
from rivals import copy_bandwidth
from orio_py.core.units import Bytes
from orio_py.measure.cuda.drivers.bindings import BindingsDriver
driver = BindingsDriver()
print(json.dumps(asdict(copy_bandwidth(driver, Path(sys.argv[1]).read_bytes(), Bytes(1 << 12)))))
driver.close()
"""

REGION = {
    "trials": 5,
    "failed": 2,
    "invalid": 0,
    "failures": {"compile": 2},
    "baseline": {"median_s": 1.0},
    "best": {
        "median_s": 0.25e-3,
        "mad_s": 1e-6,
        "repeats": 7,
        "configuration": {"TC": 128},
        "counters": [{"name": "registers", "value": 24.0}, {"name": "occupancy", "value": 0.75}],
    },
}


@pytest.fixture(scope="module")
def claims() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(GPU))
        return import_module("claims")


@pytest.mark.proof
def test_each_kernel_has_a_space_for_a_gpu(claims, tmp_path):
    for name, kernel in claims.ALL.items():
        path = tmp_path / f"{name}.c"
        path.write_text(kernel.source(kernel.dry_size))
        found = orio_py.space([path])
        assert not found.diagnostics, (name, found.diagnostics)
        (region,) = found.regions
        assert region.valid >= 20, name
        path.write_text(kernel.source(kernel.size))
        assert str(kernel.size) in path.read_text()
        out = orio_py.transform([path], output=tmp_path / f"{name}.out.c")
        assert out.exit_code == 0, (name, out.diagnostics)
        assert "__global__" in (tmp_path / f"{name}.out_cuda.cu").read_text()


def test_a_line_has_rates_and_shares(claims):
    row = claims.row("matmul", 1000, REGION)
    assert (row.right, row.wrong, row.is_right, row.repeats) == (3, 0, True, 7)
    shown = claims.table([row], claims.Bandwidth(512e9, 264, 21))
    cells = [next(iter(column.cells)) for column in shown.columns]
    assert cells == [
        "matmul", "1000", "3/5", "0.2500 ms", "7 runs", "128", "25 %", "8000", "-", "-", "24", "75 %"
    ]  # fmt: skip
    assert not claims.row("dot", 10, {**REGION, "invalid": 1}).is_right
    checked = {"outcome": "checked, not timed", "configuration": {"TC": 64}, "counters": []}
    untimed = {
        "trials": 2,
        "failures": {"checked, not timed": 1, "wrong result": 1},
        "invalid": 1,
        "best": None,
    }
    row = claims.row(
        "dot", 10, {**REGION, **untimed, "untimed": {"variants": [checked, {**checked, "outcome": "x"}]}}
    )
    assert (row.right, row.wrong, row.seconds, row.failures) == (1, 1, None, {"wrong result": 1})


def test_a_copy_gives_the_bandwidth(tmp_path):
    pytest.importorskip("cuda.bindings")
    source = tmp_path / "copy_on_fake.cu"
    source.write_text(COPY_ON_FAKE)
    image = build_module(tmp_path, source)
    more = {"PYTHONPATH": f"{GPU}:{GPU.parents[1]}"}
    done = python(build_driver(tmp_path), "-c", BANDWIDTH, str(image), more=more)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    # the fake driver's clock goes on by a millisecond with each kernel
    assert told["bytes_per_s"] == pytest.approx(2 * 4096 / 1e-3)
    assert (told["blocks"], told["repeats"]) == (2 * 132, 21)


def test_without_a_gpu_it_says_what_is_missing_and_ends_with_3(claims, capsys):
    nvrtc_or_skip()
    if any(library.works for library in drivers_found().libraries):
        pytest.skip("this machine has a GPU")
    assert claims.main([]) == 3
    told = capsys.readouterr().err
    assert "error[ORIO-B023]: CUDA kernels cannot be run here" in told
    assert "help: " in told


def test_unknown_kernels_are_refused(claims, capsys):
    with pytest.raises(SystemExit) as caught:
        claims.main(["--kernels", "vecaxpy,daxpy"])
    assert caught.value.code == 2
    assert "no kernel daxpy; there are matvec" in capsys.readouterr().err


@pytest.mark.proof
@pytest.mark.nvrtc
def test_a_dry_run_compiles_and_checks(claims, tmp_path, capsys):
    nvrtc_or_skip()
    report = tmp_path / "c.json"
    words = ["--dry-run", "--trials", "1", "--kernels", "vecscale", "--json", str(report)]
    assert claims.main(words) == 0, capsys.readouterr()
    (kernel,) = json.loads(report.read_text())["kernels"]
    assert (kernel["name"], kernel["trials"], kernel["right"], kernel["wrong"]) == ("vecscale", 1, 1, 0)
    assert kernel["counters"]["registers"] > 0
