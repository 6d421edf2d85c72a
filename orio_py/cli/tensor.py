"""`orio tensor`: contractions in index notation become tuned C."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import orio_py
from orio_py.cli import options as shared
from orio_py.cli.console import Color, Output, check_json_target, write_json
from orio_py.cli.progress import progress_for
from orio_py.cli.tables import tuning_results
from orio_py.core.diagnostics import fail
from orio_py.core.streams import STANDARD_OUTPUT
from orio_py.core.units import Seconds
from orio_py.tensors.contraction import TensorLayout

EPILOG = "Example: orio tensor 'ij,jk->ik' --size i=64,j=64,k=64 --trials 30 -o product.c"


class NumberType(StrEnum):
    """The type of the elements."""

    DOUBLE = "double"
    FLOAT = "float"


def tensor(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|EINSUM", help="A program of contractions, or a string such as `ij,jk->ik`."
        ),
    ],
    sizes: Annotated[
        list[str] | None,
        typer.Option(
            "--size", metavar="i=N,...", help="Sizes of the indices of an einsum string; may be repeated."
        ),
    ] = None,
    layout: Annotated[
        TensorLayout,
        typer.Option(
            "--layout",
            metavar="row|column",
            parser=shared.one_of("--layout", TensorLayout),
            help="Of an einsum string: the last index has unit stride, or the first one.",
        ),
    ] = TensorLayout.ROW,
    kind: Annotated[
        NumberType,
        typer.Option(
            "--type",
            metavar="double|float",
            parser=shared.one_of("--type", NumberType),
            help="Of an einsum string: the type of the elements.",
        ),
    ] = NumberType.DOUBLE,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            parser=shared.destination("--output"),
            help="The tuned C file; by default NAME.c beside FILE, or einsum.c.",
        ),
    ] = None,
    emit: Annotated[
        Path | None,
        typer.Option(
            "--emit",
            metavar="OUT|-",
            parser=shared.destination("--emit"),
            help="Write the annotated C file that would be tuned, and stop.",
        ),
    ] = None,
    recipe: Annotated[
        bool,
        typer.Option(
            "--recipe",
            help="Print the recipe by statement number for GPUs, and stop; with `--emit` and `--target cuda` the file "
            "has that recipe.",
        ),
    ] = False,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="c|openmp|openmp-target|openacc|opencl|cuda|hip",
            help="One thread (default), several, or a device, by directives or kernels.",
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            "--device", metavar="emulated:GPU", help="A GPU that need not be there, as in `orio tune`."
        ),
    ] = None,
    accept_predicted: Annotated[bool, typer.Option("--accept-predicted", help="As in `orio tune`.")] = False,
    search: Annotated[
        str | None, typer.Option("--search", metavar="NAME[:opt=value,...]", help="As in `orio tune`.")
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            metavar="N",
            parser=shared.whole_number("--trials", least=1),
            help="At most N variants; without it and `--time` 100 in 30s, for processors.",
        ),
    ] = None,
    time_limit: Annotated[
        Seconds | None,
        typer.Option("--time", metavar="DURATION", parser=shared.parse_duration, help="As in `orio tune`."),
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
            help="As in `orio tune`.",
        ),
    ] = None,
    settings: shared.Settings = None,
    cc: Annotated[
        str | None,
        typer.Option("--cc", metavar="CMD", help="Compiler command (default: gcc -O3 -march=native)."),
    ] = None,
    db: shared.Database = None,
    no_db: Annotated[
        bool, typer.Option("--no-db", help="Remember nothing, and use nothing that is remembered.")
    ] = False,
    json: shared.JsonTarget = None,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Tune contractions in index notation, or show what they become."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    check_json_target(json)
    if no_db and db is not None:
        fail("ORIO-U017", "`--no-db` contradicts `--db`")
    chosen = orio_py.TuneOptions(
        target=target or "c",
        device=device,
        accept_predicted=accept_predicted,
        search=search,
        trials=trials,
        time=time_limit,
        seed=seed,
        jobs=jobs,
        pins=shared.parse_pins(settings or ()),
        cc=cc,
        db=None if no_db else db if db is not None else shared.default_database(),
        db_required=db is not None,
    )
    given = _source(source, sizes or ())
    only = recipe or emit is not None
    with (None if only else progress_for(out, time.monotonic)) or nullcontext() as listener:
        report = orio_py.tensor(
            given,
            sizes=_sizes(sizes or ()),
            layout=layout.value,
            type=kind.value,
            output=output,
            emit=emit,
            by_recipe=recipe,
            tuned=not only,
            options=chosen,
            listener=listener,
        )
    out.diagnostics(report.diagnostics, report.sources)
    if report.program is not None and out.is_verbose:
        out.message(report.program.settings)
    if report.derivation:
        out.message(report.derivation)
    if recipe and report.exit_code == 0:
        typer.echo(report.recipe, nl=False)
    elif only and report.exit_code == 0:
        if emit != STANDARD_OUTPUT:
            out.result(f"wrote {emit}")
    elif report.regions:
        (out.message if json == "-" else out.result)(tuning_results(report.regions))
    if json is not None and (report.regions or report.exit_code != 2):
        write_json(report.as_json(), json)
    return report.exit_code


def _source(source: str, sizes: Sequence[str]) -> Path | str:
    """A path, unless the word looks like an einsum string."""
    is_einsum = bool(sizes) or "->" in source or ("," in source and not Path(source).exists())
    return source if is_einsum else Path(source)


def _sizes(given: Sequence[str]) -> Mapping[str, int]:
    """Raises DiagnosticError: ORIO-U005."""
    sizes: dict[str, int] = {}
    for text in (part for option in given for part in option.split(",")):
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or len(name) != 1 or not name.isalpha() or not value.strip().isdecimal():
            message = f"`--size {text}`: it must read `--size i=N`, with a letter of the string"
            fail("ORIO-U005", message, help="for example `--size i=64,j=64,k=64`")
        if name in sizes:
            fail("ORIO-U005", f"`--size {text}`: the size of `{name}` is already {sizes[name]}")
        sizes[name] = int(value)
    return sizes
