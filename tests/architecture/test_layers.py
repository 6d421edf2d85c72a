"""Imports point down, in this order: the contracts of pyproject.toml hold."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = Path(sysconfig.get_path("scripts"))


def test_the_import_contracts_hold():
    tool = SCRIPTS / "lint-imports"
    done = subprocess.run(
        [sys.executable, str(tool), "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


def test_every_package_stands_in_a_layer():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["name"] == "layers")
    known = {name.strip() for layer in layers for name in re.split(r"[|:]", layer)}
    packages = {path.parent.name for path in ROOT.glob("orio_py/*/__init__.py")}
    assert packages <= known
