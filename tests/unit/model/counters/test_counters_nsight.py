"""Files of Nsight Compute, in both of the forms that it prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orio_py.cli.main import main
from orio_py.core.diagnostics import DiagnosticError
from orio_py.model.counters.nsight import read_nsight
from orio_py.model.counters.table import TABLE, metrics, read_profile

LONG = """\
==PROF== Connected to process 4711 (/home/me/app)
==PROF== Profiling "scale" - 0: 0%....50%....100% - 3 passes
"ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream","Section Name","Metric Name","Metric Unit","Metric Value"
"0","4711","app","127.0.0.1","scale(int, float *)","2026-Nov-27","1","7","Command line profiler metrics","dram__sectors_read.sum","sector","1,048,576"
"0","4711","app","127.0.0.1","scale(int, float *)","2026-Nov-27","1","7","Command line profiler metrics","dram__sectors_write.sum","sector","1024"
"0","4711","app","127.0.0.1","scale(int, float *)","2026-Nov-27","1","7","Command line profiler metrics","dram__throughput.avg.pct_of_peak_sustained_elapsed","%","91.5"
"0","4711","app","127.0.0.1","scale(int, float *)","2026-Nov-27","1","7","Command line profiler metrics","gpu__time_duration.sum","usecond","52.5"
"0","4711","app","127.0.0.1","scale(int, float *)","2026-Nov-27","1","7","Command line profiler metrics","launch__thread_count","thread","262,144"
"1","4711","app","127.0.0.1","other()","2026-Nov-27","1","7","Command line profiler metrics","dram__throughput.avg.pct_of_peak_sustained_elapsed","%","5,25"
==PROF== Disconnected from process 4711
"""

WIDE = """\
==PROF== Connected to process 4711 (/home/me/app)
"ID","Kernel Name","Block Size","device__attribute_display_name","dram__sectors_read.sum","gpu__time_duration.sum"
"","","","","sector","ns"
"0","scale(int, float *)","(256, 1, 1)","a GPU","1,048,576","52,500"
"1","other()","(32, 1, 1)","a GPU","12","1000"
"""


def test_a_line_for_each_metric() -> None:
    scale, other = read_nsight(LONG, "p.csv")
    assert (scale.name, scale.seconds) == ("scale(int, float *)", pytest.approx(52.5e-6))
    assert scale.counters == {
        "dram__sectors_read.sum": 1048576.0,
        "dram__sectors_write.sum": 1024.0,
        "dram__throughput.avg.pct_of_peak_sustained_elapsed": 91.5,
        "launched_threads": 262144.0,
    }
    # A machine whose language has decimal commas.
    assert other.counters == {"dram__throughput.avg.pct_of_peak_sustained_elapsed": 5.25}


def test_a_line_for_each_kernel() -> None:
    scale, other = read_nsight(WIDE, "p.csv")
    assert scale.counters == {"dram__sectors_read.sum": 1048576.0}
    assert (scale.seconds, other.seconds) == (pytest.approx(52.5e-6), pytest.approx(1e-6))


def test_the_metrics_to_ask_for_are_all_that_is_read() -> None:
    asked = metrics().split(",")
    lines = [f'"0","scale","{metric}","","1"' for metric in asked]
    (scale,) = read_nsight(
        "\n".join(['"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"', *lines]), "p"
    )
    read = read_profile(scale.counters)
    assert set(read) == {row.counter for row in TABLE}


@pytest.mark.parametrize(
    ("text", "line"),
    [("", 1), ("==PROF== nothing\n", 1), (LONG.replace('"91.5"', '"many"'), 6)],
)
def test_other_texts_are_refused(text: str, line: int) -> None:
    with pytest.raises(DiagnosticError) as caught:
        read_nsight(text, "p.csv")
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.position and problem.position.line) == ("ORIO-D007", line)


def test_a_profile_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.csv"
    path.write_text(LONG)
    assert main(["results", "bottleneck", "--profile", str(path)]) == 0
    told = capsys.readouterr().out
    assert "scale(int, float *)" in told
    assert "bandwidth-bound" in told
    assert main(["results", "bottleneck", "--profile", str(path), "--json"]) == 0
    scale, other = json.loads(capsys.readouterr().out)["kernels"]
    assert (scale["bound"], scale["parts_are"]) == ("bandwidth-bound", "utilisations")
    assert other["bound"] == "latency-bound"
    assert main(["results", "bottleneck", "--profile", str(tmp_path / "none.csv")]) == 2
    assert "ORIO-U006" in capsys.readouterr().err
