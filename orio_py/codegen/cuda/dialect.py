"""How CUDA C++ spells what device languages have in common.

The text needs no headers, so that it compiles at run time as well as with a host compiler: limits are numbers,
and vectors are those of `templates/cuda/lanes.cuh.j2`, since CUDA's own have no operators.

Source: CUDA C++ Programming Guide, chapters 7 (extensions) and 17 (mathematical functions); ISO C99, 5.2.4.2.
"""

from __future__ import annotations

from collections.abc import Mapping

from orio_py.ctree.build import call, ident, index
from orio_py.ctree.nodes import Node, c_ast
from orio_py.kernel.functions import DeviceFunction
from orio_py.kernel.plan import LaunchShape

LANES_FUNCTION = "orio_lanes_"
"""How the names of functions of `math.h` for vectors begin."""

_SIDES = "xyz"
_TYPES: Mapping[str, str] = {
    "char": "signed char",
    "uchar": "unsigned char",
    "ushort": "unsigned short",
    "uint": "unsigned int",
    "ulong": "unsigned long",
}
_INFINITE = "__int_as_float(0x7f800000)"
_CONSTANTS: Mapping[str, str] = {
    "INFINITY": _INFINITE,
    "HUGE_VAL": f"(double){_INFINITE}",
    "HUGE_VALF": _INFINITE,
    "NAN": "__int_as_float(0x7fffffff)",
    "M_E": "2.71828182845904523536",
    "M_LOG2E": "1.44269504088896340736",
    "M_LOG10E": "0.43429448190325182765",
    "M_LN2": "0.69314718055994530942",
    "M_LN10": "2.30258509299404568402",
    "M_PI": "3.14159265358979323846",
    "M_PI_2": "1.57079632679489661923",
    "M_PI_4": "0.78539816339744830962",
    "M_1_PI": "0.31830988618379067154",
    "M_2_PI": "0.63661977236758134308",
    "M_2_SQRTPI": "1.12837916709551257390",
    "M_SQRT2": "1.41421356237309504880",
    "M_SQRT1_2": "0.70710678118654752440",
    "CHAR_BIT": "8",
    "CHAR_MAX": "127",
    "CHAR_MIN": "(-128)",
    "SCHAR_MAX": "127",
    "SCHAR_MIN": "(-128)",
    "UCHAR_MAX": "255",
    "SHRT_MAX": "32767",
    "SHRT_MIN": "(-32768)",
    "USHRT_MAX": "65535",
    "INT_MAX": "2147483647",
    "INT_MIN": "(-2147483647 - 1)",
    "UINT_MAX": "4294967295u",
    "LONG_MAX": "9223372036854775807l",
    "LONG_MIN": "(-9223372036854775807l - 1)",
    "ULONG_MAX": "18446744073709551615ul",
    "FLT_MAX": "3.402823466e+38f",
    "FLT_MIN": "1.175494351e-38f",
    "FLT_EPSILON": "1.192092896e-07f",
    "DBL_MAX": "1.7976931348623157e+308",
    "DBL_MIN": "2.2250738585072014e-308",
    "DBL_EPSILON": "2.2204460492503131e-16",
}


class CudaDialect:
    """CUDA C++."""

    barrier = "__syncthreads();"
    select = "orio_select"
    absolute_is_unsigned = False
    narrows_in_braces = False

    def local_id(self, d: int) -> str:
        """`threadIdx`."""
        return f"threadIdx.{_SIDES[d]}"

    def group_id(self, d: int) -> str:
        """`blockIdx`."""
        return f"blockIdx.{_SIDES[d]}"

    def group_count(self, d: int) -> str:
        """`gridDim`."""
        return f"gridDim.{_SIDES[d]}"

    def global_id(self, d: int, launch: LaunchShape) -> str:
        """The number of a thread among all, in 64 bits."""
        return f"(long)blockIdx.{_SIDES[d]} * {launch.block_size[d]} + threadIdx.{_SIDES[d]}"

    def global_size(self, d: int, launch: LaunchShape, width: int = 1) -> str:
        """The number of all threads times a width, in 64 bits."""
        return f"(long)gridDim.{_SIDES[d]} * {launch.block_size[d] * width}"

    def item_number(self, launch: LaunchShape) -> str:
        """The thread's number in its block."""
        items = launch.block_size
        text = f"threadIdx.{_SIDES[len(items) - 1]}"
        for d in reversed(range(len(items) - 1)):
            text = f"({text})" if "+" in text else text
            text = f"{text} * {items[d]} + threadIdx.{_SIDES[d]}"
        return text

    def group_number(self, launch: LaunchShape) -> str:
        """The block's number, in 64 bits."""
        text = f"(long)blockIdx.{_SIDES[len(launch.block_size) - 1]}"
        for d in reversed(range(len(launch.block_size) - 1)):
            text = f"({text})" if "+" in text else text
            text = f"{text} * gridDim.{_SIDES[d]} + blockIdx.{_SIDES[d]}"
        return text

    def type_name(self, kind: str) -> str:
        """For example `unsigned int`."""
        return _TYPES.get(kind, kind)

    def constant(self, name: str) -> str:
        """The number that the macro stands for."""
        return _CONSTANTS.get(name, name)

    def function(self, name: str, function: DeviceFunction) -> str:
        """The function under C's own name, which says its type."""
        del function
        return "orio_isnormal" if name == "isnormal" else name

    def lanes_function(self, name: str, function: DeviceFunction) -> str:
        """The function that takes each lane of vectors to `function`."""
        return f"{LANES_FUNCTION}{self.function(name, function)}"

    def vector_type(self, kind: str, width: int) -> str:
        """For example `orio_vector<double, 4>`."""
        return f"orio_vector<{self.type_name(kind)}, {width}>"

    def vector_of(self, kind: str, values: list[str]) -> str:
        """For example `orio_values<int>(0, 1)`."""
        return f"orio_values<{self.type_name(kind)}>({', '.join(values)})"

    def load(self, kind: str, width: int, address: Node) -> Node:
        """For example `orio_load<4>(&x[i])`."""
        del kind
        return call(f"orio_load<{width}>", address)

    def store(self, width: int, value: Node, address: Node) -> Node:
        """For example `orio_store(v, &y[i])`."""
        del width
        return call("orio_store", value, address)

    def converted(self, kind: str, width: int, value: Node) -> Node:
        """For example `orio_convert<double>(v)`."""
        del width
        return call(f"orio_convert<{self.type_name(kind)}>", value)

    def half(self, vector: str, width: int, *, upper: bool) -> str:
        """For example `orio_half<1>(v)`."""
        return f"{vector}.v[{int(upper)}]" if width == 2 else f"orio_half<{int(upper)}>({vector})"

    def lane(self, vector: Node, number: int) -> Node:
        """For example `v.v[0]`."""
        return index(c_ast.StructRef(vector, ".", ident("v")), number)


CUDA = CudaDialect()
