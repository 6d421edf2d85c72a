"""Emulated times of this benchmark's kernels, and where a GPU is at hand what is measured of them.

    python -m benchmarks.emulation                       # predictions, internal checks, published times
    python -m benchmarks.emulation --gpu A100 --only mm   # for another GPU, kernels whose names contain `mm`
    python -m benchmarks.emulation --measure --json out.json   # on a machine with a GPU: under ten minutes

With `--measure` latencies and gaps are measured by microbenchmarks and printed beside those of the tables; then all points
are measured, and for the emulation, the roofline and MWP-CWP printed: geometric mean and median of the errors, the share within
20 %, and for each space of launches that do the same Kendall's tau and what the predicted best loses.

Exit codes: 0 done; 1 an internal check fails; 3 the machine lacks something.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean, median

from benchmarks.emulation.measuring import MeasuredPoint, measure_points, measured_table
from benchmarks.emulation.points import points
from benchmarks.emulation.predicting import Forecast, own_kernels, problems
from benchmarks.emulation.published import beside_published
from benchmarks.emulation.scores import Accuracy, kendall, lost
from orio_py.core.diagnostics import DiagnosticError, EnvironmentProblem
from orio_py.machine.timing import gpu_timing
from orio_py.measure.cuda.drivers.catalog import cuda_driver

MODELS = ("emulated", "roofline", "mwp_cwp")
KEYS: Mapping[str, Callable[[Forecast], float]] = {
    "emulated time": lambda f: f.emulated,
    "roofline": lambda f: f.roofline,
    "MWP-CWP": lambda f: f.mwp_cwp,
    "falling occupancy": lambda f: -f.occupancy,
}
"""What launches are put into order by; occupancy is what is known without any model."""

LEAST_OF_A_SPACE = 4
"""Launches of a space whose order is looked at."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it."""
    chosen = _options().parse_args(arguments)
    try:
        return _with_gpu(chosen) if chosen.measure else _without(chosen)
    except EnvironmentProblem as problem:
        print("\n".join(d.headline() for d in problem.diagnostics), file=sys.stderr)
        return 3
    except DiagnosticError as problem:
        print("\n".join(d.headline() for d in problem.diagnostics), file=sys.stderr)
        return 2


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.emulation", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add(
        "--gpu",
        default=None,
        metavar="GPU",
        help="the GPU to emulate (H200 SXM; with --measure the one that is there)",
    )
    add("--only", default="", metavar="TEXT", help="kernels whose names contain this")
    add("--measure", action="store_true", help="measure on the GPU of this machine")
    add("--no-published", action="store_true", help="leave published times out")
    add("--json", type=Path, metavar="FILE", help="write all numbers")
    return parser


def _without(chosen: argparse.Namespace) -> int:
    forecasts, spent = _forecasts(chosen.gpu or "H200 SXM", chosen.only)
    _print_forecasts(forecasts, {})
    found = problems(forecasts)
    print(f"\n{len(forecasts)} points, {median(spent) * 1e3:.0f} ms of processor time each in the median")
    print("\n".join(f"wrong: {problem}" for problem in found) or "internal checks: all hold")
    document: dict[str, object] = {"points": [_row(f, None) for f in forecasts], "problems": found}
    if not chosen.no_published:
        document["published"] = _print_published(chosen.gpu or "")
    _write(chosen.json, document)
    return 1 if found else 0


def _with_gpu(chosen: argparse.Namespace) -> int:
    driver = cuda_driver(0)
    try:
        device = driver.device
        timing = gpu_timing(chosen.gpu or device.name.removeprefix("NVIDIA ")) or gpu_timing(
            device.architecture
        )
        if timing is None:
            print(
                f"latencies and gaps of {device.name} are not known; --gpu names one that is like it",
                file=sys.stderr,
            )
            return 3
        print(f"{device.name} ({device.architecture}), predicted as {timing.name}")
        table = measured_table(driver, timing)
        for row in table:
            print(row.text)
        forecasts, _ = _forecasts(timing.name, chosen.only)
        binary = own_kernels(timing.name).binary
        measured = measure_points(driver, binary, [f.point for f in forecasts])
    finally:
        driver.close()
    _print_forecasts(forecasts, {m.point.label: m for m in measured})
    scores = _print_scores(forecasts, measured)
    rows = [_row(f, m) for f, m in zip(forecasts, measured, strict=True)]
    _write(
        chosen.json,
        {"device": device.as_json(), "table": [r.as_json() for r in table], "points": rows, "scores": scores},
    )
    return 0


def _forecasts(gpu: str, only: str) -> tuple[list[Forecast], list[float]]:
    kernels = own_kernels(gpu)
    found: list[Forecast] = []
    spent: list[float] = []
    for point in points():
        if only in point.kernel:
            began = time.process_time()
            found.append(kernels.forecast(point))
            spent.append(time.process_time() - began)
    return found, spent or [0.0]


def _print_forecasts(forecasts: Sequence[Forecast], measured: Mapping[str, MeasuredPoint]) -> None:
    print(f"{'launch':72} {'emulated':>10} {'roofline':>10} {'MWP-CWP':>10} {'measured':>10}  busiest")
    for f in forecasts:
        one = measured.get(f.point.label)
        true = f"{one.seconds * 1e6:10.1f}" if one is not None else f"{'-':>10}"
        times = " ".join(f"{seconds * 1e6:10.1f}" for seconds in (f.emulated, f.roofline, f.mwp_cwp))
        print(f"{f.point.label[:72]:72} {times} {true}  {f.busiest}")
    print("times in us; none but those in the column `measured` is measured")


def _print_published(gpu: str) -> list[dict[str, object]]:
    """Published times beside emulated ones, and how far they are apart."""
    rows: list[dict[str, object]] = []
    pairs: dict[tuple[str, str], list[tuple[float, float]]] = {}
    orders: dict[tuple[str, str], list[tuple[Forecast, float]]] = {}
    print(
        f"\n{'GPU':12} {'kernel':10} {'block':>5} {'emulated':>10} {'roofline':>10} {'MWP-CWP':>10} {'published':>10}"
    )
    for one, f in beside_published(gpu):
        times = " ".join(f"{s * 1e3:10.3f}" for s in (f.emulated, f.roofline, f.mwp_cwp, one.seconds))
        print(f"{one.gpu:12} {one.point.kernel:10} {one.point.block[0]:5} {times}")
        for model in MODELS:
            for of in ("all", one.gpu):
                pairs.setdefault((model, of), []).append((getattr(f, model), one.seconds))
        orders.setdefault((one.gpu, one.point.space), []).append((f, one.seconds))
        rows.append(
            {
                **_row(f, None),
                "gpu": one.gpu,
                "published": one.seconds,
                "source": one.source,
            }
        )
    print("times in ms; sources are in published.csv")
    for (model, of), found in pairs.items():
        print(f"{model:10} {of:12} {_accuracy(Accuracy.of(found))}")
    print(
        "block starts and the latency of busy memory were fitted to the rows of the A100; bandwidths are from the same source"
    )
    for by, key in KEYS.items():
        taus = {
            of: kendall([key(f) for f, _ in found], [true for _, true in found])
            for of, found in orders.items()
            if len(found) >= LEAST_OF_A_SPACE
        }
        if taus:
            several = ", ".join(
                f"{tau:5.2f} on {gpu}" for (gpu, space), tau in taus.items() if space == "product"
            )
            print(
                f"order by {by:18} Kendall's tau {mean(taus.values()):5.2f} in the mean of {len(taus)}; of products {several}"
            )
    return rows


def _print_scores(forecasts: Sequence[Forecast], measured: Sequence[MeasuredPoint]) -> dict[str, object]:
    scores: dict[str, object] = {}
    spaces: dict[str, list[int]] = {}
    for place, f in enumerate(forecasts):
        spaces.setdefault(f.point.space, []).append(place)
    print()
    for model in MODELS:
        predicted = [getattr(f, model) for f in forecasts]
        accuracy = Accuracy.of([(p, m.seconds) for p, m in zip(predicted, measured, strict=True)])
        taus: dict[str, float] = {}
        losses: dict[str, float] = {}
        for space, places in spaces.items():
            if len(places) >= LEAST_OF_A_SPACE:
                ours, true = [predicted[k] for k in places], [measured[k].seconds for k in places]
                taus[space], losses[space] = kendall(ours, true), lost(ours, true)
        order = f"tau {mean(taus.values()):.2f}, best lost {mean(losses.values()):.1%}" if taus else ""
        print(f"{model:10} {_accuracy(accuracy)}; {order}")
        for space, tau in taus.items():
            print(f"    {space:12} tau {tau:5.2f}  predicted best is slower by {losses[space]:.1%}")
        scores[model] = {
            "mean": accuracy.mean,
            "median": accuracy.median,
            "within_20": accuracy.within_20,
            "tau": taus,
            "lost": losses,
        }
    return scores


def _accuracy(found: Accuracy) -> str:
    return (
        f"error {found.mean:.1%} (geometric mean), {found.median:.1%} (median), within 20 %: {found.within_20:.0%}, "
        f"predicted / true {found.bias:.2f}, of {found.count}"
    )


def _row(f: Forecast, measured: MeasuredPoint | None) -> dict[str, object]:
    return {
        "launch": f.point.label, "space": f.point.space, "emulated": f.emulated, "roofline": f.roofline, "mwp_cwp": f.mwp_cwp,
        "error": f.error, "busiest": f.busiest, "measured": None if measured is None else measured.seconds,
    }  # fmt: skip


def _write(path: Path | None, document: Mapping[str, object]) -> None:
    if path is not None:
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
