"""From the text of a specification to its data: sections, imports, names and values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Note, Severity, has_errors
from orio_py.core.expr import Value, evaluate
from orio_py.core.registry import did_you_mean, nearest
from orio_py.core.source import Position, SourceFile, Span
from orio_py.frontend.tuning.collect import Collected, Setting
from orio_py.frontend.tuning.files import Files
from orio_py.frontend.tuning.sections import ALGORITHMS, ANYTHING, SECTIONS, Section, SectionArgument
from orio_py.frontend.tuning.split import SectionBlock, SectionStatement, Splitter
from orio_py.frontend.tuning.statements import Decl, Definition, Import, parse_statement

_MOST_IMPORTS = 16
_MOST_PROBLEMS = 100


@dataclass(slots=True)
class Interpreter:
    """Reads one specification with what it imports; problems are collected, never raised."""

    files: Files
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])
    collected: Collected = field(default_factory=Collected)
    lets: dict[str, Value] = field(default_factory=dict[str, Value])
    sections: dict[str, Position] = field(default_factory=dict[str, Position])

    def read(self, source: SourceFile, span: Span, importing: tuple[str, ...] = ()) -> None:
        """Take in the definitions of a text, which may be bare or inside `spec NAME { … }`."""
        if (zero := source.data.find(b"\0", span.start, span.end)) >= 0:
            self.report("ORIO-S018", "this is not a text file: it contains a NUL byte", source.position(zero))
            return
        splitter = Splitter(source, span)
        root = splitter.split()
        self.problems.extend(splitter.problems[:_MOST_PROBLEMS])
        self._bodies(root, source, importing)

    def report(self, code: str, message: str, position: Position | None, *, help: str | None = None) -> None:
        """Add an error."""
        self.problems.append(Diagnostic(code, message, position, help=help))

    def warn(self, code: str, message: str, position: Position | None) -> None:
        """Add a warning."""
        self.problems.append(Diagnostic(code, message, position, severity=Severity.WARNING))

    def _try(self, action: Callable[[], None]) -> None:
        if len(self.problems) > _MOST_PROBLEMS:
            return
        try:
            action()
        except DiagnosticError as error:
            self.problems.extend(error.diagnostics)

    def _bodies(self, block: SectionBlock, source: SourceFile, importing: tuple[str, ...]) -> None:
        for statement in block.statements:
            self._try(lambda s=statement: self._top_statement(s, source, importing))
        for child in block.blocks:
            if child.keyword == "spec":
                self._bodies(child, source, importing)
            elif child.name:
                self._try(lambda c=child: self._section(c, source))

    def _top_statement(
        self, statement: SectionStatement, source: SourceFile, importing: tuple[str, ...]
    ) -> None:
        position = source.position(statement.start)
        if statement.keyword not in ("let", "import"):
            self.report(
                "ORIO-S005",
                f"`{statement.keyword}` must stand inside a section",
                position,
                help=f"sections are written `def NAME {{ … }}`; NAME is one of {', '.join(SECTIONS)}",
            )
            return
        parsed = parse_statement(statement, source)
        if isinstance(parsed, Import):
            self._import(parsed, importing)
        elif isinstance(parsed, Definition):
            self.lets[parsed.name] = evaluate(parsed.expression, self.lets)

    def _import(self, statement: Import, importing: tuple[str, ...]) -> None:
        name = statement.name
        if name in importing:
            chain = " imports ".join((*importing[importing.index(name) :], name))
            self.report("ORIO-S012", f"specifications import each other: {chain}", statement.position)
            return
        if len(importing) >= _MOST_IMPORTS:
            message = f"imports are nested more than {_MOST_IMPORTS} deep"
            self.report("ORIO-S012", message, statement.position)
            return
        source = self.files.read(f"{name}.spec", statement.position, f"`import spec {name}`")
        self.read(source, Span(0, len(source.data)), (*importing, name))

    def _section(self, block: SectionBlock, source: SourceFile) -> None:
        position = source.position(block.start)
        section = SECTIONS.get(block.name)
        if section is None:
            near = did_you_mean(block.name, SECTIONS)
            self.report("ORIO-S004", f"unknown section `def {block.name}`", position, help=near)
            return
        if (earlier := self.sections.get(block.name)) is not None:
            self.problems.append(
                Diagnostic(
                    "ORIO-S008",
                    f"section `def {block.name}` is written twice",
                    position,
                    notes=(Note("the first one is here", earlier),),
                )
            )
            return
        self.sections[block.name] = position
        self.collected.places[block.name] = position
        scope = dict(self.lets)
        for statement in block.statements:
            self._try(lambda s=statement: self._statement(s, source, block.name, section, scope))
        for child in block.blocks:
            self.report(
                "ORIO-S018", f"`{child.keyword}` cannot stand inside a section", source.position(child.start)
            )

    def _statement(
        self,
        statement: SectionStatement,
        source: SourceFile,
        name: str,
        section: Section,
        scope: dict[str, Value],
    ) -> None:
        allowed = {"let", *section.keywords}
        if statement.keyword not in allowed:
            self.report(
                "ORIO-S005",
                f"`{statement.keyword}` cannot stand in section `{name}`",
                source.position(statement.start),
                help=f"allowed here: {', '.join(sorted(allowed))}",
            )
            return
        parsed = parse_statement(statement, source)
        match parsed:
            case Decl():
                self.collected.declare(parsed)
            case Import():
                self.report("ORIO-S005", "`import` must stand outside the sections", parsed.position)
            case Definition(keyword="let"):
                scope[parsed.name] = evaluate(parsed.expression, scope)
            case Definition(keyword="arg"):
                self._argument(parsed, name, section, scope)
            case Definition(keyword="constraint"):
                self.collected.constrain(name, parsed, scope)
            case Definition():
                value = evaluate(parsed.expression, scope)
                self.collected.parameter(name, parsed, value, self.problems)

    def _argument(
        self, parsed: Definition, section_name: str, section: Section, scope: dict[str, Value]
    ) -> None:
        name = parsed.name
        argument = section.arguments.get(name)
        if argument is None and section.open_arguments and _is_search_option(name):
            argument = ANYTHING
        if argument is None:
            self._unknown_argument(parsed, section_name, section)
            return
        value = evaluate(parsed.expression, scope)
        self._accept(parsed, argument, value)
        if not argument.effect:
            self.warn("ORIO-S007", f"`arg {name}` has no effect here", parsed.position)
        self.collected.set(section_name, name, Setting(value, parsed.position))

    def _unknown_argument(self, parsed: Definition, section_name: str, section: Section) -> None:
        near = did_you_mean(parsed.name, section.arguments)
        elsewhere = [other for other, rules in SECTIONS.items() if parsed.name in rules.arguments]
        if elsewhere:
            near = f"`arg {parsed.name}` belongs to `def {elsewhere[0]}`"
        if not section.arguments:
            near = near or f"section `{section_name}` has no arguments"
        message = f"unknown argument `{parsed.name}` in section `{section_name}`"
        self.report("ORIO-S004", message, parsed.position, help=near)

    def _accept(self, parsed: Definition, argument: SectionArgument, value: Value) -> None:
        if not argument.accepts(value):
            message = f"`arg {parsed.name}` needs {argument.needs}, not {_brief(value)}"
            raise DiagnosticError(
                Diagnostic("ORIO-S006", message, parsed.position, help=_nearest(argument, value))
            )

    @property
    def has_errors(self) -> bool:
        """Whether any problem is an error."""
        return has_errors(self.problems)


def _nearest(argument: SectionArgument, value: Value) -> str | None:
    """The known word like the first unknown one, where the argument has a list of them."""
    items = value if isinstance(value, (list, tuple)) else (value,)
    unknown = next((item for item in items if isinstance(item, str) and item not in argument.known), None)
    found = nearest(unknown, argument.known) if unknown is not None else None
    return f"did you mean `{found}`?" if found is not None else None


def _brief(value: Value) -> str:
    if isinstance(value, (list, tuple)):
        return "a list" if isinstance(value, list) else "a tuple"
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _is_search_option(name: str) -> bool:
    prefix, underscore, option = name.partition("_")
    return bool(underscore and option) and prefix.lower() in ALGORITHMS
