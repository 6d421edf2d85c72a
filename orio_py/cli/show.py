"""Numbers and values as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from textwrap import fill

from orio_py.core.expr import Value, show
from orio_py.record.measurement import Clock, Timing
from orio_py.record.prediction_trust import PredictionTrust
from orio_py.record.trial import CounterSource, CounterValue

TEXT_WIDTH = 100

_SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def show_seconds(seconds: float) -> str:
    """A duration with three significant digits and a fitting unit.

    >>> show_seconds(0.00312)
    '3.12 ms'
    """
    if seconds >= 120.0:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest} s"
    for scale, unit in _SCALES:
        if seconds >= scale:
            return f"{_three_digits(seconds / scale)} {unit}"
    return "0 s" if seconds == 0 else f"{_three_digits(seconds / 1e-9)} ns"


def show_timing(timing: Timing) -> str:
    """Median and median absolute deviation; an emulated time is called so."""
    if timing.clock is Clock.EMULATED:
        return f"{show_seconds(timing.median_s)}, emulated"
    return f"{show_seconds(timing.median_s)} ± {show_seconds(timing.mad_s)}"


def show_objectives(values: Mapping[str, float | None]) -> str:
    """One objective per line, with six significant digits.

    >>> show_objectives({"time * energy": 0.0123456789}), show_objectives({"instructions": None})
    ('time * energy = 0.0123457', 'instructions: no value')
    """
    return "\n".join(f"{e}: no value" if v is None else f"{e} = {v:.6g}" for e, v in values.items())


def show_count(number: int) -> str:
    """A count in full up to a million million, beyond that with its power of ten.

    >>> show_count(12345), show_count(3 * 10**20)
    ('12 345', '3.00e+20')
    """
    return f"{number:,}".replace(",", " ") if number < 10**12 else _power_of_ten(number)


def show_bytes(number: int) -> str:
    """A size in binary units.

    >>> show_bytes(2097152), show_bytes(8818733056)
    ('2 MiB', '8.21 GiB')
    """
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if number >> shift:
            return f"{round(number / (1 << shift), 2):g} {unit}"
    return f"{number} B"


def show_configuration(configuration: Mapping[str, Value]) -> str:
    """`U_I = 4, T_I = 64`, or a remark when there is nothing to choose."""
    return ", ".join(f"{name} = {show(value)}" for name, value in configuration.items()) or "no parameters"


def show_counter(counter: CounterValue) -> str:
    """The value with six significant digits and its unit.

    >>> show_counter(CounterValue("energy", 0.0123456789, "J"))
    '0.0123457 J'
    """
    return f"{counter.value:.6g} {counter.unit}".rstrip()


def show_counters(counters: Sequence[CounterValue], most: int | None) -> str:
    """One counter per line, with its source unless hardware or the system counted it; at most `most` lines."""
    shown = counters if most is None else counters[:most]
    lines = [f"{c.name} = {show_counter(c)}{_how(c)}" for c in shown]
    if len(shown) < len(counters):
        lines.append(f"and {len(counters) - len(shown)} more")
    return "\n".join(lines)


def _how(counter: CounterValue) -> str:
    is_counted = counter.source in (CounterSource.HARDWARE, CounterSource.DEVICE, CounterSource.SYSTEM)
    return "" if is_counted else f" ({counter.source})"


def show_explanation(text: str) -> str:
    """The long text of a diagnostic with its paragraphs filled; blocks with indented lines stay as they are."""
    blocks = text.strip("\n").split("\n\n")
    return "\n\n".join(block if _is_example(block) else _filled(block) for block in blocks)


def _is_example(block: str) -> bool:
    return any(line[:1] in (" ", "\t", "-", "*", "|") for line in block.splitlines())


def _filled(block: str) -> str:
    return fill(block, TEXT_WIDTH, break_long_words=False, break_on_hyphens=False)


def _three_digits(number: float) -> str:
    return f"{number:.0f}" if number >= 99.95 else f"{number:.1f}" if number >= 9.995 else f"{number:.2f}"


def _power_of_ten(number: int) -> str:
    # By logarithm: Python refuses to print integers of more than 4300 digits.
    exponent = int(log10(number))
    return f"{10 ** (log10(number) - exponent):.2f}e+{exponent}"


def show_trust(trust: PredictionTrust) -> str:
    """What came of a prediction by static features."""
    found = f"what a model predicts has a rank correlation of {trust.correlation:.2f} with the first {trust.trials} trials"
    if not trust.is_followed:
        return f"{found}: not followed"
    if trust.dropped_after is None:
        return f"{found}: followed"
    return f"{found}: followed, and dropped after {trust.dropped_after} trials because it misled"
