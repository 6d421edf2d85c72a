from collections.abc import Sequence

class Kernel:
    def __add__(self, other: Kernel) -> Kernel: ...
    def __mul__(self, other: Kernel) -> Kernel: ...

class ConstantKernel(Kernel):
    def __init__(
        self, constant_value: float = ..., constant_value_bounds: tuple[float, float] = ...
    ) -> None: ...

class Matern(Kernel):
    def __init__(
        self,
        length_scale: Sequence[float] = ...,
        length_scale_bounds: tuple[float, float] = ...,
        nu: float = ...,
    ) -> None: ...

class WhiteKernel(Kernel):
    def __init__(self, noise_level: float = ..., noise_level_bounds: tuple[float, float] = ...) -> None: ...
