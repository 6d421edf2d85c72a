"""Listings of a disassembler as instructions, from stored ones and from small ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from sass_text import listing

from orio_py.sass.flow import flow_graph
from orio_py.sass.instruction import (
    Constant,
    Control,
    Immediate,
    Label,
    MemoryOperand,
    Register,
    SourceLine,
)
from orio_py.sass.listing import parse_listing
from orio_py.sass.resources import opcodes, unknown_opcodes

LISTINGS = Path(__file__).with_name("listings")


def stored(name):
    (function,) = parse_listing((LISTINGS / f"{name}.sass").read_text(), ("kernels.cu",))
    return function


def test_an_instruction_with_everything():
    function = stored("naive_sm_90")
    assert function.name == "naive"
    multiply = function.at(0x80)
    assert (multiply.name, multiply.line) == ("IMAD", SourceLine("", 4))
    assert multiply.operands == (Register("R", 3), Register("R", 3), Register("UR", 5), Register("R", 4))
    # It waits for both special registers, which the second barrier tells of, and the next one needs its result.
    assert multiply.control == Control(5, True, None, None, (0,))
    leave = function.at(0xC0)
    assert leave.opcode == "EXIT"
    assert leave.predicate == Register("P", 0)
    assert function.at(0x50).control == Control(1, False, 0, None, ())


def test_branches_have_targets():
    function = stored("naive_sm_90")
    branches = [i for i in function.instructions if i.opcode == "BRA"]
    assert all(branch.target is not None and branch.target % 16 == 0 for branch in branches)
    assert branches[-1].target == branches[-1].address  # the padding


@pytest.mark.parametrize("name", ["vecaxpy_sm_75", "vecaxpy_sm_90"])
def test_the_loop_of_a_vector_update(name):
    function = stored(name)
    (loop,) = flow_graph(function).loops
    blocks = [flow_graph(function).blocks[start] for start in sorted(loop.blocks)]
    inside = [i for b in blocks for i in function.instructions if b.start <= i.address < b.end]
    assert [i.opcode for i in inside if i.opcode in ("LDG", "STG", "DFMA")] == ["LDG", "LDG", "DFMA", "STG"]
    load = next(i for i in inside if i.opcode == "LDG")
    assert load.modifiers[:2] == ("E", "64")
    assert any(isinstance(o, MemoryOperand) and o.base is not None for o in load.operands)


def test_every_opcode_of_the_stored_listings_is_known():
    for path in LISTINGS.glob("*.sass"):
        for function in parse_listing(path.read_text()):
            assert unknown_opcodes(function.instructions) == {}, path.name


def test_an_opcode_that_is_not_known_is_counted():
    function = listing("FROB R1, R2", "FROB.X R1, R2", "EXIT")
    assert unknown_opcodes(function.instructions) == {"FROB": 2}
    assert len(opcodes()) > 200


def test_what_cuobjdump_prints_is_read_as_well():
    text = """
\t\tFunction : scale
\t.headerflags\t@"EF_CUDA_SM90"
        /*0000*/                   MOV R1, c[0x0][0x28] ;   /* 0x00000a0000017a02 */
                                                             /* 0x000fe20000000f00 */
        /*0010*/              @!P0 BRA 0x30 ;               /* 0x0000000800cc8947 */
                                                             /* 0x000fea0003800000 */
        /*0020*/                   IADD3 R2, P1, R1, -0x1, RZ ;
        /*0030*/                   EXIT ;
"""
    (function,) = parse_listing(text)
    assert function.name == "scale"
    assert function.at(0).operands == (Register("R", 1), Constant(0, 0x28))
    assert function.at(0).control is not None
    assert function.at(32).control is None
    assert function.at(16).operands == (Label(0x30),)
    assert function.at(32).operands[3] == Immediate(-1)


def test_calls_name_a_register_and_a_label():
    function = listing("CALL.REL.NOINC `(sub)", "RET.REL.NODEC R2 `(k)", "sub:", "EXIT")
    assert function.at(0).target == 0x20
    assert function.at(16).operands[0] == Register("R", 2)


def test_code_of_older_architectures_is_refused():
    with pytest.raises(ValueError, match="not 16 bytes long"):
        parse_listing("\t.section\t.text.k\n        /*0008*/  MOV R1, R2 ;\n        /*0010*/  EXIT ;")


def test_blocks_and_nested_loops():
    function = listing(
        "MOV R0, RZ",
        "outer:",
        "MOV R1, RZ",
        "inner:",
        "IADD3 R1, R1, 0x1, RZ",
        "@P0 BRA `(inner)",
        "@!P1 BRA `(out)",
        "IADD3 R0, R0, 0x1, RZ",
        "BRA `(outer)",
        "out:",
        "EXIT",
        "pad:",
        "BRA `(pad)",
    )
    flow = flow_graph(function)
    assert {start: block.successors for start, block in flow.blocks.items()} == {
        0x00: (0x10,),
        0x10: (0x20,),
        0x20: (0x20, 0x40),
        0x40: (0x70, 0x50),
        0x50: (0x10,),
        0x70: (),
        0x80: (0x80,),
    }
    outer, inner = flow.loops
    assert (outer.header, outer.depth, outer.blocks) == (0x10, 1, {0x10, 0x20, 0x40, 0x50})
    assert (inner.header, inner.depth, inner.blocks) == (0x20, 2, {0x20})
    assert flow.loop_of(0x20) is inner
    assert flow.loop_of(0x50) is outer
    assert flow.loop_of(0) is None


def test_a_way_around_makes_no_loop():
    flow = flow_graph(listing("@P0 BRA `(b)", "MOV R0, RZ", "b:", "EXIT"))
    assert flow.loops == ()


def test_lines_of_included_files_have_their_names() -> None:
    text = "\n".join(
        f'\t//## File "{file}", line {line}\n        /*{16 * n:04x}*/  MOV R1, R2 ;'
        for n, (file, line) in enumerate([("/a/k.cu", 4), ("/a/inc/steps.cuh", 7), ("C:\\k\\k.cu", 5)])
    )
    (function,) = parse_listing("\t.section\t.text.k\n" + text, ("k.cu",))
    assert [str(i.line) for i in function.instructions] == ["4", "steps.cuh:7", "5"]
    assert [i.line.as_json() for i in function.instructions if i.line] == [4, "steps.cuh:7", 5]
