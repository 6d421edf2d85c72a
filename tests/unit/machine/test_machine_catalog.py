"""The files of GPU models: complete, sourced, and in agreement with themselves."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from orio_py.machine.catalog import DATA, gpu_model, gpu_models, read_model

WANTED = (
    "sm_35",
    "sm_52",
    "sm_60",
    "sm_61",
    "sm_70",
    "sm_75",
    "sm_80",
    "sm_86",
    "sm_87",
    "sm_89",
    "sm_90",
    "sm_100",
    "sm_103",
    "sm_120",
)


def test_the_architectures_in_order():
    assert tuple(gpu_models()) == WANTED


@pytest.mark.parametrize("name", WANTED)
def test_the_limits_of_a_model_agree_with_each_other(name):
    model = gpu_models()[name]
    assert model.max_threads_per_block <= model.max_threads_per_multiprocessor
    assert model.shared_bytes_per_block <= model.shared_bytes_per_block_opt_in
    # What a block may ask for, and what the driver keeps, is all that there is; before sm_70 a block got 48 KiB.
    whole = model.shared_bytes_per_block_opt_in + model.shared_reserved_bytes
    assert model.shared_bytes_per_multiprocessor == max(model.shared_configurations_bytes)
    assert whole == (model.shared_bytes_per_multiprocessor if int(name[3:]) >= 70 else 49152)
    assert list(model.shared_configurations_bytes) == sorted(model.shared_configurations_bytes)
    assert model.registers_per_multiprocessor % model.register_partitions == 0
    assert all(
        value not in (0, ())
        for key, value in asdict(model).items()
        if "reserved" not in key and key != "products"
    )


def test_names_of_an_architecture():
    assert gpu_model("sm_90") is gpu_model("compute_90") is gpu_model("sm_90a") is gpu_models()["sm_90"]
    assert gpu_model("sm_30") is None
    assert gpu_model("90") is None


def test_products_have_multiprocessors():
    hopper = gpu_models()["sm_90"].product("h100 sxm")
    assert hopper is not None
    assert hopper.multiprocessors == 132  # H100 whitepaper, table 4
    assert gpu_models()["sm_90"].product("H1") is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("warp_size = 32\n", "", "missing or unknown: warp_size"),
        ("warp_size = 32\n", "warp_size = 32\ncolour = 1\n", "missing or unknown: colour"),
        ('[registers]\nsource = "', '[registers]\nsource = ""\n# "', r"\[registers\] names no source"),
        (
            'multiprocessors = 132\nsource = "',
            'multiprocessors = 132\nsource = ""\n# "',
            "a product names no source",
        ),
    ],
)
def test_incomplete_files_are_refused(tmp_path, old, new, message):
    text = (DATA / "sm_90.toml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "sm_90.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_model(path)
