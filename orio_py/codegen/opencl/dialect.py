"""How OpenCL C 1.2 spells what device languages have in common.

Source: The OpenCL Specification 1.2, sections 6.1 (types), 6.12.1 (indices), 6.12.7 (vectors), 6.12.8 (barriers).
"""

from __future__ import annotations

from orio_py.ctree.build import call, const, ident
from orio_py.ctree.nodes import Node, c_ast
from orio_py.kernel.functions import DeviceFunction
from orio_py.kernel.plan import LaunchShape


class OpenCLDialect:
    """OpenCL C."""

    barrier = "barrier(CLK_LOCAL_MEM_FENCE);"
    select = "select"
    absolute_is_unsigned = True
    narrows_in_braces = True

    def local_id(self, d: int) -> str:
        """`get_local_id`."""
        return f"get_local_id({d})"

    def group_id(self, d: int) -> str:
        """`get_group_id`."""
        return f"get_group_id({d})"

    def group_count(self, d: int) -> str:
        """`get_num_groups`."""
        return f"get_num_groups({d})"

    def global_id(self, d: int, launch: LaunchShape) -> str:
        """`get_global_id`."""
        del launch
        return f"get_global_id({d})"

    def global_size(self, d: int, launch: LaunchShape, width: int = 1) -> str:
        """`get_global_size`, times a width."""
        del launch
        text = f"get_global_size({d})"
        return text if width == 1 else f"(long){text} * {width}"

    def item_number(self, launch: LaunchShape) -> str:
        """The item's number in its group."""
        return _linear("get_local_id", "get_local_size", len(launch.block_size))

    def group_number(self, launch: LaunchShape) -> str:
        """The group's number."""
        return _linear("get_group_id", "get_num_groups", len(launch.block_size))

    def type_name(self, kind: str) -> str:
        """The type itself: the generator uses OpenCL C's names."""
        return kind

    def constant(self, name: str) -> str:
        """The name itself: OpenCL C has these macros."""
        return name

    def function(self, name: str, function: DeviceFunction) -> str:
        """The function's name for all types."""
        del name
        return function.name

    def lanes_function(self, name: str, function: DeviceFunction) -> str:
        """The function's name for all types."""
        return self.function(name, function)

    def vector_type(self, kind: str, width: int) -> str:
        """For example `double4`."""
        return f"{kind}{width}"

    def vector_of(self, kind: str, values: list[str]) -> str:
        """For example `(int2)(0, 1)`."""
        return f"({kind}{len(values)})({', '.join(values)})"

    def load(self, kind: str, width: int, address: Node) -> Node:
        """`vload4` and the like."""
        del kind
        return call(f"vload{width}", const(0), address)

    def store(self, width: int, value: Node, address: Node) -> Node:
        """`vstore4` and the like."""
        return call(f"vstore{width}", value, const(0), address)

    def converted(self, kind: str, width: int, value: Node) -> Node:
        """`convert_double4` and the like."""
        return call(f"convert_{kind}{width}", value)

    def half(self, vector: str, width: int, *, upper: bool) -> str:
        """`.lo` or `.hi`."""
        del width
        return f"{vector}.{'hi' if upper else 'lo'}"

    def lane(self, vector: Node, number: int) -> Node:
        """`.s0` to `.sf`."""
        return c_ast.StructRef(vector, ".", ident(f"s{number:x}"))


def _linear(number: str, size: str, dimensions: int) -> str:
    text = f"{number}({dimensions - 1})"
    for dimension in reversed(range(dimensions - 1)):
        text = f"({text})" if "+" in text else text
        text = f"{text} * {size}({dimension}) + {number}({dimension})"
    return text


OPENCL = OpenCLDialect()
