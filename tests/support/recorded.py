"""A made-up kernel, measured completely: 212 configurations, some of which fail, as T4 and as a cache file."""

from __future__ import annotations

import itertools

NAMES = ("block", "tile", "unroll", "shared")
LISTS = {
    "block": [16, 32, 64, 128, 256],
    "tile": [1, 2, 3, 4, 6, 8],
    "unroll": [1, 2, 4, 8],
    "shared": [0, 1],
}

FAILURES = {"compile": "CompilationFailedConfig", "runtime": "RuntimeFailedConfig"}


def rows() -> list[dict[str, int]]:
    """The configurations: tiles are multiples of unroll factors or not unrolled, and blocks times tiles fit."""
    found = [dict(zip(NAMES, values, strict=True)) for values in itertools.product(*LISTS.values())]
    return [
        r
        for r in found
        if (r["unroll"] == 1 or r["tile"] % r["unroll"] == 0) and r["block"] * r["tile"] <= 1024
    ]


def failure_of(row: dict[str, int]) -> str | None:
    if row["block"] == 256 and row["shared"]:
        return "runtime"
    return "compile" if row["tile"] == 8 and row["unroll"] == 8 else None


def milliseconds(row: dict[str, int]) -> float:
    return (
        1.0
        + abs(row["block"] - 64) / 64
        + abs(row["tile"] - 4) / 3
        + 1 / row["unroll"]
        - 0.25 * row["shared"]
    )


def times_of(row: dict[str, int]) -> list[float]:
    """Three repetitions, of which the last is slow: the mean is neither the median nor the minimum."""
    middle = milliseconds(row)
    return [middle, middle, middle + 0.3]


def t4_document(**metadata: object) -> dict[str, object]:
    results = []
    for row in rows():
        bad, mean = failure_of(row), milliseconds(row) + 0.1
        result = {
            "timestamp": "2025-01-02 03:04:05.678901+00:00",
            "configuration": row,
            "times": {
                "compilation": 100.0 + row["unroll"],
                "framework": 2.0,
                "search_algorithm": 0,
                "validation": 5.0,
            },
            "invalidity": bad or "correct",
            "correctness": 0 if bad else 1,
            "measurements": [{"name": "time", "value": FAILURES[bad] if bad else mean, "unit": ""}],
            "objectives": ["time"],
        }
        if not bad:
            result["times"]["runtimes"] = times_of(row)
        results.append(result)
    return {
        "metadata": {"timeunit": "miliseconds", **metadata},
        "schema_version": "1.0.0",
        "results": results,
    }


def cache_document(device: str = "Imaginary X1") -> dict[str, object]:
    cache = {}
    for row in rows():
        bad = failure_of(row)
        entry = {
            **row,
            "time": FAILURES[bad] if bad else milliseconds(row) + 0.1,
            "compile_time": 100.0 + row["unroll"],
            "verification_time": 5.0,
            "benchmark_time": 0.0 if bad else sum(times_of(row)),
            "strategy_time": 0,
            "framework_time": 2.0,
            "timestamp": "2025-01-02 03:04:05.678901+00:00",
        }
        cache[",".join(str(v) for v in row.values())] = (
            entry if bad else {**entry, "times": times_of(row), "GFLOP/s": 7.5}
        )
    return {
        "device_name": device,
        "kernel_name": "stencil",
        "problem_size": [512, 256],
        "tune_params_keys": list(NAMES),
        "tune_params": LISTS,
        "objective": "time",
        "cache": cache,
    }
