"""`orio results`: what the results database holds, in and out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

import orio_py
from orio_py.cli import options as shared
from orio_py.cli.console import Color, Output, print_json
from orio_py.cli.defaults import chosen_output, configuration_for, with_defaults
from orio_py.cli.results_analysis import bottleneck, front, importance, plot
from orio_py.cli.results_options import File, Objectives, Region, Task, database_place
from orio_py.cli.results_tables import (
    best_table,
    feature_table,
    finals_table,
    series_table,
    trial_table,
)
from orio_py.core.diagnostics import fail
from orio_py.core.registry import did_you_mean

HELP = "The results database: list, show, best, front, plot, importance, bottleneck, apply, export, import, delete."
EPILOG = "Example: orio results best --file mm.c"

_TRIALS_SHOWN = 50
_FORMATS = "t4|csv|parquet|tau"

Point = Annotated[
    int | None,
    typer.Option(
        "--point",
        metavar="N",
        parser=shared.whole_number("--point", least=1),
        help="Write the N-th compromise that `orio results front` shows for these objectives.",
    ),
]
FormatName = Annotated[
    str | None,
    typer.Option("--format", metavar=_FORMATS, help="The format; default: what the file's ending says."),
]


def list_(
    db: shared.Database = None,
    file: File = None,
    region: Region = None,
    task: Task = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """List what is stored: tasks with their trials and best times."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    place = database_place(db)
    series = orio_py.results.list_series(
        place, orio_py.results.Selection(file, region, task), required=db is not None
    )
    if json:
        print_json(orio_py.results.document(place, series=[orio_py.results.series_json(s) for s in series]))
    else:
        out.result(series_table(series, place, verbose=verbose))
    return 0


def show(
    db: shared.Database = None,
    file: File = None,
    region: Region = None,
    task: Task = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            metavar="N",
            parser=shared.whole_number("--limit", least=1),
            help="At most N trials in the table (default: 50); JSON has all.",
        ),
    ] = None,
    features: Annotated[
        bool,
        typer.Option("--features", help="Show the static features of the code in place of the trials."),
    ] = False,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Show trials, the best first, with what failed and why, and what the finals measured."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    place = database_place(db)
    selection = orio_py.results.Selection(file, region, task)
    trials = orio_py.results.ranked_trials(place, selection)
    finals = orio_py.results.show_finals(place, selection)
    if json:
        shown = [orio_py.results.trial_json(trial) for trial in trials]
        held = [orio_py.results.finals_json(one) for one in finals]
        print_json(orio_py.results.document(place, trials=shown, finals=held))
    elif features:
        out.result(feature_table(trials))
    else:
        out.result(trial_table(trials[: limit or _TRIALS_SHOWN], len(trials), verbose=verbose))
        if finals:
            out.result(finals_table(finals, trials, verbose=verbose))
    return 0


def best(
    db: shared.Database = None,
    file: File = None,
    region: Region = None,
    task: Task = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Show the best configuration of each task."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    place = database_place(db)
    entries = orio_py.results.best_configurations(place, orio_py.results.Selection(file, region, task))
    if json:
        print_json(orio_py.results.document(place, series=[entry.as_json() for entry in entries]))
    else:
        out.result(best_table(entries))
    return 0


def export(
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            parser=shared.destination("--output"),
            help="The file (for tau: the folder); default: stdout.",
        ),
    ] = None,
    form: FormatName = None,
    db: shared.Database = None,
    file: File = None,
    region: Region = None,
    task: Task = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Write trials as T4 JSON, CSV, Parquet or TAU profiles."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    place = database_place(db)
    if json and output is None:
        fail("ORIO-U003", "orio results export: `--json` reports on a file; name it with `-o`")
    count, text = orio_py.results.export_trials(
        place, orio_py.results.Selection(file, region, task), _format(form), output
    )
    if text is not None:
        sys.stdout.write(text)
    elif json:
        print_json(orio_py.results.document(place, exported=count, output=str(output)))
    else:
        out.result(f"{count} trials written to {output}")
    return 0


def import_(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A file of trials: T4 JSON, a cache file of Kernel Tuner, CSV or Parquet; .gz as well.",
        ),
    ],
    form: FormatName = None,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="The kernel's name, if a file of another tool lacks it."),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option("--device", metavar="NAME", help="The device that it ran on, if the file lacks it."),
    ] = None,
    db: shared.Database = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Add the trials of a file; those already stored stay as they are."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    place = database_place(db)
    added, found = orio_py.results.import_trials(place, path, _format(form), name=name, device=device)
    if json:
        print_json(orio_py.results.document(place, imported=added, found=found))
    else:
        out.result(f"{added} of {found} trials are new and were added to {place}")
    return 0


def apply(
    paths: shared.Paths,
    output: shared.OutputPath = None,
    in_place: shared.InPlace = False,
    spec: shared.Spec = None,
    assume: shared.Assume = None,
    db: shared.Database = None,
    file: File = None,
    region: Region = None,
    task: Task = None,
    machine: Annotated[
        str | None,
        typer.Option(
            "--machine",
            metavar="DIGEST",
            help="Only trials of this machine (the beginning of `environment` in `results list --json`).",
        ),
    ] = None,
    objective: Objectives = None,
    point: Point = None,
    include: shared.Include = None,
    exclude: shared.Exclude = None,
    compile_commands: shared.CompileCommandsPath = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Write the best stored configurations into sources; nothing is built or measured."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    chosen = orio_py.TuneOptions(
        spec=spec,
        assume=tuple(assume or ()),
        include=tuple(include or ()),
        exclude=tuple(exclude or ()),
        compile_commands=compile_commands,
    )
    configured = configuration_for(paths)
    output, in_place = chosen_output(output, configured, in_place=in_place)
    report = orio_py.apply_results(
        paths,
        database_place(db),
        output=output,
        in_place=in_place,
        options=with_defaults(chosen, configured),
        stored=orio_py.results.Selection(file, region, task, environment=machine),
        choice=_choice(objective, point),
    )
    out.diagnostics(report.diagnostics, report.sources)
    if json:
        print_json(report.as_json())
    else:
        for path in report.outputs:
            out.result(f"wrote {path}")
    return report.exit_code


def delete(
    everything: Annotated[bool, typer.Option("--all", help="Delete all that is stored.")] = False,
    db: shared.Database = None,
    file: File = None,
    region: Region = None,
    task: Task = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Remove trials, and the results found with them, for good."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    place = database_place(db)
    count = orio_py.results.delete_trials(
        place, orio_py.results.Selection(file, region, task), everything=everything
    )
    if json:
        print_json(orio_py.results.document(place, deleted=count))
    else:
        out.result(f"{count} trials deleted from {place}")
    return 0


COMMANDS: tuple[tuple[str, Callable[..., int], str], ...] = (
    ("list", list_, "Example: orio results list --db team.db"),
    ("show", show, "Example: orio results show --file mm.c --limit 10"),
    ("best", best, "Example: orio results best --region mm --json"),
    ("front", front, "Example: orio results front --objective time --objective energy"),
    ("plot", plot, "Example: orio results plot --kind convergence -o convergence.svg"),
    ("importance", importance, "Example: orio results importance --file mm.c"),
    ("bottleneck", bottleneck, "Example: orio results bottleneck --file mm.c"),
    ("apply", apply, "Example: orio results apply src/ -o build/src"),
    ("export", export, "Example: orio results export --format csv -o trials.csv"),
    ("import", import_, "Example: orio results import trials.json"),
    ("delete", delete, "Example: orio results delete --file mm.c"),
)


def group() -> typer.Typer:
    """The sub-commands as typer sees them."""
    app = typer.Typer(
        help=HELP, epilog=EPILOG, no_args_is_help=False, add_completion=False, rich_markup_mode=None
    )
    for name, function, epilog in COMMANDS:
        app.command(name=name, epilog=epilog)(function)
    return app


def _choice(objectives: list[str] | None, point: int | None) -> orio_py.results.Choice | None:
    """What is to be written instead of the best by the objective that was searched with."""
    if not objectives and point is None:
        return None
    return orio_py.results.Choice(tuple(objectives or ()), point or 1)


def _format(name: str | None) -> orio_py.results.Format | None:
    if name is None:
        return None
    known = _FORMATS.split("|")
    if name not in known:
        message = f"`--format {name}`: one of {', '.join(known)} is needed"
        fail("ORIO-U004", message, help=did_you_mean(name, known))
    return orio_py.results.Format(name)
