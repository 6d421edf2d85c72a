"""The shape of a transformation, what it is told about its surroundings, and how it says no."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, Protocol, TypeVar, cast

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Note
from orio_py.core.names import NameSupply
from orio_py.core.source import Position
from orio_py.ctree.dependence.scope import Constraint
from orio_py.ctree.effects import Effects, EffectsMemory
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node
from orio_py.ctree.parse import position
from orio_py.ctree.rewrite import used_names
from orio_py.ctree.structures import Members, Structures
from orio_py.ctree.symbols import CDeclaration
from orio_py.ctree.unit.callees import Callee
from orio_py.spec.assumptions import Assumptions


class Remarks:
    """What a recipe's user is told in a comment above the output."""

    def __init__(self) -> None:
        self._texts: dict[str, None] = {}

    def add(self, text: str) -> None:
        """Note a text; the same one counts once."""
        self._texts[text] = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts, in the order of the transformations."""
        return tuple(self._texts)


Answer = TypeVar("Answer")


class Answers:
    """The last answers to questions about statements: trees are never modified, and variants begin with the same ones."""

    def __init__(self, most: int = 32) -> None:
        self._last: deque[tuple[object, Node, Context, object]] = deque(maxlen=most)

    def to(self, question: Callable[[Node, Context], Answer], node: Node, context: Context) -> Answer:
        """What `question` answers for a statement in a context; asked again only where one of them is another."""
        for asked, about, where, answer in self._last:
            if asked is question and about is node and where.is_like(context):
                return cast("Answer", answer)
        found = question(node, context)
        self._last.append((question, node, context, found))
        return found


@dataclass(frozen=True, slots=True)
class KnownRange:
    """The variables that hold between which places elements of an array are used, by the loops with this `text`.

    The text notes places by a variable `at`.
    """

    first: str
    last: str
    at: str
    text: str


@dataclass(frozen=True, slots=True)
class Context:
    """What a transformation is told about the place where it works.

    `live_after` holds the names that may be read after the node before they are assigned again;
    `pragmas` the texts of the pragmas that stand directly before the node; `macros` those that
    the code may hold, which are constants: all others are expanded in it; `sizes` the C types of input parameters that nothing declares; `reserved` names that must not be declared (macros, types); `exposed` the scalars
    that a called function could change (globals, and locals whose address is taken); `only_here` the function's local
    variables that nothing outside the node uses, and internal functions that only regions call; `has_openmp` whether the user's build acts on the pragmas that the code
    has already; `surrounding` the
    loops around the node, outermost first, as far as they are canonical.  `assumptions` are the promises of
    the specification; `overruled` collects what `force=True` overrules, `idle` what the user asked for and got nothing of.  `types` maps names that typedefs
    give to numbers to the C types that they stand for, `pointers` those of pointers to what these point to, `structures` the
    names of structures to their members;
    `facts` are polynomials over integer variables that are at least 0 where the node begins, `followed` pointers to structures that were
    followed on every way to it, `enumerators` the values
    of enumeration constants, `functions` the file's own that calls may be replaced by, `obstacles` what keeps others from that, and `label` is a C identifier for the region.
    Where it `inspects`, loops may run before a kernel or a test that find out which elements the node uses; `ranges` has what
    is found out of arrays already where the node begins.
    """

    declarations: Mapping[str, CDeclaration] = field(default_factory=dict[str, CDeclaration])
    live_after: frozenset[str] = frozenset()
    pragmas: tuple[str, ...] = ()
    macros: Mapping[str, str] = field(default_factory=dict[str, str])
    sizes: Mapping[str, str] = field(default_factory=dict[str, str])
    reserved: frozenset[str] = frozenset()
    exposed: frozenset[str] = frozenset()
    only_here: frozenset[str] = frozenset()
    has_openmp: bool = True
    surrounding: tuple[CanonicalLoop, ...] = ()
    assumptions: Assumptions = Assumptions()
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    pointers: Mapping[str, CDeclaration] = field(default_factory=dict[str, CDeclaration])
    structures: Structures = field(default_factory=dict[str, Members])
    facts: tuple[Constraint, ...] = ()
    followed: frozenset[str] = frozenset()
    enumerators: Mapping[str, int] = field(default_factory=dict[str, int])
    functions: Mapping[str, Callee] = field(default_factory=dict[str, Callee])
    obstacles: Mapping[str, str] = field(default_factory=dict[str, str])
    label: str = "region"
    inspects: bool = False
    ranges: Mapping[str, KnownRange] = field(default_factory=dict[str, KnownRange])
    overruled: Remarks = field(default_factory=Remarks, compare=False, repr=False)
    idle: Remarks = field(default_factory=Remarks, compare=False, repr=False)
    memory: EffectsMemory = field(default_factory=EffectsMemory, compare=False, repr=False)
    answers: Answers = field(default_factory=Answers, compare=False, repr=False)

    def is_like(self, other: Context) -> bool:
        """Whether the same is known in both, of effects as well."""
        mine, others = self.memory, other.memory
        return self == other and (
            mine is others or (mine.dead == others.dead and mine.integers == others.integers)
        )

    def effects(self, node: Node) -> Effects:
        """What `node` reads and writes; remembered for all variants of a region."""
        return self.memory.of(node)

    def names(self, *nodes: Node) -> NameSupply:
        """Fresh names that occur neither in `nodes` nor in the surroundings."""
        used = used_names(nodes) | self.reserved | set(self.declarations)
        return NameSupply(used)


class Transformation(Protocol):
    """One way to rewrite a statement; a frozen dataclass whose fields are its arguments."""

    def apply(self, node: Node, context: Context) -> Node:
        """The rewritten statement; `node` is not modified.  Raises Refusal where that would not be legal."""
        ...


class Refusal(DiagnosticError):
    """A transformation's reasoned no; `argument` names the argument that is to blame, if one is."""

    def __init__(self, *diagnostics: Diagnostic, argument: str | None = None) -> None:
        super().__init__(*diagnostics)
        self.argument = argument


def refuse(
    code: str,
    message: str,
    node: Node | Position | None,
    *,
    notes: Sequence[Note] = (),
    help: str | None = None,
    argument: str | None = None,
) -> NoReturn:
    """Raise a `Refusal` at `node`; the recipe moves it to `argument` where that was written."""
    place = position(node) if isinstance(node, Node) else node
    raise Refusal(Diagnostic(code, message, place, notes=tuple(notes), help=help), argument=argument)


def note(message: str, node: Node | Position | None) -> Note:
    """A note at the place of `node`."""
    return Note(message, position(node) if isinstance(node, Node) else node)
