"""Preprocessing without a compiler: conditions, the file's own macros, and headers in folders that are named."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import IO, Any, NoReturn

from pcpp import Action, OutputDirective, Preprocessor


def preprocess(text: str, folders: Sequence[str] = (), definitions: Sequence[tuple[str, str]] = ()) -> str:
    """The text with its conditions decided, line markers and definitions included.

    Headers that are not in one of the folders are left out, and what they define is not defined.
    `definitions` are macros, each with what stands for it.
    """
    preprocessor = _Preprocessor(folders)
    preprocessor.parse("".join(f"#define {name} {body}\n" for name, body in definitions) + text)
    written = io.StringIO()
    preprocessor.write(written)
    return written.getvalue()


class _Preprocessor(Preprocessor):
    """Passes line markers and definitions on, and says nothing of what it does not understand."""

    def __init__(self, folders: Sequence[str]) -> None:
        super().__init__()
        self.folders = folders
        for folder in folders:
            self.add_path(folder)

    def on_file_open(self, is_system_include: bool, includepath: str) -> IO[str]:
        if not any(includepath.startswith(folder) for folder in self.folders):
            raise OSError(includepath)
        return open(includepath, encoding="latin-1")

    def on_include_not_found(
        self, is_malformed: bool, is_system_include: bool, curdir: str, includepath: str
    ) -> NoReturn:
        raise OutputDirective(Action.IgnoreAndRemove)

    def on_directive_handle(
        self, directive: Any, toks: Any, ifpassthru: bool, precedingtoks: Any
    ) -> bool | None:
        return None if directive.value in {"define", "undef"} else True

    def on_directive_unknown(
        self, directive: Any, toks: Any, ifpassthru: bool, precedingtoks: Any
    ) -> bool | None:
        return None

    def on_error(self, file: str, line: int, msg: str) -> None:
        self.return_code += 1
