"""The disassembler: found, asked, and what it fails at."""

from __future__ import annotations

from pathlib import Path

import pytest

from orio_py.build import disassembler
from orio_py.build.cubin import parameter_layouts
from orio_py.build.disassembler import Disassembler, find_nvdisasm
from orio_py.core.diagnostics import DiagnosticError, EnvironmentProblem
from orio_py.core.resources import CACHE_FOLDER
from orio_py.record.cuda import ParameterLayout
from orio_py.sass.listing import parse_listing
from orio_py.sass.resources import unknown_opcodes

pytest.importorskip("elftools", reason="needs pyelftools, of the extra `cuda`")

CUBINS = Path(__file__).with_name("cubins")
CUBIN = (CUBINS / "kernels_sm_90.cubin").read_bytes()


def test_where_the_parameters_lie():
    found = parameter_layouts(CUBIN)
    assert found["scale"] == ParameterLayout(0x210, ((0, 4), (8, 8), (16, 8)))
    assert found["without_parameters"].places == ()
    older = parameter_layouts((CUBINS / "kernels_sm_75.cubin").read_bytes())
    assert older["scale"] == ParameterLayout(0x160, ((0, 4), (8, 8), (16, 8)))


def program(folder, text):
    path = folder / "nvdisasm"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_there_is_none(monkeypatch):
    with pytest.raises(EnvironmentProblem) as caught:
        find_nvdisasm("/nowhere/nvdisasm")
    (told,) = caught.value.diagnostics
    assert (told.code, told.message) == (
        "ORIO-B060",
        "no disassembler: `/nowhere/nvdisasm` is no program that can be run",
    )
    assert "orio_py[cuda]" in told.help
    monkeypatch.setattr(disassembler, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(EnvironmentProblem):
        find_nvdisasm()


def test_it_fails(tmp_path):
    found = find_nvdisasm(program(tmp_path, "echo 'nvdisasm fatal   : SM90 is too new' >&2; exit 1"))
    with pytest.raises(DiagnosticError) as caught:
        found.listing(CUBIN)
    (told,) = caught.value.diagnostics
    assert told.code == "ORIO-B061"
    assert told.message == "nvdisasm does not read machine code for sm_90: nvdisasm fatal   : SM90 is too new"


def test_a_listing_is_kept(tmp_path):
    log = tmp_path / "log"
    found = Disassembler(program(tmp_path, f"echo called >> {log}; echo listing"))
    token = CACHE_FOLDER.set(tmp_path / "cache")
    try:
        assert found.listing(CUBIN) == found.listing(CUBIN) == "listing\n"
    finally:
        CACHE_FOLDER.reset(token)
    assert log.read_text() == "called\n"


@pytest.mark.nvrtc
@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
def test_stored_cubins_are_read_whole(architecture):
    try:
        found = find_nvdisasm()
    except EnvironmentProblem as problem:
        pytest.skip(problem.diagnostics[0].message)
    cubin = (CUBINS / f"kernels_{architecture}.cubin").read_bytes()
    functions = {function.name: function for function in parse_listing(found.listing(cubin))}
    assert set(functions) >= {"scale", "spilled", "turn", "without_parameters"}
    for function in functions.values():
        assert unknown_opcodes(function.instructions) == {}
        assert all(instruction.control is not None for instruction in function.instructions)
