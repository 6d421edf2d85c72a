"""Images in random regions: bytes behind rows, pixels and members, which may be anything else in memory.

Subscripts of rows and columns are marked as those of the array `c`, whose number is 2: what the marks record keeps
them inside.  In some runs rows overlap, are one row, or hold the member that bounds a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random_real_nests import RealMaker

DEFINITIONS: tuple[tuple[str, str], ...] = (
    (
        "image",
        "struct image {\n  unsigned char before[1200], w, after[1200];\n  int h;\n  long stride;\n"
        "  unsigned char **rows, *data;\n};",
    ),
    ("shade", "struct shade { unsigned char red, green; short rest; };"),
    ("gray", "static unsigned char gray[160000];"),
    ("shades", "static struct shade shades[1200];"),
    ("lines_", "static unsigned char *lines_[1200];"),
)
"""What stands at file scope, as in `random_real_files`."""

LOCALS: tuple[tuple[str, str], ...] = (
    ("pic", "  struct image pic = {{0}, 7, {0}, 4, 24, lines_ + 600, gray + 40000};"),
    ("image", "  struct image *image = &pic;"),
    ("lines", "  unsigned char **lines = lines_ + 600;"),
    ("paint", "  struct shade *paint = shades + 600;"),
)

NEEDS: tuple[tuple[str, str], ...] = (
    ("image", "pic"),
    ("pic", "lines_ gray"),
    ("lines", "lines_ gray pic"),
    ("paint", "shades"),
)
"""What the function around the region has to set where a name is used."""

STARTS: tuple[tuple[str, str], ...] = (
    ("gray", "  for (int q_ = 0; q_ < 160000; q_++)\n    gray[q_] = (unsigned char)(q_ % 251);"),
    (
        "shades",
        "  for (int q_ = 0; q_ < 1200; q_++)\n    shades[q_] = (struct shade){(unsigned char)q_, (unsigned char)(q_ * 7), 9};",
    ),
    (
        "lines_",
        "  for (int q_ = 0; q_ < 1200; q_++)\n    lines_[q_] = gray + 600 + q_ % 120 * (m % 5 == 4 ? 1 : 1250);\n"
        "  if (m % 3 == 1)\n    lines_[602] = (unsigned char *)&pic + 1197;\n"
        "  if (m % 4 == 3)\n    lines_[603] = lines_[601] + 2;",
    ),
)

READS: tuple[tuple[str, str], ...] = (
    ("gray", "  for (int q_ = 0; q_ < 160000; q_++)\n    out_[21] += (q_ % 7 + 1) * gray[q_];"),
    (
        "pic",
        "  last_[26] = pic.w + 1000 * pic.h;\n  for (int q_ = 0; q_ < 1200; q_++)\n"
        "    out_[22] += (q_ % 7 + 1) * (pic.before[q_] + 3 * pic.after[q_]);",
    ),
    (
        "shades",
        "  for (int q_ = 0; q_ < 1200; q_++)\n"
        "    out_[23] += (q_ % 7 + 1) * (shades[q_].red + 3 * shades[q_].green + 5 * shades[q_].rest);",
    ),
)

BOUNDS: Mapping[str, tuple[str, ...]] = {
    "byte_rows": ("image->w", "image->h", "pic.w - 1", "image->w / 2"),
    "pixels": ("image->w", "image->h + 2"),
}

ROWS: tuple[str, ...] = (
    "lines[@4{INDEX@}]",
    "image->rows[@4{INDEX@}]",
    "lines[@4{INDEX + 1@}] + 1",
    "image->data + INDEX * image->stride",
    "&image->data[@4{INDEX@} * 24]",
    "INDEX % 2 ? lines[@4{INDEX@}] : lines[2]",
)
"""What a loop may set the pointer `row` to before its inner loops."""


def _at(make: RealMaker, scope: tuple[str, ...]) -> str:
    x = make.choices.pick(scope)
    return f"@4{{{make.choices.weighted((60, x), (20, f'{x} + 1'), (12, f'{x} - 1'), (8, f'2 * {x}'))}@}}"


def _byte(make: RealMaker, scope: tuple[str, ...]) -> str:
    """A byte of a row, mostly of one that a loop around has set."""
    places = [f"{rows}[{_at(make, scope)}][{_at(make, scope)}]" for rows in ("lines", "image->rows")]
    places.append(f"image->data[{_at(make, scope)}]")
    return make.choices.pick([f"row[{_at(make, scope)}]"] * 4 * make.in_row + places)


def _byte_rows(make: RealMaker, scope: tuple[str, ...]) -> str:
    byte, other, target, x = _byte(make, scope), _byte(make, scope), make.target(scope), scope[-1]
    options = [
        f"{byte} = {other};",
        f"{byte} = ({byte} + {other}) >> 1;",
        f"{byte} ^= 0x55;",
        f"{byte} += image->h;",
        f"{byte} = (unsigned char)(255 - {other});",
        f"count += {byte};",
        f"{target} = {byte} * 0.5;",
        f"if ({byte} > 99) {{ {other} = 0; }}",
        f"{byte} = {other} < image->w ? {other} : image->w;",
        f"image->data[{x} * image->stride + 3] = {other};",
        f"{{ unsigned char *px = lines[{_at(make, scope)}] + {x}; px[0] = px[2]; }}",
        f"if ({x} == 3) {{ image->h = 3; }}",
        f"if ({x} == 2) {{ image->rows[1] = lines[4]; }}",
    ]
    return make.choices.pick(options)


def _pixels(make: RealMaker, scope: tuple[str, ...]) -> str:
    x, value, target = make.choices.pick(scope), make.real_value(scope), make.target(scope)
    at, next_ = f"@4{{{x}@}}", f"@4{{{x} + 1@}}"
    options = [
        f"{{ struct shade *one = &paint[{at}]; one->red = one->green; one->rest++; }}",
        f"{{ struct shade *one = paint + {x}; one->green += paint[{next_}].red; }}",
        f"{{ unsigned char *one = &image->data[{at} * 3]; one[0] = one[1] ^ one[2]; }}",
        f"{{ unsigned char *one = &paint[{at}].red; one[0] = one[1]; }}",
        f"paint[{at}].red = (unsigned char)(paint[{next_}].green * 3);",
        f"paint[{at}] = paint[{next_}];",
        f"{target} = {value} + paint[{at}].rest;",
        f"acc += paint[{at}].green;",
        f"{{ const unsigned char *from = {x} & 1 ? lines[1] : lines[2]; count += from[{at}]; }}",
    ]
    return make.choices.pick(options)


STATEMENTS: Mapping[str, Callable[[RealMaker, tuple[str, ...]], str]] = {
    "byte_rows": _byte_rows,
    "pixels": _pixels,
}
"""The forms with the statements that they add."""
