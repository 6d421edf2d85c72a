"""Configurations: immutable, typed, ordered."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from orio_py.search_space.configuration import Configuration


def test_it_is_an_ordered_mapping() -> None:
    configuration = Configuration({"B": 1, "A": "x"})
    assert list(configuration) == ["B", "A"]
    assert dict(configuration) == {"B": 1, "A": "x"}
    assert configuration.show() == "B=1, A='x'"
    assert "U" not in configuration
    with pytest.raises(KeyError):
        configuration["U"]
    with pytest.raises(TypeError):
        configuration["B"] = 2  # type: ignore[index]


def test_equality_ignores_the_order_but_not_types() -> None:
    assert Configuration({"A": 1, "B": 2}) == Configuration({"B": 2, "A": 1})
    assert hash(Configuration({"A": 1, "B": 2})) == hash(Configuration({"B": 2, "A": 1}))
    assert Configuration({"A": 1}) != Configuration({"A": True})
    assert Configuration({"A": 1}) != Configuration({"A": 1.0})
    assert Configuration({"A": [1]}) != Configuration({"A": (1,)})
    assert Configuration({"A": 1}) == {"A": 1}
    assert Configuration({"A": 1}) != 5


def test_digests_tell_values_and_types_apart() -> None:
    values = [1, True, 1.0, "1", None, [1], (1,), [[1]], [(1,)], float("inf"), float("nan"), 10**40]
    digests = [Configuration({"A": value}).digest for value in values]
    assert len(set(digests)) == len(values)
    assert Configuration({"A": 1, "B": 2}).digest == Configuration({"B": 2, "A": 1}).digest


def test_lists_can_be_hashed_and_copied() -> None:
    configuration = Configuration({"A": [1, (2, 3)], "B": float("nan")})
    assert pickle.loads(pickle.dumps(configuration)) == configuration
    assert len({configuration, Configuration(dict(configuration))}) == 1


def test_one_from_another_process_is_found_here() -> None:
    """Texts have other hashes there."""
    code = (
        "import pickle, sys; from orio_py.search_space.configuration import Configuration as C;"
        "c = C({'A': '-O2'}); hash(c); sys.stdout.buffer.write(pickle.dumps(c))"
    )
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        )
        assert pickle.loads(done.stdout) in {Configuration({"A": "-O2"})}
