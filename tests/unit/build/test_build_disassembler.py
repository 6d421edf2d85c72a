"""The disassembler: found, asked, and what it fails at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orio_py.build import disassembler
from orio_py.build.cubin import CodeSection, parameter_layouts
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


@pytest.mark.nvrtc
@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
def test_several_cubins_are_listed_by_one_call(architecture, tmp_path):
    """As each by itself, but for lines of source; with jumps in the second and third function of what is listed."""
    try:
        there = find_nvdisasm().path
    except EnvironmentProblem as problem:
        pytest.skip(problem.diagnostics[0].message)
    cubins = [path.read_bytes() for path in sorted(CUBINS.glob(f"*_{architecture}.cubin"))]
    cubins.append(cubins[0])
    log = tmp_path / "log"
    counted = Disassembler(program(tmp_path, f"echo called >> {log}; exec {there} $*"))
    token = CACHE_FOLDER.set(tmp_path / "cache")
    try:
        found = counted.code_listings(cubins)
        assert log.read_text() == "called\n"
        assert counted.code_listings(cubins) == found
        assert log.read_text() == "called\n"
        apart = [counted.listing(cubin) for cubin in cubins]
    finally:
        CACHE_FOLDER.reset(token)
    for one, other in zip(found, apart, strict=True):
        assert without_lines(one) == without_lines(other)
    assert any(i.target for f in parse_listing(found[0]) for i in f.instructions)
    assert all(i.line is None for f in parse_listing(found[0]) for i in f.instructions)


def without_lines(listing):
    return {f.name: [replace(i, line=None) for i in f.instructions] for f in parse_listing(listing)}


def test_code_that_is_relocated_is_listed_by_itself(tmp_path, monkeypatch):
    sections = (CodeSection("k", b"", True),)
    monkeypatch.setattr(disassembler, "code_sections", lambda cubin: sections)
    found = Disassembler(program(tmp_path, 'echo "$1"'))
    token = CACHE_FOLDER.set(tmp_path / "cache")
    try:
        assert found.code_listings([CUBIN]) == ["-c\n"]
    finally:
        CACHE_FOLDER.reset(token)
