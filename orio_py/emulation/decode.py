"""Instructions as functions of registers, made once before they are executed many times."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

from orio_py.emulation import arithmetic as compute
from orio_py.emulation.lanes import (
    FALSE,
    MASK,
    TRUE,
    UNKNOWN,
    UNKNOWN_TRUTH,
    ZERO,
    Array,
    Lanes,
    apply,
    compare,
    conjunction,
    constant,
    disjunction,
    inverse,
    signed,
    wide,
)
from orio_py.emulation.operands import (
    LOWEST,
    Compute,
    DecodedInstruction,
    LaunchValues,
    OperandReader,
    RegisterFile,
)
from orio_py.sass.instruction import (
    Constant,
    Immediate,
    Instruction,
    MemoryOperand,
    NamedOperand,
    Register,
)
from orio_py.sass.registers import Place, results, width


def decode(instruction: Instruction, environment: LaunchValues) -> DecodedInstruction:
    """The operation of an instruction."""
    reader = OperandReader(instruction, environment)
    places: list[Place | None] = []
    for operand in results(instruction):
        assert isinstance(operand, Register), operand
        count = width(instruction) if operand.file in ("R", "UR") else 1
        places += [
            None if operand.number is None else (operand.file, operand.number + k) for k in range(count)
        ]
    address = next((o for o in instruction.operands if isinstance(o, MemoryOperand)), None)
    maker = _MAKERS.get(instruction.opcode)
    made = maker(reader) if maker is not None else None
    return DecodedInstruction(
        instruction,
        tuple(places),
        made,
        reader.predicate(instruction.predicate) if instruction.predicate is not None else None,
        reader.comparison(),
        reader.address(address) if address is not None else None,
    )


def _zero(state: RegisterFile) -> Lanes:
    return ZERO


def _truth(value: Lanes) -> Lanes:
    return UNKNOWN_TRUTH if value.is_unknown else Lanes(value.data != 0, value.known)


def _more_than(count: int, value: Lanes) -> Lanes:
    return UNKNOWN_TRUTH if value.is_unknown else Lanes(value.data > count, value.known)


def _with_carries(reader: OperandReader, value: tuple[Lanes, ...], beyond: Lanes) -> tuple[Lanes, ...]:
    """A result, and its carries where the instruction has such results, in the order of the operands."""
    found: list[Lanes] = []
    carries = 0
    for operand in reader.results:
        assert isinstance(operand, Register), operand
        if operand.file in ("R", "UR"):
            found += value
        else:
            found.append(_more_than(carries, beyond))
            carries += 1
    return tuple(found)


def _split(value: Lanes) -> tuple[Lanes, Lanes]:
    if value.is_unknown:
        return UNKNOWN, UNKNOWN
    return Lanes(value.data & MASK, value.known), Lanes(value.data >> 32 & MASK, value.known)


def _add(reader: OperandReader) -> Compute:
    if "64" in reader.words:
        pairs = [reader.pair(place) for place in range(len(reader.numbers))]

        def add_pairs(state: RegisterFile) -> tuple[Lanes, ...]:
            total = pairs[0](state)
            for pair in pairs[1:]:
                total = _sum(total, pair(state))
            return _with_carries(reader, _split(total), UNKNOWN)

        return add_pairs
    terms = [reader.number(place, cut=False) for place in range(len(reader.numbers))] + [reader.carry()]
    if "X" not in reader.words:
        terms.pop()

    def add(state: RegisterFile) -> tuple[Lanes, ...]:
        total, beyond = compute.carried_sum([term(state) for term in terms])
        return _with_carries(reader, (total,), beyond)

    return add


def _sum(a: Lanes, b: Lanes) -> Lanes:
    if a.is_unknown or b.is_unknown:
        return UNKNOWN
    return Lanes(a.data + b.data, a.known if b.known is True else a.known & b.known)


def _multiply(reader: OperandReader) -> Compute:
    a, b = reader.number(0), reader.number(1)
    words = reader.words
    if words & {"WIDE", "HI"}:
        c, carry = reader.pair(2), reader.carry()
        make = compute.multiply_add_wide if "WIDE" in words else compute.multiply_add_high

        def multiply_wide(state: RegisterFile) -> tuple[Lanes, ...]:
            added = c(state)
            value = make(words, a(state), b(state), _sum(added, carry(state)))
            is_plain = len(reader.results) == 1 or value[0].is_unknown or added.is_unknown
            beyond = UNKNOWN if is_plain else _overflow(value, added)
            return _with_carries(reader, value, beyond)

        return multiply_wide
    c, carry = reader.number(2), reader.carry()
    return lambda state: _with_carries(
        reader, compute.multiply_add(words, a(state), b(state), _sum(c(state), carry(state))), UNKNOWN
    )


def _overflow(value: tuple[Lanes, ...], added: Lanes) -> Lanes:
    """Whether a sum of 64 bits without sign is less than what was added."""
    total = wide(value[0], value[1])
    known = total.known if added.known is True else total.known & added.known
    return Lanes((total.data ^ LOWEST < added.data ^ LOWEST).astype("int64"), known)


def _compare(reader: OperandReader) -> Compute:
    words = reader.words
    kind = next((word for word in reader.instruction.modifiers if word in _RELATIONS), None)
    is_long = bool(words & {"64", "U64", "S64"})
    a, b = (reader.pair(0), reader.pair(1)) if is_long else (reader.number(0), reader.number(1))
    has_sign = not words & {"U32", "U64"}
    old, low = reader.condition(0), reader.condition(1)
    join = disjunction if "OR" in words else conjunction if "AND" in words else None
    relation = _RELATIONS.get(kind or "")

    def order(x: Array, y: Array) -> tuple[Array, Array]:
        if is_long:
            return (x, y) if has_sign else (x ^ LOWEST, y ^ LOWEST)
        return (signed(x), signed(y)) if has_sign else (x, y)

    if relation is None or join is None:
        return lambda _: tuple(UNKNOWN_TRUTH for _ in reader.results)
    relates = relation

    def decide(state: RegisterFile) -> tuple[Lanes, ...]:
        left, right = a(state), b(state)
        found = compare(lambda x, y: relates(*order(x, y)), left, right)
        if "EX" in words:  # of equal upper halves, the lower ones decide
            same = compare(lambda x, y: x == y, left, right)
            found = disjunction(
                conjunction(same, low(state)), conjunction(inverse(same), _strict(kind, found, same))
            )
        before = old(state)
        both = (join(found, before), join(inverse(found), before))
        return tuple(both[: len(reader.results)])

    return decide


def _strict(kind: str | None, found: Lanes, same: Lanes) -> Lanes:
    return found if kind not in ("LE", "GE") else conjunction(found, inverse(same))


_RELATIONS: Mapping[str, Callable[[Array, Array], Array]] = {
    "LT": lambda x, y: x < y,
    "LE": lambda x, y: x <= y,
    "GT": lambda x, y: x > y,
    "GE": lambda x, y: x >= y,
    "EQ": lambda x, y: x == y,
    "NE": lambda x, y: x != y,
}


def _logic(reader: OperandReader) -> Compute:
    a, b, c = (reader.number(place) for place in range(3))
    table = reader.numbers[3] if len(reader.numbers) > 3 else None
    if not isinstance(table, Immediate):
        return lambda _: tuple(UNKNOWN for _ in reader.results)
    lut = int(table.value)
    is_plain = all(p.number is None for p in reader.predicates)

    def combine(state: RegisterFile) -> tuple[Lanes, ...]:
        value = compute.logic(a(state), b(state), c(state), lut)
        truth = _truth(value) if is_plain else UNKNOWN_TRUTH
        return tuple(
            value if isinstance(o, Register) and o.file in ("R", "UR") else truth for o in reader.results
        )

    return combine


def _predicate_logic(reader: OperandReader) -> Compute:
    inputs = [reader.predicate(p) for p in reader.predicates[:3]]
    tables = [int(o.value) for o in reader.numbers if isinstance(o, Immediate)]
    if len(inputs) != 3 or not tables:
        return lambda _: tuple(UNKNOWN_TRUTH for _ in reader.results)

    def combine(state: RegisterFile) -> tuple[Lanes, ...]:
        values = [get(state) for get in inputs]
        return tuple(
            _look_up(values, table) for table, _ in zip([*tables, 0, 0], reader.results, strict=False)
        )

    return combine


def _look_up(values: list[Lanes], table: int) -> Lanes:
    """The entry of a table of eight whose number three conditions make; known as soon as no other one differs."""
    found = FALSE
    for number in range(8):
        if table >> number & 1:
            parts = [v if number >> 2 - k & 1 else inverse(v) for k, v in enumerate(values)]
            found = disjunction(found, conjunction(conjunction(parts[0], parts[1]), parts[2]))
    return TRUE if table & 0xFF == 0xFF else found


def _shift(reader: OperandReader) -> Compute:
    low, amount, high = (reader.number(place) for place in range(3))
    return lambda state: (compute.shift(reader.words, low(state), amount(state), high(state)),)


def _scale(reader: OperandReader) -> Compute:
    words = reader.words
    a, b = reader.number(0), reader.number(1, cut=False)
    has_high = "HI" in words and "SX32" not in words
    high = reader.number(2) if has_high else _zero
    amount = reader.number(3 if has_high else 2)
    carry = reader.carry()

    def scale(state: RegisterFile) -> tuple[Lanes, ...]:
        total, beyond = compute.scaled_sum(
            words, a(state), b(state), high(state), amount(state), carry(state)
        )
        return _with_carries(reader, (total,), beyond)

    return scale


def _select(reader: OperandReader) -> Compute:
    a, b, which = reader.number(0), reader.number(1), reader.condition(0)
    return lambda state: (apply(_choose, a(state), b(state), which(state)),)


def _choose(x: Array, y: Array, condition: Array) -> Array:
    return condition * x + ~condition * y


def _move(reader: OperandReader) -> Compute:
    if "64" in reader.words:
        pair = reader.pair(0)
        return lambda state: _split(pair(state))
    value = reader.number(0)
    return lambda state: (value(state),)


def _load_constant(reader: OperandReader) -> Compute:
    operand = reader.numbers[0]
    count = width(reader.instruction)
    if not isinstance(operand, Constant) or reader.words & {"U8", "S8", "U16", "S16"}:
        return lambda _: (UNKNOWN,) * count
    values = tuple(reader.environment.constants.get(operand.offset + 4 * k, UNKNOWN) for k in range(count))
    if operand.bank != 0 or operand.index is not None:
        values = (UNKNOWN,) * count
    return lambda _: values


def _special(reader: OperandReader) -> Compute:
    operand = reader.numbers[0]
    name = operand.text if isinstance(operand, NamedOperand) else ""
    value = reader.environment.special.get(name, UNKNOWN)
    count = width(reader.instruction)
    return lambda _: (value, *((ZERO if name == "SRZ" else UNKNOWN,) * (count - 1)))


def _half(reader: OperandReader) -> Compute | None:
    """`HFMA2 R1, -RZ, RZ, a, b` is how the compiler writes a constant: two halves."""
    first, second, *rest = reader.numbers
    zeros = all(isinstance(o, Register) and o.number is None for o in (first, second))
    values = [o.value for o in rest if isinstance(o, Immediate)]
    if not zeros or len(values) != 2:
        return None
    upper, lower = (struct.unpack("<H", struct.pack("<e", float(v)))[0] for v in values)
    fixed = (constant(upper << 16 | lower),)
    return lambda _: fixed


def _smaller(reader: OperandReader) -> Compute:
    a, b, which = reader.number(0), reader.number(1), reader.condition(0)

    def choose(state: RegisterFile) -> tuple[Lanes, ...]:
        value = compute.smaller(reader.words, a(state), b(state), which(state))
        return tuple(
            value if isinstance(o, Register) and o.file in ("R", "UR") else UNKNOWN_TRUTH
            for o in reader.results
        )

    return choose


def _add_and_choose(reader: OperandReader) -> Compute:
    a, b, c, which = reader.number(0), reader.number(1), reader.number(2), reader.condition(0)
    return lambda state: (
        compute.smaller(reader.words, apply(lambda x, y: x + y, a(state), b(state)), c(state), which(state)),
    )


def _unary(function: Callable[[Array], Array]) -> Callable[[OperandReader], Compute]:
    def make(reader: OperandReader) -> Compute:
        value = reader.number(0)
        return lambda state: (apply(function, value(state)),)

    return make


def _permute(reader: OperandReader) -> Compute:
    a, selector, b = (reader.number(place) for place in range(3))
    return lambda state: (compute.permute(a(state), selector(state), b(state)),)


def _to_float(reader: OperandReader) -> Compute:
    if "F64" in reader.words or "F16" in reader.words:
        return lambda _: (UNKNOWN,) * width(reader.instruction)
    value = reader.pair(0) if reader.words & {"U64", "S64"} else reader.number(0)
    return lambda state: (compute.to_float(reader.words, value(state)),)


def _from_float(reader: OperandReader) -> Compute:
    if "F64" in reader.words or "F16" in reader.words:
        return lambda _: (UNKNOWN,) * width(reader.instruction)
    value = reader.number(0)
    return lambda state: compute.from_float(reader.words, value(state))


def _function(reader: OperandReader) -> Compute | None:
    if reader.instruction.modifiers[:1] != ("RCP",):
        return None
    value = reader.number(0)
    return lambda state: (compute.reciprocal(value(state)),)


_MAKERS: Mapping[str, Callable[[OperandReader], Compute | None]] = {
    **dict.fromkeys(("IADD3", "UIADD3", "VIADD", "IADD", "UIADD", "UVIADD"), _add),
    **dict.fromkeys(("IMAD", "UIMAD"), _multiply),
    **dict.fromkeys(("ISETP", "UISETP"), _compare),
    **dict.fromkeys(("LOP3", "ULOP3"), _logic),
    **dict.fromkeys(("PLOP3", "UPLOP3"), _predicate_logic),
    **dict.fromkeys(("SHF", "USHF"), _shift),
    **dict.fromkeys(("LEA", "ULEA"), _scale),
    **dict.fromkeys(("SEL", "USEL", "FSEL"), _select),
    **dict.fromkeys(("MOV", "UMOV", "R2UR"), _move),
    **dict.fromkeys(("LDC", "ULDC", "LDCU"), _load_constant),
    **dict.fromkeys(("S2R", "S2UR", "CS2R"), _special),
    **dict.fromkeys(("IMNMX", "VIMNMX", "UIMNMX", "UVIMNMX"), _smaller),
    **dict.fromkeys(("PRMT", "UPRMT"), _permute),
    **dict.fromkeys(("POPC", "UPOPC"), _unary(compute.bit_count)),
    **dict.fromkeys(("FLO", "UFLO"), _unary(compute.leading_bit)),
    "IABS": _unary(lambda x: abs(signed(x))),
    "VIADDMNMX": _add_and_choose,
    "HFMA2": _half,
    "I2F": _to_float,
    "I2FP": _to_float,
    "F2I": _from_float,
    "MUFU": _function,
}
