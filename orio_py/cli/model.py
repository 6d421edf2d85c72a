"""`orio model`: models that are trained from stored trials: train, show, apply, import."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import orio_py
from orio_py.cli import options as shared
from orio_py.cli.console import Color, Output, print_json
from orio_py.cli.results_options import File, Region, Task, database_place
from orio_py.cli.show import show_count
from orio_py.cli.tables import NOTHING, make_table
from orio_py.core.diagnostics import fail
from orio_py.core.registry import did_you_mean
from orio_py.record.trial import Trial

if TYPE_CHECKING:  # types only: numerical libraries take their time to load
    from rich.table import Table

    from orio_py.models import JudgedSeries

HELP = "Models of what kernels do, trained from stored trials: train, show, apply, import."
EPILOG = "Example: orio model train -o mm.npz --file mm.c"

Written = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        parser=shared.destination("--output"),
        help="The file to write (`.npz`).",
    ),
]
ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `orio model train` wrote.")]


def train(
    output: Written,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE]...", help="Trials in files, as `orio results import` reads them."),
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="Of counters: ensemble (of trees, the default), tree or regression; of speed, by static "
            "features: forest, neighbours or pairs.",
        ),
    ] = "ensemble",
    db: shared.Database = None,
    file: File = None,
    region: Region = None,
    task: Task = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Train a model of counters, or of speed, from the trials of files or of the results database."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    kinds = (*orio_py.models.KINDS, *orio_py.models.SPEED_KINDS)
    if kind not in kinds:
        message = f"`--kind {kind}`: one of {', '.join(kinds)} is needed"
        fail("ORIO-U004", message, help=did_you_mean(kind, kinds))
    if files:
        trials = orio_py.models.trials_of_files(files)
    else:
        trials = orio_py.models.stored_trials(
            database_place(db), orio_py.results.Selection(file, region, task)
        )
    if kind in orio_py.models.SPEED_KINDS:
        return _train_speed(trials, kind, output, out, as_json=json)
    found = orio_py.models.train(trials, kind)
    orio_py.models.save_model(found.model, output)
    if json:
        print_json(
            {"version": 1, "model": str(output), **orio_py.models.model_json(found.model, found.errors)}
        )
        return 0
    table = make_table(("counter", "left"), ("median error", "right"))
    for name in found.model.domain.counters:
        table.add_row(name, f"{100 * found.errors[name]:.1f} %" if found.errors else NOTHING)
    out.result(table)
    out.result(f"wrote {output}, trained on {show_count(found.model.domain.trained_on.rows)} trials")
    return 0


def _train_speed(trials: list[Trial], kind: str, output: Path, out: Output, *, as_json: bool) -> int:
    found = orio_py.models.train_speed(trials, kind)
    orio_py.models.save_speed_model(found.model, output)
    if as_json:
        held_out = [orio_py.models.judged_json(one) for one in found.judged]
        content = orio_py.models.speed_model_json(found.model)
        print_json({"version": 1, "model": str(output), **content, "held_out": held_out})
        return 0
    if found.judged:
        out.result(_judged_table(found.judged))
        out.result("each program ranked by a model of the others")
    out.result(f"wrote {output}, trained on {show_count(len(found.model.trained_on))} series")
    return 0


def _judged_table(judged: Sequence[JudgedSeries]) -> Table:
    table = make_table(
        ("kernel", "left"),
        ("variants", "right"),
        ("runs to 90 %", "right"),
        ("at random", "right"),
        ("correlation", "right"),
        ("of ranks", "right"),
    )
    for one in judged:
        sizes = "".join(f" {name}={value}" for name, value in one.inputs.items())
        found = one.judgement
        correlations = (f"{found.correlation:.2f}", f"{found.rank_correlation:.2f}")
        runs = (str(found.runs), f"{found.random_runs:.1f}")
        table.add_row(f"{one.name}{sizes}", show_count(one.variants), *runs, *correlations)
    return table


def show(
    path: ModelPath,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Show what a model predicts, by what, and what it was trained on."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    model = orio_py.models.load_any_model(path)
    is_speed = isinstance(model, orio_py.models.SpeedModel)
    content = orio_py.models.speed_model_json(model) if is_speed else orio_py.models.model_json(model)
    if json:
        print_json({"version": 1, "model": str(path), **content})
        return 0
    if is_speed:
        out.result(f"speed, by {content['kind']}")
        out.result("trained on " + "; ".join(model.trained_on))
        out.result(f"features: {', '.join(model.features)}")
        return 0
    origin = model.domain.trained_on
    sizes = "".join(f" {name}={value}" for name, value in origin.inputs.items())
    out.result(f"counters of {origin.name or 'a kernel'}{sizes}, by {content['kind']}")
    of = f" on {origin.device}" if origin.device else ""
    out.result(f"trained on {show_count(origin.rows) if origin.rows else NOTHING} trials{of}")
    out.result(f"parameters: {', '.join(parameter.name for parameter in model.domain.parameters)}")
    out.result(f"counters: {', '.join(model.domain.counters)}")
    return 0


def apply(
    path: ModelPath,
    db: shared.Database = None,
    file: File = None,
    region: Region = None,
    task: Task = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Rank stored trials by a model of speed, and compare with what was measured."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    model = orio_py.models.load_speed_model(path)
    selection = orio_py.results.Selection(file, region, task)
    trials = orio_py.models.stored_trials(database_place(db), selection)
    judged = orio_py.models.apply_speed(model, trials)
    if json:
        series = [orio_py.models.judged_json(one) for one in judged]
        print_json({"version": 1, "model": str(path), "series": series})
    else:
        out.result(_judged_table(judged))
    return 0


def import_(
    pickled: Annotated[Path, typer.Argument(metavar="SAV", help="Trees of scikit-learn that were pickled.")],
    output: Written,
    parameters: Annotated[
        str, typer.Option("--parameters", metavar="A,B", help="The parameters, in the file's order.")
    ],
    counters: Annotated[
        str, typer.Option("--counters", metavar="X,Y", help="The counters, in the file's order.")
    ],
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Convert a model that another program pickled; nothing in the file is executed."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    model = orio_py.models.convert(pickled, _words(parameters), _words(counters))
    orio_py.models.save_model(model, output)
    out.result(f"wrote {output}")
    return 0


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


COMMANDS: tuple[tuple[str, Callable[..., int], str], ...] = (
    ("train", train, "Example: orio model train -o convolution.npz convolution_ktt.json.gz"),
    ("show", show, "Example: orio model show mm.npz"),
    ("apply", apply, "Example: orio model apply speed.npz --file mm.c"),
    (
        "import",
        import_,
        "Example: orio model import m.sav -o m.npz --parameters X,Y --counters INST_EXE,L2_RT",
    ),
)


def group() -> typer.Typer:
    """The sub-commands as typer sees them."""
    app = typer.Typer(
        help=HELP, epilog=EPILOG, no_args_is_help=False, add_completion=False, rich_markup_mode=None
    )
    for name, function, epilog in COMMANDS:
        app.command(name=name, epilog=epilog)(function)
    return app
