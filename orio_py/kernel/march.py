"""What groups that go along an axis plane by plane keep of arrays: planes in rings, and elements in queues.

    slot 2 (k + 1)   ← filled in iteration k          queue 2   x[k + 1][j][i]   ← loaded in iteration k
    slot 1 (k)                                        queue 1   x[k][j][i]
    slot 0 (k - 1)   makes room for the next plane    queue 0   x[k - 1][j][i]

Source: P. Micikevicius, "3D finite difference computation on GPUs using CUDA", GPGPU-2 2009, section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.ctree.nodes import Node

PLANE = "orio_plane"
"""What kernels that march call the number of the iteration whose plane is loaded."""


def slot_name(tile: str, plane: int) -> str:
    """What kernels that march call the first element of a plane in its tile."""
    return f"orio_slot_{tile.removeprefix('orio_')}_{plane}"


def queue_name(queue: str, number: int) -> str:
    """What kernels that march call an element that an item keeps from iteration to iteration."""
    return f"{queue}_{number}"


@dataclass(frozen=True, slots=True)
class PlaneRing:
    """Planes of an array in the tile of this name: `planes` that are read, and room for the next one.

    Each has `size` elements.  In the body plane number `k`, that of the iteration `low + k` of the marched axis from the
    present one on, begins at the element `slot_name(tile, k)`.  `load` fills the plane of iteration number `orio_plane`
    at the slot of the last one, `before` is what it needs that is the same for all planes.
    """

    tile: str
    size: int
    planes: int
    low: int
    load: Node
    before: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueQueue:
    """Elements that an item reads in `length` neighbouring iterations of the marched axis, in scalars `queue_name(name, k)`.

    Number `k` is that of the iteration `low + k` from the present one on; `load` sets the last one to that of iteration
    number `orio_plane`.
    """

    name: str
    type: str
    length: int
    low: int
    load: Node


@dataclass(frozen=True, slots=True)
class MarchPlan:
    """What stays where it is while a group does iterations of the slowest axis one after the other."""

    rings: tuple[PlaneRing, ...] = ()
    queues: tuple[ValueQueue, ...] = ()
