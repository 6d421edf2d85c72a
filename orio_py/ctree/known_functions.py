"""Functions of the C library whose effects are known."""

from __future__ import annotations

_REAL_FUNCTIONS = """sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2
    log10 log1p logb sqrt cbrt hypot pow fabs fmax fmin fdim fma fmod remainder floor ceil trunc round rint
    nearbyint lround llround lrint llrint ilogb ldexp scalbn scalbln copysign nextafter nexttoward erf erfc
    tgamma lgamma"""
_OTHER_FUNCTIONS = """abs labs llabs min max MIN MAX fminimum fmaximum isnan isinf isfinite isnormal signbit
    cabs carg creal cimag conj cexp clog csqrt cpow floord ceild"""

PURE_FUNCTIONS: frozenset[str] = frozenset(
    [name + suffix for name in _REAL_FUNCTIONS.split() for suffix in ("", "f", "l")]
    + _OTHER_FUNCTIONS.split()
)
"""Functions, or macros by these names, whose result depends on their arguments alone (C99 7.12, 7.20.6)."""
