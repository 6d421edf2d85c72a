"""The command `orio`: the table of commands, exit codes, and the boundary where bugs are caught."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from types import FrameType
from typing import Annotated, TextIO, cast

import typer
import typer.main

from orio_py import __version__
from orio_py.cli import (
    cc,
    check,
    devices,
    emulate,
    explain,
    model,
    predict,
    results,
    space,
    tensor,
    transform,
    tune,
    verify,
)
from orio_py.cli.console import Color, Output
from orio_py.cli.options import cache_folder
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, EnvironmentProblem, fail
from orio_py.core.registry import did_you_mean, nearest
from orio_py.core.resources import CACHE_FOLDER

EXIT_BAD_INPUT = 2
EXIT_ENVIRONMENT = 3
EXIT_BUG = 70  # EX_SOFTWARE of sysexits.h
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141  # 128 + SIGPIPE, as the shell reports programs that do not catch it

COMMANDS: tuple[tuple[Callable[..., int], str], ...] = (
    (tune.tune, tune.EPILOG),
    (tensor.tensor, tensor.EPILOG),
    (transform.transform, transform.EPILOG),
    (check.check, check.EPILOG),
    (space.space, space.EPILOG),
    (predict.predict, predict.EPILOG),
    (devices.devices, devices.EPILOG),
    (emulate.emulate, emulate.EPILOG),
    (explain.explain, explain.EPILOG),
    (cc.cc, cc.EPILOG),
    (verify.verify, verify.EPILOG),
)

GROUPS: Mapping[str, tuple[Callable[[], typer.Typer], tuple[str, ...]]] = {
    "results": (results.group, tuple(name for name, _, _ in results.COMMANDS)),
    "model": (model.group, tuple(name for name, _, _ in model.COMMANDS)),
}
"""Commands with commands of their own: how to make the group, and the names in it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `orio` with the given arguments (default: the process's) and return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        _never_fail_to_encode(stream)
    with suppress(RuntimeError):
        CACHE_FOLDER.set(cache_folder() / "parsers")
    try:
        with _interrupted_when_terminated():
            status = _run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        _silence_stdout()
        return EXIT_BROKEN_PIPE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)  # noqa: T201 - the one package that prints
        return EXIT_INTERRUPTED
    except EnvironmentProblem as error:
        return _explain(error, given, EXIT_ENVIRONMENT)
    except DiagnosticError as error:
        return _explain(error, given, EXIT_BAD_INPUT)
    except (
        Exception
    ) as error:  # process boundary: whatever arrives here is a bug of ours, told without a traceback
        return _report_bug(error)
    return status


@contextmanager
def _interrupted_when_terminated() -> Generator[None]:
    """A SIGTERM, as of `kill` and of batch systems, is an interrupt: compilers and test programs are ended, results kept."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(signum: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def application() -> typer.Typer:
    """The table of commands as typer sees it."""
    app = typer.Typer(
        name="orio",
        help="Automatic performance tuning of annotated C kernels.",
        epilog="Example: orio tune mm.c --search random --trials 100",
        no_args_is_help=False,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_options)
    for function, epilog in COMMANDS:
        app.command(epilog=epilog)(function)
    for name, (group, _) in GROUPS.items():
        app.add_typer(group(), name=name)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"orio_py {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_show_version),
    ] = False,
) -> None:
    """Exists so that `orio` itself has options; `--version` acts before this is called."""


def _run(arguments: Sequence[str]) -> int:
    command = typer.main.get_command(application())
    if not arguments:
        _run(["--help"])
        return EXIT_BAD_INPUT
    _check_command(arguments, [*(function.__name__ for function, _ in COMMANDS), *GROUPS])
    if arguments[0] in GROUPS:
        _check_command(arguments[1:], GROUPS[arguments[0]][1], f"orio {arguments[0]}")
    try:
        # Not `command.main`: that one prints problems and ends the process in its own way.
        with command.make_context("orio", list(arguments)) as context:
            return command.invoke(context) or 0
    except typer.Exit as leave:
        return leave.exit_code
    except typer.Abort:
        return EXIT_INTERRUPTED
    except typer.TyperException as error:
        raise DiagnosticError(_usage_problem(error)) from error


def _check_command(arguments: Sequence[str], commands: Sequence[str], where: str = "orio") -> None:
    """See that the first word is a command of `where`.  Raises DiagnosticError: ORIO-U002."""
    word = next((argument for argument in arguments if not argument.startswith("-")), None)
    if word is not None and word not in commands:
        of = "" if where == "orio" else f" of `{where}`"
        fail("ORIO-U002", f"there is no command `{word}`{of}", help=did_you_mean(word, commands))


def _usage_problem(error: typer.TyperException) -> Diagnostic:
    """What the argument parser found, as a diagnostic: ORIO-U001 or ORIO-U003."""
    # The parser's exception classes are private to typer; what tells an unknown option is its attribute.
    context = cast("typer.Context | None", getattr(error, "ctx", None))
    where = context.command_path if context is not None else "orio"
    if context is not None and hasattr(error, "possibilities"):
        known = [name for parameter in context.command.params for name in parameter.opts]
        return _unknown_option(str(getattr(error, "option_name", "")), where, known)
    return Diagnostic(
        "ORIO-U003", f"{where}: {_sentence(error)}", help=f"`{where} --help` shows what is expected"
    )


def _unknown_option(option: str, where: str, known: Sequence[str]) -> Diagnostic:
    match = nearest(option, known)
    advice = f"did you mean `{match}`?" if match else f"`{where} --help` lists the options"
    return Diagnostic("ORIO-U001", f"`{where}` has no option `{option}`", help=advice)


def _sentence(error: typer.TyperException) -> str:
    text = " ".join(error.format_message().split()).rstrip(".").replace("'", "`")
    return text[:1].lower() + text[1:]


def _explain(error: DiagnosticError, arguments: Sequence[str], status: int) -> int:
    # The options may be what is wrong, so these two are looked for by hand.
    never = "--color=never" in arguments or ("--color", "never") in pairwise(arguments)
    verbose = not {"-v", "--verbose"}.isdisjoint(arguments)
    out = Output.create(color=Color.NEVER if never else Color.AUTO, verbose=verbose)
    out.diagnostics(error.diagnostics, {})
    return status


def _report_bug(error: Exception) -> int:
    if os.environ.get("ORIO_DEBUG"):
        traceback.print_exception(error)
    lines = (
        f"orio: internal error: {type(error).__name__}: {str(error)[:500]}",
        "This is a bug in orio_py, not in your input.  ORIO_DEBUG=1 in the environment shows the traceback;",
        "please report it together with the command and, if you can, the input file.",
    )
    print("\n".join(lines), file=sys.stderr)  # noqa: T201 - rich itself may be what failed
    return EXIT_BUG


def _never_fail_to_encode(stream: TextIO) -> None:
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def _silence_stdout() -> None:
    # The interpreter flushes stdout once more when it ends, which would complain about the closed pipe.
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
