"""Variables of a function that a region needs nobody for: temporaries, and tables of constants."""

from __future__ import annotations

import re
from collections.abc import Collection

from orio_py.ctree.file_scope import live_after
from orio_py.ctree.symbols import CDeclaration
from orio_py.spec.task import TuningTask

_NAME = re.compile(r"[A-Za-z_]\w*")
_MORE_THAN_ZEROS = re.compile(r"[1-9A-Za-z]")


def is_temporary(task: TuningTask, name: str, exposed: Collection[str]) -> bool:
    """Whether a local pointer, array, structure or other variable that is no single number is such a one.

    `exposed` are the names whose value from before the region may be used.  A variable that has none there, as nothing
    set it, is a temporary even so.
    """
    near = task.surroundings
    declared = next((d for d in reversed(near.locals) if d.name == name), None)
    if declared is None or name in {d.name for d in task.inputs.all_declarations}:
        return False
    if declared.initialiser is not None or declared.storage & {"static", "extern"}:
        return False
    if declared.is_scalar and (declared.is_integer or declared.is_floating or declared.type in task.types):
        return False
    known = {*near.macros, *near.unit.enumerators}
    if not known.issuperset(_NAME.findall(" ".join(declared.dimensions))) or live_after(near, [name]):
        return False
    return (name not in exposed and not declared.dimensions) or not (
        near.in_loop or near.flow is None or near.flow.changes_before(name, near.inside)
    )


def tells_values(declared: CDeclaration) -> bool:
    """Whether an initialiser says with which values a variable begins: zeros alone in an array of fractions would hide wrong results."""
    zeros = (
        declared.dimensions
        and declared.is_floating
        and not _MORE_THAN_ZEROS.search(declared.initialiser or "")
    )
    return declared.initialiser is not None and not zeros


def table_text(task: TuningTask, name: str) -> str | None:
    """The definition of a local array that holds the constants of its initialiser throughout; None for other variables.

    It is `static`: the function itself fills it before the region.
    """
    near = task.surroundings
    declared = next((d for d in reversed(near.locals) if d.name == name), None)
    if declared is None or name in {d.name for d in task.inputs.all_declarations} or near.flow is None:
        return None
    if declared.initialiser is None or not declared.dimensions or declared.pointers:
        return None
    mentioned = _NAME.findall(" ".join((*declared.dimensions, declared.initialiser)))
    fixed = {*near.macros, *near.unit.enumerators}.issuperset(mentioned)
    function = near.unit.functions.get(near.function.name) if near.function is not None else None
    reached = function is None or name in function.copied_pointers
    if not fixed or reached or near.flow.changes(name, near.inside):
        return None
    text = declared.text if "static" in declared.storage else f"static {declared.text}"
    return f"{text} = {declared.initialiser};"
