"""What the host does between kernels, and which arrays that keeps from staying on the device meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass

from orio_py.ctree.effects import Effects, copied_pointers
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import declared_names, walk
from orio_py.transformation.base import Context
from orio_py.transformation.verdicts import aliases_in

_HARMLESS = frozenset({"printf", "fprintf", "puts", "putchar", "fflush", "clock", "time"})
"""Functions that touch no array of the region's but those that they are given."""


@dataclass(frozen=True, slots=True)
class HostUses:
    """What code does besides its kernels.

    `given` are the arrays whose elements say what kernels are given or how long they run, `copied` pointers that are used
    otherwise than to follow them, `inside` the names that the code declares, and scalars that kernels combine.
    """

    effects: Effects
    given: frozenset[str]
    copied: frozenset[str]
    inside: frozenset[str]
    context: Context

    @classmethod
    def of(
        cls, code: Node, rest: Node, values: Iterable[Node], results: Iterable[str], context: Context
    ) -> HostUses:
        """Those of `code`, of which `rest` is left without kernels.

        The host computes `values` for kernels, which combine `results`.
        """
        given = frozenset[str]().union(*(context.effects(value).array_reads for value in values))
        inside = frozenset(declared_names(code)) | frozenset(results)
        return cls(context.effects(rest), given, copied_pointers(rest), inside, context)

    def problem(self, name: str, bounds: Iterable[Node], others: Iterable[str]) -> str | None:
        """Why an array cannot stay, of which kernels use what `bounds` say; None where it can.

        `others` are the arrays that kernels use.
        """
        return self.changing(bounds) or self._touched(name) or self._overlapped(name, others)

    def changing(self, bounds: Iterable[Node]) -> str | None:
        """Why the host cannot say before which elements kernels use; None where it can."""
        changed: Set[str] = self.effects.scalar_writes | self.inside
        used = {n.name for part in bounds for n in walk(part) if isinstance(n, c_ast.ID)}
        if not used & changed:
            return None
        return f"as what a kernel uses of it depends on `{min(used & changed)}`, which changes meanwhile"

    def _touched(self, name: str) -> str | None:
        host = self.effects
        if name in host.reads | host.writes | host.address_taken | host.escaping | self.copied | self.given:
            return "as code between the kernels uses it"
        declared = self.context.declarations.get(name)
        is_local = declared is not None and declared.scope == "local" and bool(declared.dimensions)
        calls = host.calls - _HARMLESS
        if (calls or host.opaque) and not (is_local and name not in self.context.exposed):
            return f"as `{min(calls)}` may use it" if calls else "as code between the kernels may use it"
        return None

    def _overlapped(self, name: str, others: Iterable[str]) -> str | None:
        aliases = aliases_in(self.context)
        touched = sorted(self.effects.array_reads | self.effects.array_writes | self.given)
        for other in dict.fromkeys((*others, *touched)):
            if other != name and aliases.may_overlap(self._key(name), self._key(other)):
                return f"as it may overlap `{other}`"
        return None

    def _key(self, name: str) -> tuple[str, int]:
        declared = self.context.declarations.get(name)
        return name, max(1, len(declared.dimensions)) if declared is not None else 1
