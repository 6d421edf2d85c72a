from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

class OptimizeResult:
    x: npt.NDArray[np.float64]
    fun: float

def minimize(
    fun: Callable[..., tuple[float, npt.NDArray[np.float64]]],
    x0: npt.NDArray[np.float64],
    *,
    method: str,
    jac: bool,
    bounds: npt.NDArray[np.float64],
    options: Mapping[str, int],
) -> OptimizeResult: ...
