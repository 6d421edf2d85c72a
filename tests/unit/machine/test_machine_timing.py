"""The files of GPU products: complete, sourced, and in agreement with the architectures' limits."""

from __future__ import annotations

import pytest

from orio_py.machine.catalog import gpu_model
from orio_py.machine.timing import TIMINGS, Confidence, Resource, gpu_timing, gpu_timings, read_timing


def test_the_products_that_are_known():
    wanted = {"Tesla K20c", "Titan X (Pascal)", "V100", "T4", "A100", "H100 PCIe", "H100 SXM", "H200 SXM"}
    assert wanted <= set(gpu_timings())


@pytest.mark.parametrize("name", gpu_timings())
def test_a_product_agrees_with_its_architecture(name):
    timing = gpu_timings()[name]
    product = timing.model.product(name)
    assert product is not None
    assert product.multiprocessors == timing.multiprocessors.value
    latency = {resource: parts.latency.value for resource, parts in timing.resources.items()}
    assert latency[Resource.L1] < latency[Resource.L2] < latency[Resource.DRAM]
    assert all(parts.gap.value > 0 for parts in timing.resources.values())
    # A partition has its arithmetic units once: the gap tells how many lanes of a warp they take.
    assert 0.5 <= timing.resources[Resource.FP32].gap.value <= 2.0


def test_names_of_a_product():
    assert gpu_timing("h200 sxm") is gpu_timing("sm_90") is gpu_timing("sm_90a") is gpu_timings()["H200 SXM"]
    assert gpu_timing("H1") is None
    assert gpu_timing("sm_30") is None


def test_every_resource_has_a_label():
    assert len({resource.label for resource in Resource}) == len(Resource)


def test_what_was_measured_is_told_apart_from_what_is_assumed():
    """Fixed latencies of sm_90 stand in the machine code; that of special functions was not measured."""
    timing = gpu_timings()["H200 SXM"]
    assert timing.resources[Resource.FP32].latency.confidence is Confidence.CERTAIN
    assert timing.resources[Resource.SFU].latency.confidence is Confidence.UNCERTAIN
    assert "latency of sfu" in timing.uncertain
    assert "latency of fp32" not in timing.uncertain


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('source = "sheet" }', 'source = "nowhere" }', "names no source"),
        ('confidence = "certain"', 'confidence = "sure"', "tells no confidence"),
        ("clock_mhz", "clock", "missing or unknown: clock, clock_mhz"),
        ("[resources.sfu]", "[resources.sfa]", "missing or unknown: sfa, sfu"),
    ],
)
def test_incomplete_files_are_refused(tmp_path, old, new, message):
    text = (TIMINGS / "h200_sxm.toml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "h200_sxm.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_timing(path)


def test_architectures_before_the_oldest_wheel_are_known():
    for name in ("sm_35", "sm_61", "sm_70"):
        assert gpu_model(name) is not None
