"""The kernels, sizes and launch shapes that are emulated, and measured where there is a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

Shape = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Point:
    """A launch.  Points of one `space` do the same work: their order is compared with that of measured times.

    `numbers` are arguments that are whole numbers, `arrays` the elements of those that are pointers.  `shared_bytes` are
    dynamic; they keep other blocks off the multiprocessor.
    """

    space: str
    kernel: str
    grid: Shape
    block: Shape
    numbers: Mapping[str, int]
    arrays: Mapping[str, int] = field(default_factory=dict)
    shared_bytes: int = 0

    @property
    def label(self) -> str:
        """The launch in words."""
        grid, block = ("x".join(map(str, shape)) for shape in (self.grid, self.block))
        sizes = " ".join(f"{name}={value}" for name, value in self.numbers.items())
        return f"{self.kernel} {sizes} grid {grid} block {block}"


def points(scale: int = 1) -> list[Point]:
    """All points; with a larger `scale` lengths are so many times smaller, for machines without a GPU."""
    return [
        *_streams(scale),
        *_stencils(scale),
        *_products(scale),
        *_sums(scale),
        *_transpositions(scale),
        *_arithmetic(scale),
        *_apart(scale),
        *_contractions(scale),
    ]


def shape(*sizes: int) -> Shape:
    """Up to three sizes as three."""
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _line(space: str, kernel: str, n: int, block: int, arrays: tuple[str, ...], **more: int) -> Point:
    grid = shape(-(-n // block))
    return Point(space, kernel, grid, shape(block), {"n": n, **more}, dict.fromkeys(arrays, n))


def _streams(scale: int) -> Iterator[Point]:
    n = (1 << 24) // scale
    for block in (32, 64, 128, 256, 512, 1024):
        yield _line("copy", "copy", n, block, ("x", "y"))
    yield _line("copy", "copy_four", n // 4, 256, ("x", "y"))
    for stride in (2, 8, 33):
        yield _line(f"stride {stride}", "copy_strided", n, 256, ("x", "y"), stride=stride)
    for length in (1 << 20, 1 << 22, 1 << 24):
        yield _line(f"triad {length}", "triad", length // scale, 256, ("x", "y", "z"))
    for blocks in (66, 132, 264, 528, 1056, 4224):
        arrays = {"x": n, "y": n}
        yield Point("axpy", "axpy_loop", shape(blocks), shape(256), {"n": n}, arrays)


def _stencils(scale: int) -> Iterator[Point]:
    n = 4096 // scale
    for block in ((32, 4), (32, 8), (16, 16), (8, 32), (64, 4), (256, 1)):
        grid = shape(*(-(-(n - 2) // side) for side in block))
        yield Point("heat2d", "heat2d", grid, shape(*block), {"n": n}, {"u": n * n, "v": n * n})
    n = 256 // scale
    for block in ((32, 4, 1), (32, 8, 1), (64, 4, 1), (16, 8, 2), (8, 8, 8), (128, 2, 1)):
        grid = shape(*(-(-(n - 2) // side) for side in block))
        yield Point("stencil7", "stencil7", grid, shape(*block), {"n": n}, {"u": n**3, "v": n**3})


def _products(scale: int) -> Iterator[Point]:
    n = 1024 // scale

    def product(space: str, kernel: str, n: int, block: Shape, tile: tuple[int, int]) -> Point:
        arrays = dict.fromkeys("abc", n * n)
        return Point(space, kernel, shape(n // tile[0], n // tile[1]), block, {"n": n}, arrays)

    for block in ((32, 8), (16, 16), (8, 32), (32, 32), (64, 4)):
        yield product("product", "mm_naive", n, shape(*block), block)
    yield product("product", "mm_tiled", n, shape(32, 32), (32, 32))
    yield product("product", "mm_registers", n, shape(16, 16), (64, 64))
    for longer in (2, 4):
        yield product(f"product {longer * 1024}", "mm_tiled", longer * n, shape(32, 32), (32, 32))
        yield product(f"product {longer * 1024}", "mm_registers", longer * n, shape(16, 16), (64, 64))


def _sums(scale: int) -> Iterator[Point]:
    n = (1 << 24) // scale
    for kernel in ("sum_shared", "sum_shuffled"):
        for block in (64, 128, 256, 512, 1024):
            blocks = 132 * max(1, 2048 // block)
            arrays = {"x": n, "sums": blocks}
            yield Point("sum", kernel, shape(blocks), shape(block), {"n": n}, arrays)


def _transpositions(scale: int) -> Iterator[Point]:
    for n in (2048 // scale, 4096 // scale):
        for kernel in ("transpose_naive", "transpose_conflicts", "transpose_padded"):
            arrays = {"x": n * n, "y": n * n}
            yield Point(f"transpose {n}", kernel, shape(n // 32, n // 32), shape(32, 8), {"n": n}, arrays)


def _arithmetic(scale: int) -> Iterator[Point]:
    for kernel, m in (("sines", 256), ("floats", 1024), ("doubles", 1024), ("hashes", 1024)):
        for blocks, block in ((132, 64), (132, 256), (528, 256)):
            n = blocks * block
            numbers = {"n": n, "m": m // scale}
            yield Point(f"{kernel} {n}", kernel, shape(blocks), shape(block), numbers, {"x": n})


def _apart(scale: int) -> Iterator[Point]:
    n = 528 * 256
    for period in (1, 2, 8, 32):
        numbers = {"n": n, "m": 256 // scale, "period": period}
        yield Point("divergent", "divergent", shape(528), shape(256), numbers, {"x": n})
    n = (1 << 22) // scale
    for size in (1 << 10, 1 << 18, 1 << 26):
        numbers = {"n": n, "size": size // scale}
        arrays = {"table": size // scale, "y": n}
        yield Point("gather", "gather", shape(n // 256), shape(256), numbers, arrays)


def _contractions(scale: int) -> Iterator[Point]:
    n = 16
    arrays = {"t2": n**4, "v2": n**4, "t3": n**6}
    yield Point("sd_t_d1_1", "sd_t_d1_1", shape(n, n, n * n), shape(16, 16), {"n": n}, arrays)


def threads(point: Point) -> int:
    """How many threads a launch has."""
    return prod(point.grid) * prod(point.block)
