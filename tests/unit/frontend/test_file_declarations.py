"""What the files of a specification declare, and how much they allocate."""

import pytest

from orio_py.frontend.tuning.file_declarations import file_declarations
from orio_py.spec.inputs import Declaration, ExternalFile, Storage
from orio_py.spec.target import BuildSpec


def declared(text: str, command: str = "gcc -O3") -> dict[str, Declaration]:
    files = [ExternalFile("i.c", "i.c", text)]
    return {d.name: d for d in file_declarations(files, BuildSpec(command))}


def test_arrays_scalars_and_rows() -> None:
    found = declared("#define N 4\ndouble s[N][3];\nint k = 2;\ndouble **rows;\nextern long far[N];\n")
    assert {name: (d.type, d.storage, d.dimensions) for name, d in found.items()} == {
        "s": ("double", Storage.STATIC, ("N", "3")),
        "k": ("int", Storage.SCALAR, ()),
        "rows": ("double", Storage.DYNAMIC, ()),
        "far": ("long", Storage.STATIC, ("N",)),
    }


@pytest.mark.parametrize(
    ("allocation", "extent"),
    [
        ("(double *)malloc((N * N) * sizeof(double))", "(size_t)1 * (N) * (N)"),
        ("malloc(sizeof *p * N)", "(size_t)1 * (N)"),
        ("calloc(N, sizeof(p[0]))", "(size_t)1 * (N)"),
        ("aligned_alloc(64, (N + 1) * sizeof(double))", "(size_t)1 * (N + 1)"),
        ("malloc(N * 8)", "(size_t)1 * (N) * (8) / sizeof(double)"),
        ("malloc(N * sizeof(float))", "(size_t)1 * (N) * (sizeof(float)) / sizeof(double)"),
    ],
)
def test_the_extent_of_a_pointer_is_what_is_allocated(allocation: str, extent: str) -> None:
    found = declared(
        f"#include <stdlib.h>\ndouble *p;\nvoid init_input_vars()\n{{\n  p = {allocation};\n}}\n"
    )
    assert (found["p"].storage, found["p"].dimensions) == (Storage.GIVEN, (extent,))


@pytest.mark.parametrize(
    "body",
    [
        "int m = 9; p = malloc(m * sizeof(double));",  # a name of the function's own
        "p = malloc(N * sizeof(double)); p += 2;",
        "p = malloc(N * sizeof(double)); p = malloc(2 * N * sizeof(double));",
        "p = q;",
        "double *p = malloc(N * sizeof(double));",  # another variable
        "posix_memalign((void **)&p, 64, N);",
    ],
)
def test_other_pointers_have_no_extent(body: str) -> None:
    found = declared(
        f"#include <stdlib.h>\n#define N 3\ndouble *p, *q;\nvoid init_input_vars(void)\n{{\n  {body}\n}}\n"
    )
    assert (found["p"].storage, found["p"].dimensions) == (Storage.DYNAMIC, ())


def test_macros_of_the_build_command_choose_what_is_declared() -> None:
    text = "#ifdef DYNAMIC\ndouble *p;\n#else\ndouble p[N];\n#endif\n"
    assert declared(text)["p"].storage is Storage.STATIC
    assert declared(text, "gcc -O3 -DDYNAMIC -DX=@X@")["p"].storage is Storage.DYNAMIC
