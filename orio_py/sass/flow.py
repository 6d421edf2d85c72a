"""Basic blocks and loops of a function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orio_py.sass.instruction import INSTRUCTION_BYTES, Instruction, SassFunction

_ENDS = frozenset({"EXIT", "RET", "BRX", "JMX", "KILL"})
_JUMPS = frozenset({"BRA", "JMP"})


@dataclass(frozen=True, slots=True)
class BasicBlock:
    """Instructions that run one after the other: those from `start` to before `end`, and the starts of what may follow."""

    start: int
    end: int
    successors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NaturalLoop:
    """A natural loop: the start of its header, the starts of its blocks, and how many loops it stands in, itself included."""

    header: int
    blocks: frozenset[int]
    depth: int


@dataclass(frozen=True, slots=True)
class FlowGraph:
    """The blocks of a function by their starts, and its loops, outer ones before inner ones."""

    blocks: Mapping[int, BasicBlock]
    loops: tuple[NaturalLoop, ...]

    def loop_of(self, block: int) -> NaturalLoop | None:
        """The innermost loop around the block that starts here."""
        return next((loop for loop in reversed(self.loops) if block in loop.blocks), None)


def flow_graph(function: SassFunction) -> FlowGraph:
    """The basic blocks of a function and the natural loops of its back edges.

    A branch to itself, with which the code is padded, is no loop.
    """
    blocks = _blocks(function)
    before = _dominators(blocks)
    bodies: dict[int, set[int]] = {}
    for block in blocks.values():
        for header in block.successors:
            if block.start not in before or _is_padding(function, block):
                continue
            if _dominates(before, header, block.start):
                bodies.setdefault(header, {header}).update(_natural(blocks, header, block.start))
    nested = sorted(bodies.items(), key=lambda item: (-len(item[1]), item[0]))
    loops = tuple(
        NaturalLoop(header, frozenset(body), sum(header in other for _, other in nested))
        for header, body in nested
    )
    return FlowGraph(blocks, loops)


def _blocks(function: SassFunction) -> dict[int, BasicBlock]:
    code = function.instructions
    end = len(code) * INSTRUCTION_BYTES
    starts = {0}
    for instruction in code:
        if _leaves(instruction):
            starts.add(instruction.address + INSTRUCTION_BYTES)
            if instruction.target is not None:
                starts.add(instruction.target)
    cuts = sorted(start for start in starts if start < end)
    return {
        start: BasicBlock(start, stop, _successors(code[stop // INSTRUCTION_BYTES - 1], stop, end))
        for start, stop in zip(cuts, [*cuts[1:], end], strict=True)
    }


def _leaves(instruction: Instruction) -> bool:
    return instruction.opcode in _JUMPS or instruction.opcode in _ENDS


def _successors(last: Instruction, following: int, end: int) -> tuple[int, ...]:
    after: list[int] = []
    if last.opcode in _JUMPS and last.target is not None:
        after.append(last.target)
    goes_on = not _leaves(last) or last.predicate is not None or len(last.operands) > 1
    if goes_on and following < end:
        after.append(following)
    return tuple(dict.fromkeys(after))


def _is_padding(function: SassFunction, block: BasicBlock) -> bool:
    last = function.at(block.end - INSTRUCTION_BYTES)
    return last.target == last.address


def _dominators(blocks: Mapping[int, BasicBlock]) -> dict[int, int]:
    """The last block that every way to a block goes through, for those that the function's start leads to.

    Cooper, Harvey and Kennedy 2001, A Simple, Fast Dominance Algorithm, figure 3.
    """
    order = _reverse_postorder(blocks)
    place = {start: number for number, start in enumerate(order)}
    came: dict[int, list[int]] = {start: [] for start in order}
    for start in order:
        for successor in blocks[start].successors:
            came[successor].append(start)
    found = {0: 0}
    changed = True
    while changed:
        changed = False
        for start in order[1:]:
            known = [p for p in came[start] if p in found]
            new = known[0]
            for other in known[1:]:
                new = _common(found, place, new, other)
            if found.get(start) != new:
                found[start], changed = new, True
    return found


def _common(dominator: Mapping[int, int], place: Mapping[int, int], a: int, b: int) -> int:
    while a != b:
        if place[a] > place[b]:
            a = dominator[a]
        else:
            b = dominator[b]
    return a


def _dominates(dominator: Mapping[int, int], a: int, b: int) -> bool:
    while b not in (a, dominator[b]):
        b = dominator[b]
    return a in (b, dominator[b])


def _reverse_postorder(blocks: Mapping[int, BasicBlock]) -> list[int]:
    """The blocks that the function's start leads to, each before those that only it leads to."""
    seen = {0}
    finished: list[int] = []
    stack = [(0, iter(blocks[0].successors))]
    while stack:
        start, rest = stack[-1]
        following = next((successor for successor in rest if successor not in seen), None)
        if following is None:
            finished.append(start)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(blocks[following].successors)))
    return finished[::-1]


def _natural(blocks: Mapping[int, BasicBlock], header: int, latch: int) -> set[int]:
    """The blocks from which the latch is reached without the header."""
    came: dict[int, list[int]] = {}
    for block in blocks.values():
        for successor in block.successors:
            came.setdefault(successor, []).append(block.start)
    body, waiting = {header, latch}, [latch]
    while waiting:
        current = waiting.pop()
        if current == header:
            continue
        for start in came.get(current, ()):
            if start not in body:
                body.add(start)
                waiting.append(start)
    return body
