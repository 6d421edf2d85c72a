"""Cuts the text of a specification into blocks and statements, past any mistakes in them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from orio_py.core.diagnostics import Diagnostic
from orio_py.core.registry import did_you_mean
from orio_py.core.source import SourceFile, Span
from orio_py.frontend.messages import found

STATEMENTS = ("let", "arg", "param", "constraint", "option", "decl", "import")
BLOCKS = ("def", "spec")
_BLANK = re.compile(r"[\s;]*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_NAME = re.compile(r"\s*([A-Za-z_]\w*)")
_NEXT = re.compile(r"(?:let|arg|param|constraint|option|decl|import|def|spec)[ \t]+[\w\"'-]")
_VALUE = re.compile(r"\s*=\s*(\w*)")
_TOKEN = re.compile(r"'(?:[^'\\\n]|\\[\s\S])*'?|\"(?:[^\"\\\n]|\\[\s\S])*\"?|[;{}]|\n[ \t\r\n]*")
_COMMENT = re.compile(
    r"'(?:[^'\\\n]|\\[\s\S])*'?|\"(?:[^\"\\\n]|\\[\s\S])*\"?|(?P<comment>#[^\n]*|\\(?=\r?\n))"
)


@dataclass(frozen=True, slots=True)
class SectionStatement:
    """One statement: its keyword, and where its text stands in the specification's source."""

    keyword: str
    text: str
    start: int


@dataclass(slots=True)
class SectionBlock:
    """`def NAME { … }` or `spec NAME { … }`, or the whole text (keyword ``)."""

    keyword: str
    name: str
    start: int
    statements: list[SectionStatement] = field(default_factory=list[SectionStatement])
    blocks: list[SectionBlock] = field(default_factory=list["SectionBlock"])


class Splitter:
    """Splits one specification text; `problems` collects ORIO-S001, S002, S018."""

    def __init__(self, source: SourceFile, span: Span) -> None:
        self.source = source
        self.base = span.start
        raw = source.text[span.start : span.end]
        self.text = _COMMENT.sub(_blank_comment, raw)
        self.at: int = 0
        self.problems: list[Diagnostic] = []

    def report(self, code: str, message: str, at: int, *, help: str | None = None) -> None:
        """Add an error at an offset of the text."""
        self.problems.append(Diagnostic(code, message, self.source.position(self.base + at), help=help))

    def split(self) -> SectionBlock:
        """The whole text as one block."""
        root = SectionBlock("", "", self.base)
        stack = [root]
        while (self._skip_blanks()) < len(self.text):
            if self.text[self.at] == "}":
                self._close(stack)
                continue
            match = _WORD.match(self.text, self.at)
            word = match.group() if match else ""
            if word in BLOCKS and _VALUE.match(self.text, self.at + len(word)) is None:
                self._open(stack, word)
            elif word in STATEMENTS:
                stack[-1].statements.append(self._statement(word))
            else:
                self._unknown(word)
        for block in stack[:0:-1]:
            end = len(self.text.rstrip())
            self.report("ORIO-S018", f"`{block.keyword} {block.name}` is never closed; expected `}}`", end)
        return root

    def _skip_blanks(self) -> int:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def _close(self, stack: list[SectionBlock]) -> None:
        if len(stack) > 1:
            stack.pop()
        else:
            self.report("ORIO-S018", "unexpected `}`: no `def` is open here", self.at)
        self.at += 1

    def _open(self, stack: list[SectionBlock], word: str) -> None:
        start = self.at
        name = _NAME.match(self.text, start + len(word))
        self.at = name.end() if name else start + len(word)
        title = name.group(1) if name else ""
        if not title:
            self.report("ORIO-S018", f"expected a name after `{word}`", self.at)
        after = re.compile(r"\s*").match(self.text, self.at)
        brace = after.end() if after else self.at
        if self.text[brace : brace + 1] == "{":
            self.at = brace + 1
        else:
            here = found(self.text, brace)
            self.report("ORIO-S018", f"expected `{{` after `{word} {title}`, found {here}", brace)
        if word == "def" and stack[-1].keyword == "def":
            outer = stack.pop()
            self.report(
                "ORIO-S018",
                f"expected `}}` before `def {title}`: `def {outer.name}` is still open",
                start,
            )
        block = SectionBlock(word, title, self.base + start)
        stack[-1].blocks.append(block)
        if len(stack) < 10:
            stack.append(block)

    def _statement(self, word: str) -> SectionStatement:
        start = self.at
        end = self._end_of_statement(start + len(word))
        if self.text[end : end + 1] == ";":
            self.at = end + 1
        else:
            self.at = end
            stripped = start + len(self.text[start:end].rstrip())
            self.report("ORIO-S001", f"expected `;` after {self._title(start, word)}", stripped)
        return SectionStatement(word, self.text[start:end].rstrip(), self.base + start)

    def _title(self, start: int, word: str) -> str:
        match = re.compile(r"\w+\s+([\w\"'-]+)[^=;]*(=?)").match(self.text, start)
        if match is None:
            return f"`{word}`"
        value = "the value of " if match.group(2) else ""
        return f"{value}`{word} {match.group(1)}`"

    def _end_of_statement(self, at: int) -> int:
        level = 0
        for match in _TOKEN.finditer(self.text, at):
            first = match.group()[0]
            if first == ";" and level == 0:
                return match.start()
            if first == "{":
                level += 1
            elif first == "}":
                if level == 0:
                    return match.start()
                level -= 1
            elif first == "\n" and _NEXT.match(self.text, match.end()):
                return match.end()
        return len(self.text)

    def _unknown(self, word: str) -> None:
        start = self.at
        known = (*STATEMENTS, *BLOCKS)
        here = found(self.text, start)
        value = _VALUE.match(self.text, start + len(word)) if word == "spec" else None
        advice = did_you_mean(word, known) if word else None
        if value is not None:
            name = value[1] or "NAME"
            advice = f"`import spec {name};` reads {name}.spec beside this file"
        self.report(
            "ORIO-S002", f"unexpected {here}; expected a statement ({', '.join(known)})", start, help=advice
        )
        self.at = max(self._end_of_statement(start + max(1, len(word))), start + 1)
        brace = self.text.find("{", start, self.at)
        if brace >= 0 and word and re.fullmatch(r"\w+\s+\w+\s*", self.text[start:brace]):
            self.at = self._matching_brace(brace)

    def _matching_brace(self, brace: int) -> int:
        level = 0
        for match in _TOKEN.finditer(self.text, brace):
            first = match.group()[0]
            level += 1 if first == "{" else -1 if first == "}" else 0
            if level == 0 and first == "}":
                return match.end()
        return len(self.text)


def _blank_comment(match: re.Match[str]) -> str:
    return " " * len(match.group()) if match.group("comment") else match.group()
