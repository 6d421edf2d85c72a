"""Static features of annotated code, for one configuration."""

from __future__ import annotations

from pathlib import Path

from orio_py.build.compiler import resolve
from orio_py.features.profile import MachineTraits
from orio_py.tuning.files.load import load
from orio_py.tuning.variants.static import FeatureExtractor
from orio_py.tuning.variants.variant import VariantGenerator

MACHINE = MachineTraits((32 << 10, 1 << 20, 16 << 20), threads=4)

KERNEL = """
void f(int n, float *restrict x, float *restrict y, float (*a)[1000])
{
  int i, j;
  /*@ begin PerfTuning(
    def build { arg build_command = 'gcc -O2 -ffast-math'; }
    def performance_params { %s }
    def input_params { param n[] = [%d]; }
    def input_vars {
      decl dynamic float x[n] = random;
      decl dynamic float y[n] = random;
      decl dynamic float a[n][1000] = random;
    }
  ) @*/
  /*@ begin Loop(%s) @*/
  %s
  /*@ end @*/
  /*@ end @*/
}
"""


def features(folder: Path, code: str, recipe: str, *, n: int = 1000, params: str = "") -> dict[str, float]:
    """The features of the first configuration of a region `code` under a recipe."""
    path = folder / "region.c"
    path.write_text(KERNEL % (params or "param U[] = [1];", n, recipe, code))
    loaded = load([path])
    assert not loaded.is_bad, loaded.diagnostics
    (task,) = loaded.tasks
    generator, point = VariantGenerator.of(task.task), task.points[0]
    compiler = resolve(task.task.build, folder)
    values = dict(task.spaces[0].first())
    return dict(FeatureExtractor.of(generator, point, compiler, MACHINE).features(values))
