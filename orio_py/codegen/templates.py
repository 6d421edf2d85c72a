"""The Jinja2 environment: layout only, undefined names are errors."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from orio_py.core.resources import directory


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(directory("templates"), encoding="latin-1"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - the output is C, not HTML
    )


def render(template: str, **values: object) -> str:
    """The text of a template.  Raises jinja2.UndefinedError when a value is missing."""
    return _environment().get_template(template).render(**values)


def read(name: str) -> str:
    """The text of a file in `templates/` that is not a template."""
    return (directory("templates") / name).read_text(encoding="latin-1")
