"""The processor's extensions that parameters of the build command ask for."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from orio_py.build.compiler import resolve
from orio_py.build.features import needed_features
from orio_py.spec.target import BuildSpec

pytestmark = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="needs an x86 compiler")


@pytest.mark.parametrize(
    ("command", "values", "expected"),
    [
        ("gcc -O3 -mavx2", {"U": 4}, ()),
        ("gcc @CFLAGS", {"CFLAGS": "-O3"}, ()),
        ("gcc @CFLAGS", {"CFLAGS": "-O3 -mavx2 -mfma"}, ("avx2", "fma")),
        ("gcc @CFLAGS", {"CFLAGS": "-mavx512f"}, ("avx512f",)),
        ("gcc -mavx2 @CFLAGS", {"CFLAGS": "-mavx512f"}, ("avx512f",)),
        ("gcc -mavx2 @CFLAGS", {"CFLAGS": "-mavx"}, ()),
        ("gcc -m@SIMD@ -O2", {"SIMD": "sse4.2"}, ("sse4.2",)),
    ],
)
def test_needed_features(command, values, expected):
    compiler = resolve(BuildSpec(command, is_default=False), Path.cwd())
    assert needed_features(compiler, values) == expected
