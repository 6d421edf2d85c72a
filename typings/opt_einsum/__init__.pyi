from collections.abc import Sequence

def get_symbol(i: int) -> str: ...
def contract_path(
    subscripts: str,
    *operands: Sequence[int],
    shapes: bool = ...,
    optimize: str = ...,
    memory_limit: int | None = ...,
) -> tuple[list[tuple[int, ...]], object]: ...
