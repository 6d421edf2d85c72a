"""Diagnostic codes ORIO-M…: running, validating and measuring variants."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-M001",
        "variable of unknown type",
        "The timed code uses a variable whose type the test program cannot allocate, fill and compare: it "
        "knows the arithmetic types of C and typedefs of them in the same file. Declare the variable in "
        "`input_vars` with such a type, or move the code that uses it out of the region.",
    ),
    Code(
        "ORIO-M002",
        "value or extent not known",
        "A variable that the timed code reads has no value before the region, or an array has no extent. "
        "Sizes come from `input_params`, everything else from `input_vars`:\n\n"
        "  def input_vars { decl double alpha = random; decl dynamic double x[N] = random; }\n\n"
        "A local that holds a literal when the region begins needs no declaration.",
    ),
    Code(
        "ORIO-M003",
        "types of file and specification differ",
        "The file and `input_vars` declare the same array with different element types, so the test program "
        "would hand over data of the wrong size. Make the `decl` agree with the file.",
    ),
    Code(
        "ORIO-M010",
        "the original code fails",
        "The region's own code, run on the generated inputs, crashed, hung or was rejected, so there is "
        "nothing to compare variants with. Check the extents in `input_vars` against the subscripts in the "
        "region, or raise `--timeout`.",
    ),
    Code(
        "ORIO-M011",
        "the region changes nothing",
        "After the original code ran, every variable held what it held before. Either the region writes only "
        "variables that are dead afterwards, or its loops do not run for this input size.",
    ),
    Code(
        "ORIO-M012",
        "results that are not finite",
        "The original computes infinities or NaNs from the generated inputs. Variants are compared all the "
        "same, but such values hide differences. Choose other inputs with an initialiser or an `init_file`.",
    ),
    Code(
        "ORIO-M013",
        "too short to be timed",
        "The original takes less time than the clock can resolve with an error below one per cent, and its "
        "inputs take so much longer to put back that several calls cannot be timed as one: each call has to "
        "start from the same inputs. Tune at a larger problem size, or annotate a longer part of the code.",
    ),
    Code(
        "ORIO-M014",
        "counting method that does not work here",
        "The specification asks for counters by a method that this machine does not offer; the message says "
        "why. The task is tuned all the same, without these counters. `orio devices` lists all methods and "
        "what each gives here.",
    ),
    Code(
        "ORIO-M015",
        "counter of the objective cannot be taken",
        "The objective uses a counter that no method gives on this machine, or not the method that the "
        "specification asks for. Nothing is tuned, because variants could not be compared. Choose another "
        "method (`valgrind` simulates counters wherever it is installed) or another objective.",
    ),
    Code(
        "ORIO-M016",
        "counters of the original are missing",
        "The original code was run to be counted, and some of the counters did not come about; the message "
        "says which and why. With an objective that needs them the task cannot be tuned. Without one the "
        "task is tuned and the counters are left out.",
    ),
    Code(
        "ORIO-M017",
        "the code around the kernels cannot be followed",
        "Kernels are run without compiling the code around them: its scalars are evaluated, and its "
        "conditions and loops followed. That works for declarations of and assignments to scalars, `if`, `for` "
        "and the calls of the kernels, with values that the file, the specification or the inputs give. The "
        "message says which part is more than that: move it out of the timed region, or offload it as well.",
    ),
    Code(
        "ORIO-M020",
        "no valid variant",
        "Every variant that was tried failed: did not compile, crashed, ran too long or computed something "
        "else. The file is left as it was and the exit code is 4. The failures are counted by kind in the "
        "result; `--verbose` prints the reason of each, `--keep DIR` keeps the generated sources.",
    ),
)
