"""Which outputs of a variant count as the original's: the bounds of the tolerance, and numbers that are not finite."""

from pathlib import Path

import pytest

import orio_py
from orio_py.tuning.options import TuneOptions

TEXT = r"""static {type} changed(int i, {type} x)
{{
#ifdef CHANGED
  return i < 4999 ? x : {change};
#else
  return x;
#endif
}}
void scale(int n, {type} *a, {type} *b)
{{
  int i;
  /*@ begin PerfTuning (
    def build {{ arg build_command = 'gcc -O1 @CFLAGS@'; }}
    def performance_params {{ param CFLAGS[] = ['', '-DCHANGED']; }}
    def input_params {{ param n[] = [5000]; }}
    def input_vars {{ decl dynamic {type} a[n] = random; decl dynamic {type} b[n] = 0; }}
    def search {{ arg algorithm = 'Exhaustive'; }}
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=2)) @*/
  for (i = 0; i < n; i++)
    b[i] = changed(i, {value});
  /*@ end @*/
  /*@ end @*/
}}
"""


def failures(folder: Path, kind: str, change: str, value: str) -> dict[str, int]:
    """How a variant fails whose last element is not `value` but what `change` makes of it."""
    source = folder / "scale.c"
    source.write_text(TEXT.format(type=kind, change=change, value=value))
    report = orio_py.tune(source, options=TuneOptions(seed=1))
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    return dict(report.regions[0].failures)


@pytest.mark.parametrize(
    ("kind", "change", "value"),
    [
        ("double", "x*(1+0.9995e-9)", "1+a[i]"),
        ("double", "x*(1-0.5e-9)", "1+a[i]"),
        ("double", "x+0.5e-12", "1e-6*a[i]+(i==7)"),  # small beside the largest one
        ("double", "0.0/0.0", "i<4999?a[i]:0.0/0.0"),
        ("double", "1/0.0", "i<4999?a[i]:1/0.0"),
        ("float", "x*(1+0.9e-4f)", "1+a[i]"),
        ("long double", "x*(1+0.9e-12L)", "1+a[i]"),
    ],
)
def test_what_is_within_the_tolerance_is_right(tmp_path: Path, kind: str, change: str, value: str) -> None:
    assert failures(tmp_path, kind, change, value) == {}


@pytest.mark.parametrize(
    ("kind", "change", "value"),
    [
        ("double", "x*(1+1.01e-9)", "1+a[i]"),
        ("double", "x+1.1e-12", "1e-6*a[i]+(i==7)"),
        ("double", "0.0/0.0", "1+a[i]"),
        ("double", "1/0.0", "1+a[i]"),
        ("double", "1.0", "i<4999?a[i]:1/0.0"),
        ("double", "-1/0.0", "i<4999?a[i]:1/0.0"),
        ("double", "1.0", "i<4999?a[i]:0.0/0.0"),
        ("float", "x*(1+1.2e-4f)", "1+a[i]"),
        ("long double", "x*(1+1.1e-12L)", "1+a[i]"),
    ],
)
def test_what_is_beyond_the_tolerance_is_wrong(tmp_path: Path, kind: str, change: str, value: str) -> None:
    assert failures(tmp_path, kind, change, value) == {"wrong result": 1}
