"""The recipe by statement number of a program, in the words of the thesis (section 3.2, figure 3.9).

    UF0[] = [1,2,4,8,16];
    permute(0, ("p5", "p4", "p6", "h1", "h2", "h3", "h7"))
    cuda(0, block={"h2", "p6"}, thread={"h3", "h1"})
    registers(0, "h7")
    unroll(0, "h7", UF0)

`cuda` and `permute` stand for the first statement of each group that is fused; `permute` turns the free loops inside a
kernel round where tensors are stored by columns; `registers` keeps the sum in a register while the summed loops run;
`unroll` has the factors that leave nothing over.  Source: ibidem, section 3.1.3.
"""

from __future__ import annotations

from collections.abc import Sequence

from orio_py.tensors.contraction import Contraction, TensorLayout, TensorProgram
from orio_py.tensors.decomposition import Decomposition, decompositions


def fused_groups(program: TensorProgram) -> tuple[tuple[int, ...], ...]:
    """The numbers of statements that share a kernel: neighbours with the same loops, of which none reads another's output."""
    groups: list[list[int]] = []
    for number, statement in enumerate(program.contractions):
        if groups and all(_may_fuse(program, program.contractions[k], statement) for k in groups[-1]):
            groups[-1].append(number)
        else:
            groups.append([number])
    return tuple(tuple(group) for group in groups)


def group_decompositions(program: TensorProgram) -> tuple[tuple[Decomposition, ...], ...]:
    """For each group the decompositions of its first statement, the best one first."""
    chosen: list[tuple[Decomposition, ...]] = []
    for group in fused_groups(program):
        before = [made[0] for made in chosen if made]
        chosen.append(decompositions(program.contractions[group[0]], program.pattern, before))
    return tuple(chosen)


def statement_recipe(program: TensorProgram, *, alternatives: bool = False) -> str:
    """The recipe's text, with the decompositions that the rules put first.

    With `alternatives` all of them are values of a list `MAP<n>`: the loops of blocks, of threads, and the order.
    """
    groups = fused_groups(program)
    lists: list[str] = []
    commands: dict[str, list[str]] = {name: [] for name in ("permute", "cuda", "registers", "fuse", "unroll")}
    for group, made in zip(groups, group_decompositions(program), strict=True):
        leader = group[0]
        first = program.contractions[leader]
        if made:
            if alternatives:
                lists.append(
                    f"MAP{leader}[] = [{', '.join(_mapping(program, leader, one) for one in made)}];"
                )
                commands["permute"].append(f"permute({leader}, MAP{leader}[2])")
                commands["cuda"].append(f"cuda({leader}, block=MAP{leader}[0], thread=MAP{leader}[1])")
            else:
                commands["permute"] += _permute(program, leader, made[0])
                commands["cuda"].append(_cuda(leader, made[0]))
        for number in group:
            summed = program.contractions[number].contracted
            commands["registers"] += [f'registers({number}, "{summed[0]}")'] if summed else []
        commands["fuse"] += [f"fuse({','.join(map(str, group))})"] if len(group) > 1 else []
        for place, index in enumerate(first.contracted):
            name = f"UF{leader}" if place == 0 else f"UF{leader}_{place}"
            lists.append(f"{name}[] = [{','.join(map(str, divisors(first.extents[index])))}];")
            commands["unroll"].append(f'unroll({leader}, "{index}", {name})')
    return "\n".join([*lists, *(line for lines in commands.values() for line in lines)]) + "\n"


def divisors(number: int) -> tuple[int, ...]:
    """The factors that divide a trip count, 1 and itself among them."""
    return tuple(factor for factor in range(1, number + 1) if number % factor == 0)


def _may_fuse(program: TensorProgram, one: Contraction, two: Contraction) -> bool:
    loops = one.loops(program.pattern)
    if loops != two.loops(program.pattern) or one.extents != two.extents:
        return False
    reads_other = any(o.tensor.name == one.output.tensor.name for o in two.operands)
    overwritten = any(o.tensor.name == two.output.tensor.name for o in one.operands)
    same = one.output.tensor.name != two.output.tensor.name or one.output == two.output
    return same and not reads_other and not overwritten


def _permute(program: TensorProgram, number: int, made: Decomposition) -> list[str]:
    order = _order(program, number, made)
    turned = order != program.contractions[number].loops(program.pattern)
    return [f"permute({number}, ({_quoted(order)}))"] if turned else []


def _order(program: TensorProgram, number: int, made: Decomposition) -> tuple[str, ...]:
    """The loops of a statement with those turned round that stay inside a kernel, where columns are stored."""
    statement = program.contractions[number]
    loops = statement.loops(program.pattern)
    if statement.output.tensor.layout is TensorLayout.ROW:
        return loops
    inside = [index for index in loops if index in statement.free and index not in made.loops]
    turned = iter(reversed(inside))
    return tuple(next(turned) if index in inside else index for index in loops)


def _mapping(program: TensorProgram, number: int, made: Decomposition) -> str:
    parts = (made.block, made.thread, _order(program, number, made))
    return "(" + ", ".join(f"({_quoted(part)},)" for part in parts) + ")"


def _cuda(number: int, made: Decomposition) -> str:
    return f"cuda({number}, block={{{_quoted(made.block)}}}, thread={{{_quoted(made.thread)}}})"


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
