"""How often calls are timed that take long together: as often as the file says only where nobody waits long for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from orio_py.build.compiler import resolve
from orio_py.core.units import Seconds
from orio_py.measure.base import RunLimits
from orio_py.measure.evaluator import Evaluator
from orio_py.tuning.files.load import load

SLOW = """/*@ begin PerfTuning (
  def build { arg build_command = 'gcc -O1'; }
  def performance_counter { arg repetitions = 200; }
  def input_vars { decl double x = 0.5; decl int n = 4000000; }
) @*/
void iterated(int n, double *px)
{
  int i;
  /*@ begin Loop (transform Unroll(ufactor=2)) @*/
  for (i = 0; i < n; i++) x = x * 3.5 * (1.0 - x);
  /*@ end @*/
}
/*@ end @*/
"""


@pytest.mark.parametrize(("patience", "is_whole"), [(Seconds(0.2), False), (None, True)])
def test_few_samples_of_calls_that_take_long_together(
    tmp_path: Path, patience: Seconds | None, is_whole: bool
) -> None:
    source = tmp_path / "iterated.c"
    source.write_text(SLOW)
    (loaded,) = load([source]).tasks
    task = loaded.task
    limits = RunLimits(repeats=task.measurement.repetitions, patience=patience)
    evaluator = Evaluator(task, loaded.points[0], resolve(task.build, tmp_path), tmp_path / "work", limits)
    try:
        taken = len(evaluator.prepare({}).measurement.samples)
    finally:
        evaluator.close()
    assert taken == 200 if is_whole else 5 <= taken < 200
