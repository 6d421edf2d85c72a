"""What is read from stored cubins, against the messages of ptxas that stand beside them."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest
from ptxas_log import told_by_ptxas

from orio_py.build.cubin import cubin_architecture, read_cubin
from orio_py.core.diagnostics import EnvironmentProblem

pytest.importorskip("elftools", reason="needs pyelftools, of the extra `cuda`")

CUBINS = Path(__file__).with_name("cubins")
ARCHITECTURES = ("sm_75", "sm_90")


def stored(architecture):
    return (CUBINS / f"kernels_{architecture}.cubin").read_bytes()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_as_ptxas_says(architecture):
    told = told_by_ptxas((CUBINS / f"kernels_{architecture}.txt").read_text())
    found = {kernel.name: kernel for kernel in read_cubin(stored(architecture))}
    assert sorted(found) == sorted(told) == ["recursive", "scale", "spilled", "turn", "without_parameters"]
    for name, kernel in found.items():
        assert kernel.registers == told[name].registers
        assert kernel.shared_bytes == told[name].shared
        assert kernel.barriers == told[name].barriers
        assert kernel.spill_store_bytes == told[name].stored
        assert kernel.spill_load_bytes == told[name].loaded
        if told[name].constant is not None:
            assert kernel.constant_bytes == told[name].constant
        if name != "recursive":  # the messages call it zero, with a warning that it is not known
            assert kernel.stack_bytes == told[name].stack


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_what_ptxas_does_not_say(architecture):
    found = {kernel.name: kernel for kernel in read_cubin(stored(architecture))}
    assert {name: kernel.parameter_bytes for name, kernel in found.items()} == {
        "recursive": 8,
        "scale": 24,  # an int, padded, a double and a pointer
        "spilled": 16,
        "turn": 16,
        "without_parameters": 0,
    }
    assert found["scale"].max_threads == 128
    assert found["turn"].max_threads is None
    assert found["recursive"].stack_bytes is None
    assert found["spilled"].spills
    assert not found["scale"].spills
    assert cubin_architecture(stored(architecture)) == architecture


def test_what_is_no_cubin():
    with pytest.raises(ValueError, match="no cubin"):
        read_cubin(b"int main(void) { return 0; }")
    other = bytearray(stored("sm_90"))
    other[18:20] = (62).to_bytes(2, "little")  # the machine of the file: x86-64
    with pytest.raises(ValueError, match="another machine"):
        read_cubin(bytes(other))


def test_machine_code_of_old_architectures_is_not_searched_for_spills():
    old = bytearray(stored("sm_75"))
    assert old[49] == 75  # the second byte of the flags
    old[49] = 61
    kernels = {kernel.name: kernel for kernel in read_cubin(bytes(old))}
    assert kernels["spilled"].spill_store_bytes is None
    assert not kernels["spilled"].spills
    assert kernels["spilled"].registers == 24


def test_instructions_behind_a_full_list_are_counted(monkeypatch):
    whole = {kernel.name: kernel for kernel in read_cubin(stored("sm_90"))}["spilled"]
    cut = bytearray(stored("sm_90"))
    size = (
        whole.spill_store_bytes + whole.spill_load_bytes
    )  # each instruction moves 8 bytes, and takes 8 in the list
    start = cut.index(struct.pack("<BBH", 4, 0x55, size)) + 4
    for entry in range(start + size // 16 * 8, start + size, 8):
        cut[entry] = 0  # no spill
    monkeypatch.setattr("orio_py.build.cubin._FULL_BYTES", len(cut))
    half = {kernel.name: kernel for kernel in read_cubin(bytes(cut))}["spilled"]
    assert half.spill_store_bytes + half.spill_load_bytes == size // 16 * 8
    monkeypatch.setattr("orio_py.build.cubin._FULL_BYTES", 0)
    full = {kernel.name: kernel for kernel in read_cubin(bytes(cut))}["spilled"]
    assert full == whole


def test_without_pyelftools_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "elftools.common.exceptions", None)
    with pytest.raises(EnvironmentProblem) as caught:
        read_cubin(stored("sm_90"))
    (told,) = caught.value.diagnostics
    assert told.code == "ORIO-B020"
    assert "pip install 'orio_py[cuda]'" in (told.help or "")
