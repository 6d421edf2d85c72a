"""How CUDA C++ spells what device trees hold.

The text needs no headers, so that it compiles at run time as well as with a host compiler: limits are numbers,
and vectors are those of `templates/cuda/lanes.cuh.j2`, since CUDA's own have no operators.

Source: CUDA C++ Programming Guide, chapters 7 (extensions) and 17 (mathematical functions); ISO C99, 5.2.4.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from math import prod

from orio_py.codegen.device import ArgumentKind, KernelArgument, kernel_arguments
from orio_py.codegen.offload.device_tree import (
    AtomicOp,
    AtomicUpdate,
    DeviceFeatures,
    Query,
    VectorOp,
    VectorOperation,
    WorkItem,
)
from orio_py.codegen.offload.dialect import wrapped_head
from orio_py.ctree.build import as_long, binary, call, cast_to, ident, index, unary
from orio_py.ctree.nodes import Node, c_ast
from orio_py.kernel.functions import DeviceFunction, device_function
from orio_py.kernel.plan import Direction, KernelPlan

LANES_FUNCTION = "orio_lanes_"
"""How the names of functions of `math.h` for vectors begin."""

_WIDTH = 110
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


_ATOMICS: Mapping[AtomicOp, str] = {
    AtomicOp.ADD: "atomicAdd",
    AtomicOp.SUBTRACT: "atomicSub",
    AtomicOp.AND: "atomicAnd",
    AtomicOp.OR: "atomicOr",
    AtomicOp.XOR: "atomicXor",
    AtomicOp.LEAST: "atomicMin",
    AtomicOp.GREATEST: "atomicMax",
}
_ORDERED = frozenset({AtomicOp.LEAST, AtomicOp.GREATEST})
_WIDE: Mapping[str, str] = {"long": "long long", "ulong": "unsigned long long"}
"""The types that atomic functions have for integers of 64 bits."""


def is_native(node: AtomicUpdate) -> bool:
    """Whether CUDA has a function for an update: additions of `double` since compute capability 6.0."""
    if node.type in {"float", "double"}:
        return node.operation is AtomicOp.ADD and node.type == node.element
    return node.operation in _ATOMICS


class CudaDialect:
    """CUDA C++."""

    # Threads of a warp, on all devices (CUDA C++ Programming Guide, section 4.1).
    features = DeviceFeatures(warp=32, item="thread", group="block", divides_to_unroll=True)
    group_memory = "__shared__"
    alignment = "__align__(16)"
    absolute_is_unsigned = False
    narrows_in_braces = False
    ids_are_long = True

    def work_item(self, node: WorkItem) -> Node:
        """`threadIdx` and the like; numbers among all threads in 64 bits where they have to be."""
        side = _SIDES[node.dimension]

        def scaled(count: Node) -> Node:
            return binary("*", count if node.is_narrow else as_long(count), node.items)

        match node.query:
            case Query.LOCAL_ID:
                return ident(f"threadIdx.{side}")
            case Query.GROUP_ID:
                return ident(f"blockIdx.{side}")
            case Query.GROUP_COUNT:
                return ident(f"gridDim.{side}")
            case Query.GLOBAL_ID:
                return binary("+", scaled(ident(f"blockIdx.{side}")), ident(f"threadIdx.{side}"))
            case Query.GLOBAL_SIZE:
                return scaled(ident(f"gridDim.{side}"))

    def barrier(self, *, is_global: bool) -> Node:
        """`__syncthreads`, behind which all memory is seen."""
        del is_global
        return call("__syncthreads")

    def shuffle(self, value: Node, distance: Node, *, back: bool) -> Node:
        """`__shfl_down_sync` or `__shfl_up_sync` of a whole warp."""
        return call(
            f"__shfl_{'up' if back else 'down'}_sync",
            c_ast.Constant("unsigned int", "0xffffffffu"),
            value,
            distance,
        )

    def atomic(self, node: AtomicUpdate) -> Node:
        """`atomicAdd` and the like; a loop around `atomicCAS` for what the hardware does not do."""
        function = _ATOMICS.get(node.operation)
        if function is None or not is_native(node):
            kind = node.seen
            return call(f"orio_atomic<orio_{node.operation}>", self._address(node, kind), node.value)
        kind, value = node.type, node.value
        if kind in _WIDE:
            kind = _WIDE[kind if node.operation in _ORDERED else "ulong"]
            value = cast_to(kind, value)
            if node.operation is AtomicOp.SUBTRACT:
                function, value = _ATOMICS[AtomicOp.ADD], unary("-", value)
        return call(function, self._address(node, kind), value)

    def _address(self, node: AtomicUpdate, kind: str) -> Node:
        """The address of what is updated, as one of a type."""
        address = unary("&", node.target)
        return address if kind == node.element else cast_to(f"{self.type_name(kind)} *", address)

    def vector(self, node: VectorOperation) -> Node:
        """`orio_load<4>` and the like."""
        kind, upper = self.type_name(node.type), int(node.operation is VectorOp.UPPER)
        match node.operation:
            case VectorOp.LOAD:
                return call(f"orio_load<{node.width}>", *node.operands)
            case VectorOp.STORE:
                return call("orio_store", *node.operands)
            case VectorOp.CONVERT:
                return call(f"orio_convert<{kind}>", *node.operands)
            case VectorOp.SELECT:
                return call("orio_select", *node.operands)
            case VectorOp.VALUES:
                return call(f"orio_values<{kind}>", *node.operands)
            case VectorOp.CALL:
                return call(lanes_function_name(node), *node.operands)
            case VectorOp.LOWER | VectorOp.UPPER if node.width > 2:
                return call(f"orio_half<{upper}>", *node.operands)
            case VectorOp.LOWER | VectorOp.UPPER | VectorOp.FIRST:
                return index(c_ast.StructRef(node.operands[0], ".", ident("v")), upper)

    def type_name(self, kind: str) -> str:
        """For example `unsigned int`."""
        return _TYPES.get(kind, kind)

    def vector_type(self, kind: str, width: int) -> str:
        """For example `orio_vector<double, 4>`."""
        return f"orio_vector<{self.type_name(kind)}, {width}>"

    def constant(self, name: str) -> str:
        """The number that the macro stands for."""
        return _CONSTANTS.get(name, name)

    def function(self, name: str, function: DeviceFunction) -> str:
        """The function under C's own name, which says its type."""
        del function
        return "orio_isnormal" if name == "isnormal" else name

    def head(self, plan: KernelPlan, used: Set[str]) -> str:
        """The qualifiers, the name and the parameters."""
        parameters = [_parameter(argument, used) for argument in kernel_arguments(plan)]
        return wrapped_head(f'extern "C" __global__ void {_bounds(plan)} {plan.name}(', parameters, _WIDTH)


def lanes_function_name(node: VectorOperation) -> str:
    """The function that takes each lane of vectors to the function that an operation calls."""
    function = device_function(node.called)
    assert function is not None
    return f"{LANES_FUNCTION}{CUDA.function(node.called, function)}"


def _bounds(plan: KernelPlan) -> str:
    """What tells the compiler how many registers a thread can have."""
    threads, cuda = prod(plan.launch.block_size), plan.options.cuda
    if cuda.max_registers is not None:
        # One kernel cannot have both qualifiers (section 7.39).
        return f"__maxnreg__({cuda.max_registers})"
    least = f", {cuda.least_blocks}" if cuda.least_blocks is not None else ""
    return f"__launch_bounds__({threads}{least})"


def _parameter(argument: KernelArgument, used: Set[str]) -> str:
    """A parameter; a number that no statement uses has no name, so that compilers do not warn of it."""
    kind = CUDA.type_name(argument.device_type)
    match argument.kind:
        case ArgumentKind.BUFFER:
            constant = "const " if argument.direction is Direction.IN else ""
            return f"{constant}{kind} *__restrict__ {argument.name}"
        case ArgumentKind.PARTIALS:
            return f"{kind} *__restrict__ {argument.name}"
        case ArgumentKind.GROUP:
            return f"const {kind} {argument.name}"
        case _:
            return f"const {kind} {argument.name}" if argument.name in used else f"const {kind}"


CUDA = CudaDialect()
