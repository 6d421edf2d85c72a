"""Which extensions of the processor a variant's compiler options let it use."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from orio_py.build.compiler import Compiler, referenced, substitute
from orio_py.build.process import run
from orio_py.core.expr import Value
from orio_py.core.units import Seconds

# The compiler's macro, the name for `__builtin_cpu_supports`, and the extension that implies it.
# Sources: GCC manual, "x86 Options" and "x86 Built-in Functions"; clang takes the same names.
_X86: tuple[tuple[str, str, str | None], ...] = (
    ("__SSE3__", "sse3", "ssse3"),
    ("__SSSE3__", "ssse3", "sse4.1"),
    ("__SSE4_1__", "sse4.1", "sse4.2"),
    ("__SSE4_2__", "sse4.2", "avx"),
    ("__POPCNT__", "popcnt", "sse4.2"),
    ("__AVX__", "avx", "avx2"),
    ("__AVX2__", "avx2", "avx512f"),
    ("__FMA__", "fma", None),
    ("__BMI__", "bmi", None),
    ("__BMI2__", "bmi2", None),
    ("__AVX512F__", "avx512f", None),
    ("__AVX512CD__", "avx512cd", None),
    ("__AVX512DQ__", "avx512dq", None),
    ("__AVX512BW__", "avx512bw", None),
    ("__AVX512VL__", "avx512vl", None),
    ("__AVX512IFMA__", "avx512ifma", None),
    ("__AVX512VBMI__", "avx512vbmi", None),
    ("__AVX512VNNI__", "avx512vnni", None),
)


def needed_features(compiler: Compiler, values: Mapping[str, Value]) -> tuple[str, ...]:
    """The extensions that the parameters' options add to those of the build command itself.

    Options without parameters hold for the whole file, however it is dispatched.  An extension is left out
    where another one in the list implies it.  Empty for processors other than x86.
    """
    with_values = compiler.words(values)
    without = _options_without(compiler, values)
    if with_values == without:
        return ()
    added = _defined(compiler, with_values) - _defined(compiler, without)
    names = {name for macro, name, _ in _X86 if macro in added}
    implied = _closure(names)
    return tuple(name for _, name, _ in _X86 if name in names and name not in implied)


def option_parameters(compiler: Compiler) -> frozenset[str]:
    """The parameters that the words of the build command name."""
    return frozenset(name for word in compiler.command for name in referenced(word))


def chosen_options(compiler: Compiler, values: Mapping[str, Value]) -> list[str]:
    """The words of the build command that parameters have chosen."""
    without = _options_without(compiler, values)
    return [word for word in compiler.words(values) if word not in without]


def _options_without(compiler: Compiler, values: Mapping[str, Value]) -> list[str]:
    """The build command without the words that parameters change."""
    return [word for word in compiler.command if substitute(shlex.quote(word), values) == [word]]


def _closure(names: set[str]) -> set[str]:
    """The names that another one implies."""
    implied: set[str] = set()
    for _, name, by in reversed(_X86):
        if by in names or by in implied:
            implied.add(name)
    return implied


def _defined(compiler: Compiler, words: Sequence[str]) -> set[str]:
    """The macros that the compiler defines under these options."""
    told = run(
        [*words, "-dM", "-E", "-x", "c", "/dev/null"],
        timeout=Seconds(30.0),
        directory=compiler.directory,
        environment={"LC_ALL": "C"},
    )
    lines = (line.split() for line in told.stdout.splitlines())
    return {words[1] for words in lines if len(words) > 1 and words[0] == "#define"}
