"""Pictures of stored trials, as SVG, PNG, PDF or a page of HTML."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem, fail

PICTURES = (".svg", ".png", ".pdf", ".html")
"""Endings of files that pictures can be written to."""

_PAGE = (
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n</head>\n'
    "<body>\n{picture}</body>\n</html>\n"
)


def draw_picture(draw: Callable[[Any], None], size: tuple[float, float], title: str, path: Path) -> None:
    """Write what `draw` draws on a matplotlib figure of `size` inches; the same for the same content.

    Raises DiagnosticError ORIO-D016 for an ending that is no picture's, ORIO-U009 when the system refuses;
    EnvironmentProblem ORIO-D015 without matplotlib.
    """
    ending = path.suffix.lower()
    if ending not in PICTURES:
        fail("ORIO-D016", f"the ending of `{path}` tells no picture", help=f"one of {', '.join(PICTURES)}")
    matplotlib, figure_module = _matplotlib()
    with matplotlib.rc_context({"svg.hashsalt": "orio_py"}):
        figure = figure_module.Figure(figsize=size, layout="constrained")
        draw(figure)
        try:
            if ending == ".html":
                path.write_text(_page(figure, title), encoding="utf-8")
            else:
                figure.savefig(str(path), metadata={"Date": None} if ending == ".svg" else None)
        except OSError as error:
            fail("ORIO-U009", f"`{path}` cannot be written: {error.strerror or error}")


def _page(figure: Any, title: str) -> str:
    text = StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    picture = text.getvalue()
    return _PAGE.format(title=escape(title), picture=picture[picture.index("<svg") :])


def _matplotlib() -> tuple[Any, Any]:
    # An optional dependency that takes a second to load, needed for pictures only.
    try:
        return import_module("matplotlib"), import_module("matplotlib.figure")
    except ImportError as error:
        message = f"pictures need the Python package `matplotlib`, which cannot be loaded: {error}"
        help_text = (
            "`pip install 'orio-py[plot]'`, or leave `-o` away: a table, or `--json`, has the same numbers"
        )
        raise EnvironmentProblem(Diagnostic("ORIO-D015", message, help=help_text)) from error
