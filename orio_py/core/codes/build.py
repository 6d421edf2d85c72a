"""Diagnostic codes ORIO-B…: compilers and builds."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-B001",
        "no C compiler",
        "Variants are built with a C compiler and none was found on the PATH (gcc, clang, cc, icx, tcc and zig "
        "were looked for). Install one with your system's package manager, or, without any rights on the "
        "machine, the wheel `ziglang` with pip, and run the command again (`--cc zig`). "
        "The exit code is 3: the input may be fine, the machine lacks something.",
    ),
    Code(
        "ORIO-B002",
        "compiler not found",
        "The first word of `build_command` (or of `--cc`) is not a program on the PATH, although another C "
        "compiler is installed. Write the name of an installed compiler:\n\n"
        "  def build { arg build_command = 'gcc -O3'; }",
    ),
    Code(
        "ORIO-B003",
        "malformed build command",
        "A command of the `build` section is empty or has an unbalanced quote. Commands are split into words "
        "as a shell would split them and run without a shell.",
    ),
    Code(
        "ORIO-B004",
        "the original code does not compile",
        "Before any variant is tried, the code of the region is built as it stands, inside the declarations "
        "of its enclosing function. The compiler refused it; its messages follow as notes. Usual reasons are "
        "a variable that neither the file nor `input_vars` declares, a header that is not found, or a wrong "
        "option in `build_command`.",
    ),
    Code(
        "ORIO-B005",
        "the inputs cannot be set up",
        "The program that allocates and fills the variables of `input_vars` did not compile. It contains the "
        "declarations, initialisers, `decl_file`, `init_file` and `validation_file` as the specification gives "
        "them; the compiler's messages follow as notes.",
    ),
    Code(
        "ORIO-B006",
        "OpenMP not available",
        "The recipe contains OpenMP pragmas, but the compiler cannot link OpenMP programs: clang needs its "
        "OpenMP library, which is a package of its own on many systems. The region is tuned as plain C; the "
        "pragmas stand between `#if defined(_OPENMP)` lines and are ignored. Install the library, choose "
        "another compiler with `--cc`, or write `--target openmp` to insist.",
    ),
)
