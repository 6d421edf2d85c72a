"""Cross-checks of a task: names that do not fit together, and inputs that nobody determines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from orio_py.core.diagnostics import Diagnostic, Severity
from orio_py.core.expr import name_positions, names_in
from orio_py.core.names import C_TYPES
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Position
from orio_py.ctree.macros import mentioned_names
from orio_py.ctree.structures import Members, cannot_be_made, is_pointer
from orio_py.ctree.symbols import CDeclaration, Effects, effects
from orio_py.spec.inputs import Declaration, Storage
from orio_py.spec.members import holder_of, member_at, owner_of, path_of, structure_of, uses_of
from orio_py.spec.parameter import Constraint
from orio_py.spec.task import TuningTask
from orio_py.spec.temporaries import is_temporary, table_text

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_MEMBER = re.compile(r"(?:\.|->)\s*[A-Za-z_]\w*")
_PLACEHOLDER = re.compile(r"@([A-Za-z_]\w*)@|@(CFLAGS)\b")
_DEFINE_IT = (
    "define a structure, or a typedef of numbers, in the file itself or in a header that it includes by "
    '`#include "…"`: `struct point { double x, y; };`'
)
_NUMBERS_ALONE = (
    "structures whose members are numbers, arrays of numbers, pointers and such structures can be declared"
)
_C_WORDS = frozenset(
    ["sizeof", "int", "long", "char", "short", "float", "double", "unsigned", "signed", "size_t"]
)


def check(task: TuningTask) -> tuple[Diagnostic, ...]:
    """What is wrong between the parts of a task: ORIO-S014, S017 and S020 to S026.

    Transformations and their arguments are checked by `transformation.recipe`.
    """
    if not task.has_spec:
        return ()
    return tuple(_Checker(task).problems())


def used_beside_recipes(task: TuningTask) -> frozenset[str]:
    """The names that build commands and constraints use."""
    build = task.build
    commands = (build.command, build.libs, build.prebuild, build.postbuild, build.postrun)
    found = (m for command in commands if command for m in _PLACEHOLDER.finditer(command))
    used = {match.group(1) or match.group(2) for match in found}
    return frozenset(used.union(*(names_in(c.expression) for c in task.constraints)))


class _Checker:
    """One pass over one task."""

    def __init__(self, task: TuningTask) -> None:
        self.task = task
        self.parameters = {p.name for p in task.parameters}
        self.sizes = {p.name for p in task.inputs.parameters}
        self.declared = {d.name for d in task.inputs.all_declarations}
        self.macros = {
            match.group() for text in task.inputs.macros if (match := _IDENTIFIER.match(text.lstrip()))
        }
        near = task.surroundings
        own = near.function.parameters if near.function is not None else ()
        self.visible: dict[str, CDeclaration] = {d.name: d for d in (*near.globals, *own, *near.locals)}
        trees = [tree for region in task.regions for tree in (region.reference, region.tree)]
        self.effects: list[Effects] = [effects(tree) for tree in trees]
        self.uses = tuple(uses_of(task, trees))

    def problems(self) -> Iterator[Diagnostic]:
        """All problems, errors and warnings."""
        yield from self._types()
        yield from self._members()
        yield from self._constraints()
        yield from self._placeholders()
        yield from self._unused_parameters()
        yield from self._sizes()
        yield from self._extents()
        yield from self._undetermined()
        yield from self._unused_declarations()
        yield from self._assumed()

    def _types(self) -> Iterator[Diagnostic]:
        """Types of declarations that C does not know and the file does not explain."""
        known = {*C_TYPES, *self.task.types, *self.task.structures}
        for declaration in self.task.inputs.declarations:
            place, name = declaration.type_position, declaration.type
            if place is None:
                continue
            members = self.task.structures.get(name)
            if members is None:
                message = f"unknown type `{name}` in the declaration of `{declaration.name}`"
                yield Diagnostic("ORIO-S014", message, place, help=did_you_mean(name, known) or _DEFINE_IT)
            elif (problem := cannot_be_made(self.task.structures, name)) is not None:
                message = f"`{declaration.name}` cannot be filled, as `{name}` is not plain: {problem}"
                yield Diagnostic("ORIO-S014", message, place, help=_NUMBERS_ALONE)

    def _members(self) -> Iterator[Diagnostic]:
        """Declarations of members that the structures do not have, or have in another way."""
        for declaration in self.task.inputs.members:
            owner, _, name = declaration.name.rpartition(".")
            structure = structure_of(self.task, owner)
            if structure is None:
                message = f"`{owner}` is no structure that the file defines"
                yield Diagnostic("ORIO-S027", message, declaration.position)
                continue
            member = member_at(self.task, declaration.name)
            if member is None:
                known = [m.name for m in self.task.structures[structure]]
                message = f"`{structure}` has no member `{name}`"
                near = did_you_mean(name, known)
                yield Diagnostic("ORIO-S027", message, declaration.position, help=near)
            elif (problem := self._misfit(declaration, member)) is not None:
                yield Diagnostic("ORIO-S027", problem, declaration.position)
        yield from self._of_one_union()

    def _of_one_union(self) -> Iterator[Diagnostic]:
        """Declarations of several members of a union."""
        found: dict[tuple[str, int, Members], tuple[str, CDeclaration]] = {}
        for declaration in self.task.inputs.members:
            path = path_of(self.task, declaration.name)
            for place, member in enumerate(path):
                if not member.overlaid:
                    continue
                key = holder_of(self.task, declaration.name), place, path[:place]
                other, chosen = found.setdefault(key, (declaration.name, member))
                if chosen != member:
                    message = f"`{other}` and `{declaration.name}` are in members of one union"
                    help_text = "declare the member that the code uses; the other members share its memory"
                    yield Diagnostic("ORIO-S027", message, declaration.position, help=help_text)

    def _misfit(self, declaration: Declaration, member: CDeclaration) -> str | None:
        """Why a declaration does not fit the member."""
        name, extents = declaration.name, len(declaration.dimensions)
        known = self.task.structures
        same = declaration.type == member.type or (
            member.type in known and known[member.type] == known.get(declaration.type)
        )
        if not same:
            return f"`{name}` is `{member.type}` in the file but its decl says `{declaration.type}`"
        holder = holder_of(self.task, name)
        if "." in holder and holder not in {d.name for d in self.task.inputs.members}:
            return f"`{holder}` has to be declared, too"
        wanted = len(member.dimensions) + member.pointers
        if extents != wanted and not (extents == 0 and not is_pointer(member)):
            return f"`{name}` has {wanted} extents in the file but its decl says {extents}"
        return None

    def _constraints(self) -> Iterator[Diagnostic]:
        every = self.parameters | self.sizes
        groups: tuple[tuple[Iterable[Constraint], set[str]], ...] = (
            (self.task.constraints, every),
            (self.task.inputs.constraints, self.sizes),
        )
        for constraints, known in groups:
            for constraint in constraints:
                for name, position in name_positions(constraint.expression):
                    if name not in known:
                        message = f"constraint `{constraint.name}` uses the unknown name `{name}`"
                        place = position or constraint.position
                        yield Diagnostic("ORIO-S026", message, place, help=did_you_mean(name, known))

    def _commands(self) -> list[str]:
        build = self.task.build
        commands = (build.command, build.libs, build.prebuild, build.postbuild, build.postrun)
        return [command for command in commands if command is not None]

    def _placeholders(self) -> Iterator[Diagnostic]:
        known = self.parameters | self.sizes
        for command in self._commands():
            for match in _PLACEHOLDER.finditer(command):
                name = match.group(1) or match.group(2)
                if name not in known:
                    message = f"the build section uses `{match.group()}`, but there is no parameter `{name}`"
                    near = did_you_mean(name, known)
                    yield Diagnostic("ORIO-S021", message, self.task.build.position, help=near)

    def _unused_parameters(self) -> Iterator[Diagnostic]:
        used = set(used_beside_recipes(self.task))
        for region in self.task.regions:
            for step in region.recipe.steps:
                for argument in step.arguments:
                    used |= names_in(argument.expression)
        for parameter in self.task.parameters:
            if parameter.option is None and parameter.name not in used:
                message = f"parameter `{parameter.name}` is not used by any transformation or constraint"
                yield _warning("ORIO-S020", message, parameter.position)

    def _sizes(self) -> Iterator[Diagnostic]:
        near = self.task.surroundings
        if near.function is None:
            return
        # The code around the loops may take a size by the name that the build gives it: `int n = N;`.
        taken = {name for d in near.own for name in _IDENTIFIER.findall(d.initialiser or "")}
        known = {*self.visible, *near.macros, *taken}
        for size in self.task.inputs.parameters:
            if len(size.values) > 1 and size.name not in known:
                message = (
                    f"input parameter `{size.name}` has {len(size.values)} values, but the region cannot see "
                    f"`{size.name}`; expected a parameter, variable or macro of that name"
                )
                near_name = did_you_mean(size.name, self.visible)
                yield Diagnostic("ORIO-S022", message, size.position, help=near_name)

    def _extents(self) -> Iterator[Diagnostic]:
        if self.task.inputs.decl_file is not None:
            return
        near = self.task.surroundings
        known = {
            *self.sizes,
            *self.declared,
            *self.macros,
            *self.visible,
            *near.macros,
            *near.function_macros,
        }
        for declaration in (*self.task.inputs.declarations, *self.task.inputs.members):
            names = _IDENTIFIER.findall(_MEMBER.sub("", " ".join(declaration.dimensions)))
            for name in dict.fromkeys(names):
                if name not in known and name not in _C_WORDS:
                    message = f"the extent of `{declaration.name}` uses the unknown name `{name}`"
                    near_name = did_you_mean(name, known)
                    yield Diagnostic("ORIO-S025", message, declaration.position, help=near_name)

    def _undetermined(self) -> Iterator[Diagnostic]:
        if self.task.inputs.decl_file is not None:
            return
        arrays = sorted({n for e in self.effects for n in (*e.array_reads, *e.array_writes)})
        exposed = {n for e in self.effects for n in (*e.exposed, *e.reads_before_write)}
        own = {
            n for n in arrays if is_temporary(self.task, n, exposed) or table_text(self.task, n) is not None
        }
        missing = [name for name in arrays if name not in own and not self._has_extent(name)]
        if missing:
            yield self._missing(
                f"the extents of {_listed(missing)} are not known", *self._examples(missing[0])
            )
        yield from self._undetermined_members(missing)
        if self.task.inputs.init_file is not None:
            return
        scalars = sorted({n for e in self.effects for n in e.reads_before_write} - set(arrays))
        missing = [name for name in scalars if self._needs_value(name)]
        if missing:
            yield self._missing(
                f"the values of {_listed(missing)} are not known",
                f"def input_params {{ param {missing[0]}[] = [1000]; }}",
                f"decl {self._type_of(missing[0])} {missing[0]} = random;",
            )

    def _examples(self, name: str) -> tuple[str, ...]:
        """Declarations of an array, or of what the pointers of a structure point to."""
        kind = self._type_of(name)
        uses = (u for u in self.uses if is_pointer(u.member) and holder_of(self.task, u.path) == name)
        followed = {u.path: u.member for u in uses}
        one = f"decl dynamic {kind} {name}[N] = random;"
        return tuple(f"decl {m.type} {path}[N] = random;" for path, m in followed.items()) or (one,)

    def _undetermined_members(self, unknown: list[str]) -> Iterator[Diagnostic]:
        """Members that the code uses and nothing determines."""
        declared = {d.name for d in self.task.inputs.members}
        filled = {
            d.name for d in (*self.task.inputs.declarations, *self.task.inputs.members) if d.initialiser
        }
        told: set[str] = set()
        for use in self.uses:
            path, owner = use.path, holder_of(self.task, use.path)
            known = {*unknown, *told, *declared}
            if owner in unknown or path in known or ("." in owner and owner not in declared):
                continue
            if use.member.type in self.task.structures and not is_pointer(use.member):
                continue
            if is_pointer(use.member):
                told.add(path)
                if structure_of(self.task, owner) is not None and self._is_input(owner):
                    yield self._missing(
                        f"the extent of `{path}` is not known", f"decl {use.member.type} {path}[N] = random;"
                    )
            elif not (
                use.is_written or filled.intersection(_with_owners(path)) or self.task.inputs.init_file
            ) and owner in (self.declared | declared):
                told.add(path)
                yield self._missing(
                    f"the value of `{path}` is not known", f"decl {use.member.type} {path} = 1;"
                )

    def _is_input(self, owner: str) -> bool:
        declared = self.visible.get(owner.partition(".")[0])
        return declared is None or declared.scope != "local" or owner in self.declared

    def _type_of(self, name: str) -> str:
        """A type for the example of a declaration: that of a structure, or `double`."""
        declared = self.visible.get(name)
        is_structure = declared is not None and declared.type in self.task.structures
        return declared.type if declared is not None and is_structure else "double"

    def _missing(self, found: str, *forms: str) -> Diagnostic:
        written = " or ".join(f"`{form}`" for form in forms)
        message = f"{found}; the sections input_params and input_vars must give them"
        return Diagnostic("ORIO-S017", message, self.task.position, help=f"write {written}")

    def _has_extent(self, name: str) -> bool:
        declared = self.visible.get(name)
        if name in self.declared or name in self.macros or name in self.task.surroundings.macros:
            return True
        if declared is None:
            return False
        if declared.scope == "global" and declared.initialiser is not None:
            return True
        return bool(declared.dimensions) and "" not in declared.dimensions

    def _needs_value(self, name: str) -> bool:
        near = self.task.surroundings
        own = (d.name for d in near.own if d.initialiser is not None)
        if name in {*self.declared, *self.sizes, *self.macros, *near.macros, *near.function_macros, *own}:
            return False
        declared = self.visible.get(name)
        if declared is None:
            return near.function is None
        return declared.scope == "parameter"

    def _unused_declarations(self) -> Iterator[Diagnostic]:
        extent = self.task.extent
        inputs = self.task.inputs
        texts = [self.task.source.text[extent.start : extent.end]]
        texts.extend(file.text for file in self.task.files)
        texts.extend(" ".join((*d.dimensions, d.initialiser or "")) for d in inputs.declarations)
        own = self.task.surroundings.function
        texts.append(own.text if own is not None else "")
        macros = self.task.surroundings.definitions
        used = mentioned_names(_IDENTIFIER.findall("\n".join(texts)), macros)
        for declaration in inputs.declarations:
            if declaration.name not in used:
                kind = "scalar" if declaration.storage is Storage.SCALAR else "array"
                message = f"the region does not use the declared {kind} `{declaration.name}`"
                yield _warning("ORIO-S024", message, declaration.position)

    def _assumed(self) -> Iterator[Diagnostic]:
        named = self.task.assumptions.noalias
        arrays = {name for e in self.effects for name in (*e.array_reads, *e.array_writes)}
        arrays |= {use.path for use in self.uses}
        for name in sorted(named - arrays if isinstance(named, frozenset) else ()):
            message = f"`noalias` names `{name[:40]}`, but the region uses no such array"
            near = did_you_mean(name, arrays)
            yield Diagnostic("ORIO-S006", message, self.task.assumptions.position, help=near)


def _with_owners(path: str) -> Iterator[str]:
    """A path and those of the structures around it."""
    while path:
        yield path
        path = owner_of(path)


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:8])
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"


def _warning(code: str, message: str, position: Position | None) -> Diagnostic:
    return Diagnostic(code, message, position, severity=Severity.WARNING)
