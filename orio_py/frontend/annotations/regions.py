"""Nests the annotations of a file into regions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from orio_py.core.diagnostics import Diagnostic, Note, has_errors
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Span
from orio_py.frontend.annotations.module import (
    CodeModule,
    Leader,
    MissingModule,
    Module,
    PlainModule,
    TuningModule,
)
from orio_py.frontend.annotations.modules import MODULES, available
from orio_py.frontend.annotations.scan import Scan

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
    def module(self) -> Module | None:
        """What the name stands for; None for an unknown one."""
        return MODULES.get(self.name)

    @property
    def content(self) -> Span:
        """What stands between the two annotation comments."""
        return Span(self.leader.span.end, self.trailer.start)

    @property
    def whole(self) -> Span:
        """The content with the two comments."""
        return Span(self.leader.span.start, self.trailer.end)


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
        match node.module:
            case PlainModule():
                scan.warn("ORIO-A019", f"module `{node.name}` has no effect; its text is kept", at)
                yield from node.children
            case CodeModule() | TuningModule():
                yield node
            case MissingModule() as module:
                advice = module.advice(_with_effect())
                scan.report("ORIO-A004", f"module `{node.name}` is not available", at, help=advice)
            case None if not node.leader.is_broken:
                near = did_you_mean(node.name, available())
                scan.report("ORIO-A003", f"unknown module `{node.name}`", at, help=near)
            case None:
                pass


def _with_effect() -> list[str]:
    return [name for name in available() if not isinstance(MODULES[name], PlainModule)]


def _check(scan: Scan, node: RegionNode, outer: list[RegionNode]) -> None:
    is_tuning = isinstance(node.module, TuningModule)
    if is_tuning and outer:
        place = scan.source.position(node.leader.span.start)
        start = scan.source.position(outer[-1].leader.span.start)
        scan.problems.append(
            Diagnostic(
                "ORIO-A008",
                f"a {node.name} region cannot stand inside a {outer[-1].name} region",
                place,
                notes=(Note("the enclosing region begins here", start),),
            )
        )
    if is_tuning and not loops_in(node) and not has_errors(scan.problems):
        scan.report(
            "ORIO-A009",
            f"this {node.name} region contains no Loop region, so there is nothing to tune",
            node.leader.span.start,
            help="put `/*@ begin Loop( transform … ) @*/ code /*@ end @*/` into it",
        )
    for child in node.children:
        _check(scan, child, [*outer, node])


def loops_in(node: RegionNode) -> list[RegionNode]:
    """The regions with code directly inside a PerfTuning region."""
    return [child for child in node.children if isinstance(child.module, CodeModule)]


def inner_loop(node: RegionNode) -> RegionNode | None:
    """The one Loop region inside a region that may go around one."""
    around = isinstance(node.module, CodeModule) and node.module.around
    return node.children[0] if around and [child.name for child in node.children] == ["Loop"] else None
