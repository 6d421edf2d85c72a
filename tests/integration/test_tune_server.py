"""Tuning through the server: what it must survive, what it must not change, what it reports."""

import os
import signal
import time
from pathlib import Path

import pytest
from c_programs import links

import orio_py
from orio_py.core.units import Seconds
from orio_py.measure.evaluator import Evaluator
from orio_py.measure.server import VariantServer
from orio_py.tuning import events
from orio_py.tuning.options import TuneOptions

MODES = r"""#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#ifndef MODE
#define MODE 0
#endif
static double factor(double x)
{
#if MODE == 1
  *(volatile int *)8 = 1;
#elif MODE == 3
  _exit(0);
#elif MODE == 4
  volatile char *volatile all = malloc((size_t)1 << 50);
  all[0] = 1;
#elif MODE == 5
  close(0); close(1); close(2); close(3); close(4); close(5); close(6); close(7);
#elif MODE == 6
  kill(0, SIGKILL);
#elif MODE == 7
  volatile int i;
  for (i = 0; i < 2000; i++) continue;
#elif MODE == 8
  x = x * 1.0;
#endif
  return x;
}
void scale(int n, double *a, double *b)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1 @CFLAGS@'; }
    def performance_params { param CFLAGS[] = ['', %s]; }
    def input_params { param n[] = [%d]; }
    def input_vars { decl dynamic double a[n] = random; decl dynamic double b[n] = random; }
    def search { arg algorithm = 'Exhaustive'; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=2)) @*/
  for (i = 0; i < n; i++)
    b[i] = factor(a[i]);
  /*@ end @*/
  /*@ end @*/
}
"""


def tune(tmp_path: Path, modes: list[int], *, size: int = 2000, listener=None, **options):
    source = tmp_path / "scale.c"
    source.write_text(MODES % (", ".join(f"'-DMODE={mode}'" for mode in modes), size))
    report = orio_py.tune(
        source, options=TuneOptions(seed=3, timeout=Seconds(20.0), **options), listener=listener
    )
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    return report.regions[0]


@pytest.mark.share(2)
@pytest.mark.parametrize(("mode", "kind"), [(1, "crash"), (3, "no result"), (4, "crash"), (6, "crash")])
def test_the_server_outlives_its_children(tmp_path: Path, mode: int, kind: str, replaced: list[int]) -> None:
    region = tune(tmp_path, [mode])
    assert region.failures == {kind: 1}
    assert replaced == []


@pytest.mark.proof
def test_a_child_that_closes_the_servers_pipes_does_no_harm(tmp_path: Path, replaced: list[int]) -> None:
    region = tune(tmp_path, [5, 7])
    assert region.trials == 3
    assert replaced == []


@pytest.fixture
def replaced(monkeypatch) -> list[int]:
    """Gets an entry whenever a server is replaced."""
    seen: list[int] = []
    replace = VariantServer._replace

    def noted(self: VariantServer) -> None:
        seen.append(1)
        replace(self)

    monkeypatch.setattr(VariantServer, "_replace", noted)
    return seen


def test_a_server_that_is_killed_costs_no_trial(tmp_path: Path, monkeypatch, replaced: list[int]) -> None:
    measure, killed = Evaluator.measure, []

    def kill_first(self: Evaluator, *arguments, **options):
        if (pid := self.server_pid) is not None and not killed:
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)
        return measure(self, *arguments, **options)

    monkeypatch.setattr(Evaluator, "measure", kill_first)
    region = tune(tmp_path, [7, 8])
    assert killed
    assert replaced
    assert region.failures == {}
    assert region.trials == 3


@pytest.mark.proof
def test_hopeless_variants_are_timed_once_and_all_of_them_in_full_on_request(
    tmp_path: Path, monkeypatch
) -> None:
    measure, taken = Evaluator.measure, []

    def noted(self: Evaluator, artifact, *arguments, **options):
        found = measure(self, artifact, *arguments, **options)
        taken.append((len(found.samples), found.is_full))
        return found

    monkeypatch.setattr(Evaluator, "measure", noted)
    tune(tmp_path, [7], size=4000, repeats=4)
    assert taken[-1] == (1, False)
    assert taken[0][0] >= 4
    assert taken[0][1]
    taken.clear()
    tune(tmp_path, [7], size=4000, repeats=4, full_samples=True)
    assert all(count >= 4 and full for count, full in taken)


@pytest.mark.proof
def test_equal_machine_code_of_different_source_is_measured_once(tmp_path: Path) -> None:
    region = tune(tmp_path, [0, 8])
    assert (region.trials, region.cached) == (3, 2)


@pytest.mark.proof
def test_short_kernels_get_several_calls_per_sample(tmp_path: Path) -> None:
    short, long = tune(tmp_path, [7], size=100), tune(tmp_path, [7], size=4_000_000)
    assert short.calls_per_sample > 10
    assert long.calls_per_sample == 1
    assert short.baseline is not None
    assert long.baseline is not None
    # The same loop over 40 000 times the elements: per call, not per sample.
    assert 3000 < long.baseline.median_s / short.baseline.median_s < 600_000


SHORT_BESIDE_ITS_INPUTS = """void one(int n, double *a)
{
  int i;
  /*@ begin PerfTuning (
    def performance_params { param U[] = [1, 3]; }
    def input_params { param n[] = [4000000]; }
    def input_vars { decl dynamic double a[n] = random; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < 30; i += 10)
    a[i * 10000] = a[i * 10000] + 1.0;
  /*@ end @*/
  /*@ end @*/
}
"""

SHORT_WITH_POINTERS = """struct part { double *x; int used; };
void touch(int n, struct part *p)
{
  int i;
  /*@ begin PerfTuning (
    def performance_params { param U[] = [1, 2]; }
    def input_params { param n[] = [100000]; }
    def input_vars {
      decl dynamic struct part p[n] = random;
      decl dynamic double p.x[4] = random;
    }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < 3; i++)
    p[i].used = p[i].used + 1;
  /*@ end @*/
  /*@ end @*/
}
"""


@pytest.mark.proof
def test_of_short_kernels_only_what_a_call_changes_is_put_back(tmp_path: Path) -> None:
    source = tmp_path / "one.c"
    source.write_text(SHORT_BESIDE_ITS_INPUTS)
    report = orio_py.tune(source)
    (region,) = report.regions
    assert report.exit_code == 0
    assert region.calls_per_sample > 1000
    assert region.baseline is not None
    assert region.baseline.median_s < 1e-6


def test_a_kernel_that_cannot_be_timed_is_refused_with_advice(tmp_path: Path) -> None:
    source = tmp_path / "touch.c"
    source.write_text(SHORT_WITH_POINTERS)
    report = orio_py.tune(source)
    assert report.exit_code == 2
    found = report.diagnostics[-1]
    advice = "tune at a larger problem size: enlarge `n` (100000) in `input_params`"
    assert (found.code, found.help) == ("ORIO-M013", advice)
    assert found.position is not None


GLOBALS = """#include <stdlib.h>
double start[64] = {1.0, 2.0, 3.0};
static double sum[64];
void gather(int n)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1 @CFLAGS@'; }
    def performance_params { param CFLAGS[] = ['', '-O2', '-O3']; }
    def input_params { param n[] = [64]; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=2)) @*/
  for (i = 0; i < n; i++)
    sum[i] = sum[i] + start[i];
  /*@ end @*/
  /*@ end @*/
}
double first(void) { return sum[0]; }
"""


def test_arrays_of_the_library_are_set_up_for_every_child(tmp_path: Path) -> None:
    source = tmp_path / "gather.c"
    source.write_text(GLOBALS)
    region = orio_py.tune(source).regions[0]
    assert region.failures == {}
    assert region.trials == 3


@pytest.mark.skipif(not links("-fopenmp"), reason="the compiler's OpenMP library is not installed")
def test_inputs_that_start_threads_make_every_run_a_process_of_its_own(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "init.c").write_text(
        "void init_input_vars(void)\n{\n  int i;\n  #pragma omp parallel for num_threads(2)\n"
        "  for (i = 0; i < 3000; i++) x[i] = i;\n}\n"
    )
    source = tmp_path / "f.c"
    source.write_text(
        """void f(int n, double *x)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O2 -fopenmp'; }
    def performance_params { param U[] = [1, 2, 4]; }
    def input_params { param n[] = [3000]; }
    def input_vars { decl dynamic double x[n]; arg init_file = 'init.c'; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++)
    x[i] = 2.0 * x[i];
  /*@ end @*/
  /*@ end @*/
}
"""
    )
    usable: list[bool] = []
    close = Evaluator.close

    def noted(self: Evaluator) -> None:
        usable.append(self._server is not None and self._server.is_usable)
        close(self)

    monkeypatch.setattr(Evaluator, "close", noted)
    report = orio_py.tune(source)
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    assert report.regions[0].failures == {}
    assert report.regions[0].trials == 3
    assert usable == [False]


@pytest.mark.share(2)
@pytest.mark.parametrize("pin", [True, False])
def test_the_report_tells_of_the_machine_and_the_processor(tmp_path: Path, pin: bool) -> None:
    region = tune(tmp_path, [7], pin=pin)
    assert region.steadiness is not None
    assert region.steadiness.readings >= 2
    allowed = os.sched_getaffinity(0)
    assert region.steadiness.cpu == (max(allowed) if pin and len(allowed) > 1 else None)
    machine = region.as_json()["machine"]
    assert isinstance(machine, dict)
    assert set(machine) == {"readings", "drift", "waiting", "is_steady", "remark", "cpu"}


def test_an_interrupt_leaves_no_process_behind(tmp_path: Path) -> None:
    mark = tmp_path / "running"
    code = "x = x + (system(\"touch '%s'; sleep 1000\") != 0);" % mark
    text = (MODES % ("'-DMODE=8'", 2000)).replace("x = x * 1.0;", code)
    source = tmp_path / "scale.c"
    source.write_text(text)

    def at_alarm(*_: object) -> None:
        if mark.exists():
            signal.setitimer(signal.ITIMER_REAL, 0.0)  # once: cleaning up may take longer than the interval
            signal.raise_signal(signal.SIGINT)

    def interrupt(event: events.Event) -> None:
        if isinstance(event, events.TrialDone):
            signal.signal(signal.SIGALRM, at_alarm)
            signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)

    # A shell's background job ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        report = orio_py.tune(source, options=TuneOptions(seed=3, timeout=Seconds(60.0)), listener=interrupt)
    finally:
        signal.signal(signal.SIGINT, before)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    assert report.exit_code == 130
    # A process that was killed is gone a little later: nobody here is its parent.
    deadline = time.monotonic() + 30.0
    while (left := _processes_that_name(str(mark))) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert left == []


def _processes_that_name(text: str) -> list[Path]:
    return [p for p in Path("/proc").glob("[0-9]*/cmdline") if _names(p, text)]


def _names(path: Path, text: str) -> bool:
    try:
        return text.encode() in path.read_bytes()
    except OSError:
        return False
