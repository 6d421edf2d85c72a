"""Variables of a function that a region uses for itself: nothing comes into them from before, nothing reads them after."""

from __future__ import annotations

import re
from collections.abc import Collection

from orio_py.ctree.file_scope import live_after
from orio_py.spec.task import TuningTask

_NAME = re.compile(r"[A-Za-z_]\w*")


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
