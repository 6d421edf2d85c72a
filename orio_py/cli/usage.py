"""Mistakes on the command line, as diagnostics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import typer

from orio_py.core.diagnostics import Diagnostic, fail
from orio_py.core.registry import did_you_mean, nearest


def check_command(arguments: Sequence[str], commands: Sequence[str], where: str = "orio") -> None:
    """See that the first word is a command of `where`.  Raises DiagnosticError: ORIO-U002."""
    word = next((argument for argument in arguments if not argument.startswith("-")), None)
    if word is not None and word not in commands:
        of = "" if where == "orio" else f" of `{where}`"
        fail("ORIO-U002", f"there is no command `{word}`{of}", help=did_you_mean(word, commands))


def usage_problem(error: typer.TyperException) -> Diagnostic:
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
