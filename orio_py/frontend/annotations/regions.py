"""Nests the annotations of a file into regions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from orio_py.core.diagnostics import Diagnostic, Note, has_errors
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Span
from orio_py.frontend.annotations.modules import DEAD, MODULES, TRANSPARENT, WITH_CODE
from orio_py.frontend.annotations.scan import Leader, Scan

MAX_NESTING = 20


@dataclass(slots=True)
class RegionNode:
    """A leader, its trailer and the regions between them."""

    leader: Leader
    trailer: Span
    children: list[RegionNode] = field(default_factory=list["RegionNode"])

    @property
    def name(self) -> str:
        """The module's name."""
        return self.leader.name

    @property
    def content(self) -> Span:
        """What stands between the two annotation comments."""
        return Span(self.leader.span.end, self.trailer.start)


def nest(scan: Scan) -> list[RegionNode]:
    """The outermost regions of a file.  Problems: ORIO-A001 to A004, A008, A009, A019."""
    roots: list[RegionNode] = []
    open_nodes: list[RegionNode] = []
    for mark in scan.marks:
        siblings = open_nodes[-1].children if open_nodes else roots
        if isinstance(mark, Leader):
            node = RegionNode(mark, Span(mark.span.end, mark.span.end))
            siblings.append(node)
            open_nodes.append(node)
            if len(open_nodes) > MAX_NESTING:
                message = f"regions are nested more than {MAX_NESTING} deep"
                scan.report("ORIO-A008", message, mark.span.start)
                return []
        elif open_nodes:
            open_nodes.pop().trailer = mark.span
        else:
            scan.report("ORIO-A002", "`end` without a `begin`: no annotation is open here", mark.span.start)
    for node in open_nodes:
        if node.leader.is_broken:
            continue
        wanted = "#pragma orio loop end" if node.leader.is_marker else "/*@ end @*/"
        scan.report(
            "ORIO-A001",
            f"annotation `begin {node.name}` is never closed; expected `{wanted}`",
            node.leader.span.start,
        )
    if open_nodes:
        return []
    roots = list(_flatten(scan, roots))
    for root in roots:
        _check(scan, root, [])
    return roots


def _flatten(scan: Scan, nodes: list[RegionNode]) -> Iterator[RegionNode]:
    """Drop the regions of unknown and transparent modules; their children take their place."""
    for node in nodes:
        node.children = list(_flatten(scan, node.children))
        at = node.leader.span.start
        if node.name in TRANSPARENT:
            scan.warn("ORIO-A019", f"module `{node.name}` has no effect; its text is kept", at)
            yield from node.children
        elif node.name in MODULES:
            yield node
        elif node.name in DEAD:
            instead = "use `Loop`" if node.name == "Loops" else "available modules: PerfTuning, Loop, CHiLL"
            scan.report("ORIO-A004", f"module `{node.name}` is not available", at, help=instead)
        elif not node.leader.is_broken:
            near = did_you_mean(node.name, MODULES)
            scan.report("ORIO-A003", f"unknown module `{node.name}`", at, help=near)


def _check(scan: Scan, node: RegionNode, outer: list[RegionNode]) -> None:
    if node.name == "PerfTuning" and outer:
        place = scan.source.position(node.leader.span.start)
        start = scan.source.position(outer[-1].leader.span.start)
        scan.problems.append(
            Diagnostic(
                "ORIO-A008",
                f"a PerfTuning region cannot stand inside a {outer[-1].name} region",
                place,
                notes=(Note("the enclosing region begins here", start),),
            )
        )
    if node.name == "PerfTuning" and not loops_in(node) and not has_errors(scan.problems):
        scan.report(
            "ORIO-A009",
            "this PerfTuning region contains no Loop region, so there is nothing to tune",
            node.leader.span.start,
            help="put `/*@ begin Loop( transform … ) @*/ code /*@ end @*/` into it",
        )
    for child in node.children:
        _check(scan, child, [*outer, node])


def loops_in(node: RegionNode) -> list[RegionNode]:
    """The Loop and CHiLL regions directly inside a PerfTuning region."""
    return [child for child in node.children if child.name in WITH_CODE]
