"""`orio model`, `orio results bottleneck`, and a search of C code that counters guide."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor

from orio_py.cli.main import main
from orio_py.measure.observers.catalog import OBSERVERS

SOURCE = """void scale(int n, double *x)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1'; }
    def performance_params { param U[] = range(1, 41); }
    def input_params { param n[] = [%d]; }
    def input_vars { decl dynamic double x[n] = random; }
  ) @*/
  /*@ begin Loop (
    transform Unroll(ufactor = U)
    for (i = 0; i <= n - 1; i++)
      x[i] = 2.0 * x[i];
  ) @*/
  for (i = 0; i <= n - 1; i++)
    x[i] = 2.0 * x[i];
  /*@ end @*/
  /*@ end @*/
}
"""


def ktt_file(folder: Path, kernel: str = "scale") -> Path:
    """Results of a kernel whose global memory is nearly at its peak."""
    results = [
        {
            "KernelName": kernel,
            "Configuration": [{"Name": "TILE", "Value": tile}, {"Name": "BLOCK", "Value": block}],
            "Status": "Ok",
            "TotalDuration": 100.0 / tile + block / 64,
            "ComputationResults": [
                {
                    "ProfilingData": {
                        "Counters": [
                            {"Name": "dram__sectors_read.sum", "Value": 1e6 / tile},
                            {"Name": "smsp__inst_executed.sum", "Value": 1e6 + block},
                            {"Name": "dram__throughput.avg.pct_of_peak_sustained_elapsed", "Value": 88.0},
                        ]
                    }
                }
            ],
        }
        for tile in (1, 2, 4, 8)
        for block in (32, 64, 128, 256)
    ]
    metadata = {"KttVersion": "2.1.0", "TimeUnit": "Microseconds", "Device": "a GPU"}
    path = folder / f"{kernel}.json"
    path.write_text(json.dumps({"Metadata": metadata, "Results": results}))
    return path


@pytest.mark.parametrize("kind", ["ensemble", "tree", "regression"])
def test_a_model_is_trained_from_a_file_and_shown(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "m.npz"
    assert main(["model", "train", str(ktt_file(tmp_path)), "-o", str(output), "--kind", kind, "--json"]) == 0
    trained = json.loads(capsys.readouterr().out)
    assert trained["counters"] == ["DRAM_RT", "INST_EXE"]
    assert set(trained["median_relative_errors"]) == {"DRAM_RT", "INST_EXE"}
    assert main(["model", "show", str(output), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["trained_on"] == {"name": "scale", "device": "a GPU", "inputs": {}, "trials": 16}
    assert main(["model", "show", str(output)]) == 0
    assert "trained on 16 trials on a GPU" in capsys.readouterr().out


def test_a_database_gives_models_and_bottlenecks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = str(tmp_path / "r.db")
    assert main(["results", "import", str(ktt_file(tmp_path)), "--db", db]) == 0
    assert main(["model", "train", "-o", str(tmp_path / "m.npz"), "--db", db]) == 0
    assert main(["results", "bottleneck", "--db", db]) == 0
    assert "bandwidth-bound" in capsys.readouterr().out
    assert main(["results", "bottleneck", "--db", db, "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["series"]
    assert told["configuration"] == {"TILE": 8, "BLOCK": 32}
    assert told["parts"]["reads of global memory"] == pytest.approx(0.88)


def test_models_of_several_tasks_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(ktt_file(tmp_path, kernel)) for kernel in ("one", "two")]
    assert main(["model", "train", *files, "-o", str(tmp_path / "m.npz")]) == 2
    assert "error[ORIO-D023]: the trials with counters belong to 2 tasks" in capsys.readouterr().err
    assert not (tmp_path / "m.npz").exists()


def test_what_cannot_be_trained_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "train", str(ktt_file(tmp_path)), "-o", "m.npz", "--kind", "treee"]) == 2
    assert "did you mean `tree`" in capsys.readouterr().err
    assert main(["model", "show", str(ktt_file(tmp_path))]) == 2
    assert "error[ORIO-D022]" in capsys.readouterr().err


def test_pickled_trees_are_converted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = np.array([[1.0, 2.0], [2.0, 1.0], [4.0, 4.0]])
    forest = ExtraTreesRegressor(3, random_state=0).fit(rows, np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]]))
    (tmp_path / "m.sav").write_bytes(pickle.dumps(forest))
    words = ["--parameters", "A,B", "--counters", "INST_EXE,L2_RT"]
    assert main(["model", "import", str(tmp_path / "m.sav"), "-o", str(tmp_path / "m.npz"), *words]) == 0
    assert main(["model", "show", str(tmp_path / "m.npz")]) == 0
    assert "counters: INST_EXE, L2_RT" in capsys.readouterr().out


@pytest.mark.proof
@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.skipif(OBSERVERS["valgrind"].available() is not None, reason="valgrind is not installed")
def test_c_code_is_searched_with_a_model_of_another_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scale.c").write_text(SOURCE % 2000)
    common = ["--db", "r.db", "-o", "out.c", "--jobs", "1", "--trials", "4"]
    assert main(["tune", "scale.c", "--search", "counters", *common]) == 0
    assert main(["model", "train", "-o", "m.npz", "--db", "r.db"]) == 0
    Path("scale.c").write_text(SOURCE % 3000)
    capsys.readouterr()
    assert main(["tune", "scale.c", "--search", "counters:model=m.npz", *common]) == 0
    assert "scale n=3000" in capsys.readouterr().out
    assert main(["results", "bottleneck", "--db", "r.db"]) == 0
    assert "-bound, with U=" in capsys.readouterr().out
