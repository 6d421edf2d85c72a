"""`orio tune`: search, build, validate, measure, write the winners back."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

import orio_py
from orio_py.cli import options as shared
from orio_py.cli.console import Color, Output, check_json_target, check_one_result, write_json
from orio_py.cli.defaults import chosen_output, configuration_for, with_defaults
from orio_py.cli.progress import progress_for
from orio_py.cli.tables import tuning_results
from orio_py.core.diagnostics import fail
from orio_py.core.streams import STANDARD_OUTPUT
from orio_py.core.units import Seconds

EPILOG = "Example: orio tune mm.c --search random --trials 200 --time 5m -o mm_tuned.c"


def tune(
    paths: shared.Paths,
    output: shared.OutputPath = None,
    in_place: shared.InPlace = False,
    spec: shared.Spec = None,
    assume: shared.Assume = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="c|openmp|openmp-target|openacc|opencl|cuda",
            help="What to generate; default: what the recipe asks for. Without a GPU, variants for cuda are "
            "compiled and checked, not timed, and nothing is written (exit code 3).",
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            "--device",
            metavar="emulated:GPU",
            help="A GPU that need not be there (`emulated:sm_90`, `emulated:A100`): CUDA variants are checked on the "
            "processor and ranked by emulated times, which are stored apart.",
        ),
    ] = None,
    accept_predicted: Annotated[
        bool,
        typer.Option(
            "--accept-predicted",
            help="Where there is no GPU, write the CUDA variant that an emulation of the recipe's `arch` (or of `sm_90`) "
            "ranks first of those that were checked on the processor.",
        ),
    ] = False,
    search: Annotated[
        str | None,
        typer.Option(
            "--search",
            metavar="NAME[:opt=value,...]",
            help="The searcher, `auto` by default (`orio explain ORIO-P020` lists them).",
        ),
    ] = None,
    objective: Annotated[
        list[str] | None,
        typer.Option(
            "--objective",
            metavar="EXPRESSION",
            help="What to minimise, over times and counters: instructions, 'time * energy' (default: time). "
            "Given several times, the first decides and the best compromises are shown, too.",
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            metavar="N",
            parser=shared.whole_number("--trials", least=1),
            help="At most N variants.",
        ),
    ] = None,
    time_limit: Annotated[
        Seconds | None,
        typer.Option(
            "--time",
            metavar="DURATION",
            parser=shared.parse_duration,
            help="Stop searching a region after 90s, 10m, 1.5h; its problem sizes share that.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            metavar="N",
            parser=shared.whole_number("--seed", least=0),
            help="Seed of search and inputs.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            metavar="N",
            parser=shared.whole_number("--jobs", least=1),
            help="Builds at the same time (default: one per core); measuring is never concurrent.",
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            "--repeats",
            metavar="N",
            parser=shared.whole_number("--repeats", least=1),
            help="Timed repetitions per variant, at least.",
        ),
    ] = None,
    timeout: Annotated[
        Seconds | None,
        typer.Option(
            "--timeout",
            metavar="DURATION",
            parser=shared.parse_duration,
            help="Time limit of one variant's run (default: 20 times the original's run, at least 10 s).",
        ),
    ] = None,
    settings: shared.Settings = None,
    cc: Annotated[
        str | None, typer.Option("--cc", metavar="CMD", help="Compiler command, for example `clang -O3`.")
    ] = None,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Keep generated sources and binaries here.")
    ] = None,
    full_samples: Annotated[
        bool,
        typer.Option("--full-samples", help="Time slow variants as often as fast ones, as data for a model."),
    ] = False,
    pin: Annotated[
        bool | None,
        typer.Option(
            "--pin/--no-pin",
            help="Keep the kernels on one core (default: only serial ones).",
            show_default=False,
        ),
    ] = None,
    include: shared.Include = None,
    exclude: shared.Exclude = None,
    compile_commands: shared.CompileCommandsPath = None,
    db: shared.Database = None,
    no_db: Annotated[
        bool, typer.Option("--no-db", help="Remember nothing, and use nothing that is remembered.")
    ] = False,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh",
            help="Measure anew what the results database has, and take no past from it; it keeps both.",
        ),
    ] = False,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="dask://HOST:PORT|local[:N]",
            help="Build and measure on the workers of a Dask cluster, or on N started here.",
        ),
    ] = None,
    json: shared.JsonTarget = None,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Tune every annotated region and write the winners back."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    check_json_target(json)
    pins = shared.parse_pins(settings or ())
    if no_db and (db is not None or fresh):
        fail("ORIO-U017", "`--no-db` contradicts `--db` and `--fresh`")
    chosen = orio_py.TuneOptions(
        spec=spec,
        assume=tuple(assume or ()),
        target=target,
        device=device,
        accept_predicted=accept_predicted,
        search=search,
        objective=tuple(objective or ()) or None,
        trials=trials,
        time=time_limit,
        seed=seed,
        jobs=jobs,
        repeats=repeats,
        timeout=timeout,
        pins=pins,
        cc=cc,
        keep=keep,
        full_samples=full_samples,
        pin=pin,
        include=tuple(include or ()),
        exclude=tuple(exclude or ()),
        compile_commands=compile_commands,
        db=None if no_db else db if db is not None else shared.default_database(),
        db_required=db is not None,
        fresh=fresh,
        cluster=cluster,
    )
    file = configuration_for(paths)
    chosen = with_defaults(chosen, file)
    output, in_place = chosen_output(output, file, in_place=in_place)
    check_one_result(json, output)
    with progress_for(out, time.monotonic) or nullcontext() as listener:
        report = orio_py.tune(paths, output=output, in_place=in_place, options=chosen, listener=listener)
    out.diagnostics(report.diagnostics, report.sources)
    if report.regions:
        # With JSON or code on stdout the table is a remark, not the result.
        (out.message if json == "-" or output == STANDARD_OUTPUT else out.result)(
            tuning_results(report.regions)
        )
    if json is not None and (report.regions or report.exit_code != 2):
        write_json(report.as_json(), json)
    return report.exit_code
