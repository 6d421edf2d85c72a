"""What `Uses` makes of a tree: blocks of items, and the references that they use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from orio_py.ctree.dependence.names import AccessKey
from orio_py.ctree.dependence.reuse import MemoryObject
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Comment, For, Node
from orio_py.ctree.symbols import CDeclaration

Frame = object
"""What stands between a block and a use inside it: a `Loop`, `CONDITIONAL` or `REPEATED`."""

CONDITIONAL: Frame = "maybe"
"""Code under a condition."""

REPEATED: Frame = "again"
"""Code that a `while` or `do` loop runs any number of times."""


@dataclass(frozen=True, slots=True, eq=False)
class Ref:
    """A reference to an element, the same object for all uses with the same text.

    `variable` is its name without fields, `names` are the variables that the place of the element depends
    on, `inner` the references among its subscripts.  `steady` says that the subscripts are free of side
    effects and of conditions; `level` is how deep references are nested in it.
    """

    node: Node
    name: str
    variable: str
    subscripts: tuple[Node, ...]
    spot: AccessKey
    names: frozenset[str]
    inner: tuple[Ref, ...]
    steady: bool
    level: int

    @property
    def text(self) -> str:
        """The reference as C text."""
        return emit_expression(self.node)


@dataclass(slots=True, eq=False)
class Use:
    """One use of a reference at `node`; `frames` lead to it from the root, `declaration` is that of its array.

    `storage` is the memory that it may touch, `within` are the references in whose subscripts it stands.
    """

    ref: Ref
    node: Node
    reads: bool
    writes: bool
    frames: tuple[Frame, ...]
    declaration: CDeclaration | None
    storage: MemoryObject
    within: tuple[Ref, ...] = ()

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The `for` loops around it, outermost first."""
        return tuple(frame for frame in self.frames if isinstance(frame, Loop))

    @property
    def may_be_skipped(self) -> bool:
        """Whether something besides the tests of `for` loops decides if it runs."""
        return CONDITIONAL in self.frames or REPEATED in self.frames


@dataclass(slots=True, eq=False)
class Loop:
    """A `for` loop; `index` is what its header steps by `stride`, if its body leaves that alone.

    `start` is its first value, `floor` that of the unrolled loop of which this one runs the remainder.
    """

    node: For
    around: Loop | None
    declared: Mapping[str, CDeclaration]
    view: CanonicalLoop | None = None
    index: str | None = None
    stride: int = 0
    start: Node | None = None
    floor: Node | None = None
    written: frozenset[str] = frozenset()
    leaves: bool = False


@dataclass(frozen=True, slots=True)
class Barrier:
    """Something that code is not moved across.

    A `break` or `continue` at a depth of loops matters only to blocks at that depth or deeper.
    """

    kind: str
    depth: int = 0


NOTHING = slice(0, 0)
"""No part of a list."""


@dataclass(slots=True, eq=False)
class Statement:
    """One statement of a block, with its parts of the lists of uses, writes, reads and barriers."""

    node: Node
    blocks: list[StatementList]
    loop: Loop | None
    uses: slice
    writes: slice
    reads: slice
    barriers: slice


@dataclass(slots=True, eq=False)
class StatementList:
    """A list of statements: the body of a loop or branch, or a block of the user's.

    `breaks` and `continues` count the statements around it that a `break` or `continue` could end.
    """

    items: list[Statement]
    frames: tuple[Frame, ...]
    loop: Loop | None
    breaks: int
    continues: int

    def loop_behind(self, number: int) -> Statement | None:
        """The statement behind an item, if it is a loop; comments do not count."""
        behind = (item for item in islice(self.items, number + 1, None) if not isinstance(item.node, Comment))
        item = next(behind, None)
        return item if item is not None and item.loop is not None else None
