"""What transformations make of small pieces of code, or why they refuse them, as `tests/golden_small` says.

A file there holds cases of three lines: `>` the transformation, `<` the code, `=` the result in one line, or
the code and the column of the refusal and its message.  Lines before them set what is around the code for all
cases that follow: `declare`, `live`, `macros` (all of them as `NAME text; …`), `pragma` and `allow` (promises
of the specification).  Lines with `#` are comments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from c_trees import context, parse, statement

from orio_py.core.diagnostics import Diagnostic
from orio_py.ctree.emit import emit
from orio_py.ctree.equal import structure_digest
from orio_py.spec.assumptions import Assumptions
from orio_py.transform.base import Context, Refusal
from orio_py.transform.catalog import TRANSFORMATIONS
from orio_py.transform.entry import Entry

FOLDER = Path(__file__).resolve().parents[2] / "golden_small"
FILES = sorted(FOLDER.glob("*.txt"))
WORDS = frozenset({"declare", "live", "macros", "pragma", "allow"})
BREAK = "\\n"
"""How a line break of the code is written."""


@dataclass
class Settings:
    """What is around the code of a case."""

    declare: str = ""
    live: str = ""
    macros: str = ""
    pragma: str = ""
    allow: str = ""

    def context(self) -> Context:
        """The context that the settings describe; names in `macros` with `()` are those of functions."""
        pairs = [pair.strip().partition(" ") for pair in self.macros.split(";") if pair.strip()]
        plain = {name: text for name, _, text in pairs if not name.endswith("()")}
        functions = frozenset(name[:-2] for name, _, _ in pairs if name.endswith("()"))
        return context(
            self.declare,
            live=self.live,
            macros=plain,
            function_macros=functions,
            reserved=functions | plain.keys(),
            pragmas=tuple(text.strip() for text in self.pragma.split(";") if text.strip()),
            assumptions=Assumptions(**dict.fromkeys(self.allow.split(), True)),
            exposed=frozenset(name for name in self.live.split() if name.startswith("g_")),
        )


def made(text: str) -> tuple[Entry, dict[str, Any]]:
    """The transformation that a line with `>` names, and its arguments."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Name)
    return TRANSFORMATIONS[call.func.id], {k.arg or "": ast.literal_eval(k.value) for k in call.keywords}


def shown(problem: Diagnostic) -> str:
    """A diagnostic in one line, with its notes and its help."""
    where = f" at {problem.position.line}:{problem.position.column}" if problem.position else ""
    notes = "".join(
        f" + {note.message}" + (f" at {note.position.line}:{note.position.column}" if note.position else "")
        for note in problem.notes
    )
    return f"{problem.code}{where} {problem.message}{notes}" + (f" -> {problem.help}" if problem.help else "")


def outcome(transformation: str, code: str, settings: Settings) -> str:
    """The code after the transformation, or why it is refused."""
    entry, values = made(transformation)
    tree = parse(code) if entry.takes_blocks and code.startswith("{") else statement(code)
    before = structure_digest(tree)
    around = settings.context()
    try:
        result = entry.make(values).apply(tree, around)
    except Refusal as refusal:
        blamed = f" [{refusal.argument}]" if refusal.argument else ""
        return "; ".join(f"{shown(problem)}{blamed}" for problem in refusal.diagnostics)
    assert structure_digest(tree) == before
    if result is tree:
        return "unchanged"
    told = "".join(f" [{text}]" for text in around.overruled.texts)
    return " ".join(emit(result).split()) + told


def filled(path: Path) -> Iterator[tuple[str, str]]:
    """The lines of a file, each with what it has to be: the result behind each case."""
    settings, transformation, result = Settings(), "", ""
    for line in path.read_text().splitlines():
        word, _, rest = line.partition(" ")
        if result:
            yield (line if word == "=" else ""), result
            result = ""
        if word == "=":
            continue
        yield line, line
        if word == ">":
            transformation = rest
        elif word == "<":
            result = f"= {outcome(transformation, rest.replace(BREAK, chr(10)), settings)}"
        elif word != "#":
            assert word in WORDS, line
            setattr(settings, word, rest)
    if result:
        yield "", result


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_small_cases(path: Path, update_golden: bool) -> None:
    if update_golden:
        text = "".join(f"{line}\n" for _, line in filled(path))
        path.write_text(text)
    case = ""
    for line, expected in filled(path):
        case = line if line.startswith("<") else case
        assert line == expected, case


def test_there_are_cases() -> None:
    assert len(FILES) > 3
