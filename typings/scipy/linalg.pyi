import numpy as np
import numpy.typing as npt

def cholesky(
    a: npt.NDArray[np.float64], lower: bool = ..., overwrite_a: bool = ..., check_finite: bool = ...
) -> npt.NDArray[np.float64]: ...
def cho_solve(
    c_and_lower: tuple[npt.NDArray[np.float64], bool],
    b: npt.NDArray[np.float64],
    overwrite_b: bool = ...,
    check_finite: bool = ...,
) -> npt.NDArray[np.float64]: ...
def solve_triangular(
    a: npt.NDArray[np.float64],
    b: npt.NDArray[np.float64],
    *,
    lower: bool = ...,
    check_finite: bool = ...,
) -> npt.NDArray[np.float64]: ...
