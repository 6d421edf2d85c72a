"""The compute capabilities that are known: one file of `data` each, with its sources."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from orio_py.core.registry import Registry
from orio_py.machine.device import GpuModel, GpuProduct

DATA = Path(__file__).with_name("data")

_NAME = re.compile(r"(?:sm|compute)_(\d+)[af]?")


@cache
def gpu_models() -> Registry[GpuModel]:
    """All models by architecture (`sm_90`), oldest first."""
    files = sorted(DATA.glob("sm_*.toml"), key=lambda path: int(path.stem.removeprefix("sm_")))
    return Registry("GPU architecture", [(path.stem, read_model(path)) for path in files])


def gpu_model(architecture: str) -> GpuModel | None:
    """The model of `sm_90`, and of `sm_90a` or `compute_90`, which have the same limits; None for others."""
    found = _NAME.fullmatch(architecture)
    return gpu_models().get(f"sm_{found[1]}") if found else None


def read_model(path: Path) -> GpuModel:
    """The model that a file describes.

    Raises ValueError when a field is missing, unknown, or has no source: each table names its own.
    """
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    products = content.pop("products", [])
    values: dict[str, Any] = {"architecture": path.stem, "generation": content.pop("generation")}
    for name, table in content.items():
        if not table.pop("source", ""):
            raise ValueError(f"{path.name}: the table [{name}] names no source")
        values |= {key: _frozen(value) for key, value in table.items()}
    if any(not product.pop("source", "") for product in products):
        raise ValueError(f"{path.name}: a product names no source")
    values["products"] = tuple(GpuProduct(**product) for product in products)
    wanted = {field.name for field in fields(GpuModel)}
    if wrong := sorted(wanted ^ set(values)):
        raise ValueError(f"{path.name}: missing or unknown: {', '.join(wrong)}")
    return GpuModel(**values)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - TOML's lists have no type
