"""The Jinja2 environment: layout only, undefined names are errors."""

from __future__ import annotations

from functools import cache

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket

from orio_py.core.digest import digest
from orio_py.core.resources import directory, keep, kept


class _Compiled(BytecodeCache):
    """Compiled templates, kept between processes; jinja2 sees for itself whether they are of its version."""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket with what is kept."""
        if (content := kept(_file(bucket))) is not None:
            bucket.bytecode_from_string(content)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the bucket."""
        keep(_file(bucket), bucket.bytecode_to_string())


def _file(bucket: Bucket) -> str:
    return f"template-{digest([bucket.key, bucket.checksum])[:32]}.bin"


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(directory("templates"), encoding="latin-1"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        bytecode_cache=_Compiled(),
        autoescape=False,  # noqa: S701 - the output is C, not HTML
    )


def render(template: str, **values: object) -> str:
    """The text of a template.  Raises jinja2.UndefinedError when a value is missing."""
    return _environment().get_template(template).render(**values)


def read(name: str) -> str:
    """The text of a file in `templates/` that is not a template."""
    return (directory("templates") / name).read_text(encoding="latin-1")
