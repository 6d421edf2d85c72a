"""What all tests share: the helpers in `tests/support`, and `--update-golden`."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).resolve().parent / "support"))


# The same examples in every run, so that a change and not chance makes a test fail; `make explore` draws others.
settings.register_profile("same", derandomize=True, database=None)
settings.register_profile("explore", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


def pytest_configure(config: pytest.Config) -> None:
    """The tests say `gcc`; on a machine with another C compiler they mean that one."""
    other = shutil.which("clang") or shutil.which("cc")
    if shutil.which("gcc") is None and other is not None:
        folder = tempfile.TemporaryDirectory(prefix="orio-gcc-")
        (Path(folder.name) / "gcc").symlink_to(other)
        os.environ["PATH"] = os.pathsep.join((folder.name, os.environ["PATH"]))
        config.add_cleanup(folder.cleanup)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`@pytest.mark.share(3)`: of the cases of a test one in three runs in `make test`, the others are `proof`."""
    seen: Counter[str] = Counter()
    for item in items:
        if (mark := item.get_closest_marker("share")) is not None:
            test = item.nodeid.partition("[")[0]
            if seen[test] % mark.args[0]:
                item.add_marker(pytest.mark.proof)
            seen[test] += 1


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        default=False,
        help="write what the transformations give now into tests/golden",
    )


def pytest_sessionfinish(session: pytest.Session) -> None:
    """An OpenCL driver may take down its process: it is never loaded into that of the tests."""
    maps = Path("/proc/self/maps")
    loaded = maps.exists() and any(name in maps.read_text() for name in ("libpocl", "libLLVM"))
    if loaded and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        raise AssertionError(
            "a test loaded an OpenCL driver into the process of the tests: use device_process"
        )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(autouse=True, scope="session")
def own_cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The user's cache folder stays as it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


_NUMBERS = count()


@pytest.fixture(scope="session")
def data_folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(autouse=True)
def own_data_folder(data_folders: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A results database of its own for each test, so that none is answered by another."""
    # Not `mktemp` for each: it lists all folders that it has made before.
    folder = data_folders / str(next(_NUMBERS))
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    return folder
