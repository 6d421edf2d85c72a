"""One public name for one thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "orio_py"


def classes() -> dict[str, list[str]]:
    """The modules that define each public class."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(PACKAGE)))
    return found


def test_a_public_class_has_a_name_of_its_own() -> None:
    double = {name: modules for name, modules in classes().items() if len(modules) > 1}
    assert double == {}


def test_packages_do_not_share_names_with_functions_of_the_api() -> None:
    import orio_py

    packages = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert packages & set(orio_py.__all__) == set()
