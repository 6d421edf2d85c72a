"""Diagnostic codes ORIO-U…: the command line and files."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-U001",
        "unknown option",
        """The command has no option of that name.  The message names the nearest option that exists;
`orio COMMAND --help` lists all of them with an example.

    $ orio tune mm.c --trails 50
    error[ORIO-U001]: `orio tune` has no option `--trails`
    help: did you mean `--trials`?
""",
    ),
    Code(
        "ORIO-U002",
        "unknown command",
        """The first word after `orio` must be a command.  `orio --help` lists the commands.

    $ orio tun mm.c
    error[ORIO-U002]: there is no command `tun`
    help: did you mean `tune`?
""",
    ),
    Code(
        "ORIO-U003",
        "command line incomplete or not understood",
        """An argument is missing, an option lacks its value, or there are more arguments than the command
takes.  The usage line in `orio COMMAND --help` shows what is expected: names in capitals stand for a
value, brackets mark what may be left out, `...` what may be repeated.
""",
    ),
    Code(
        "ORIO-U004",
        "value of an option out of range or malformed",
        """The value is not of the kind that the option takes.  Whole numbers such as `--trials`, `--jobs`
and `--repeats` count from 1; `--seed` from 0.  Durations are a positive number with an optional unit:
seconds without one, else `ms`, `s`, `m` or `h`.

    --trials 100     --time 90s     --time 10m     --timeout 1.5
""",
    ),
    Code(
        "ORIO-U005",
        "malformed `--set`",
        """`--set` pins one parameter to one value and is written `--set NAME=VALUE`; it may be repeated for
other parameters.  NAME is the name of a parameter of the specification, VALUE a literal: a number, `True`,
`False`, a quoted text, a list or tuple of literals, or bare text.

    --set U_I=4   --set 'CFLAGS=-O3 -march=native'   --set T_I=64
""",
    ),
    Code(
        "ORIO-U006",
        "file or folder not found",
        """A path on the command line does not exist.  Paths are taken relative to the folder in which the
command runs.  The message names the nearest file name in that folder where there is one.
""",
    ),
    Code(
        "ORIO-U007",
        "no C files in a folder",
        """A folder given to a command is searched, with its sub-folders, for C sources and headers (`*.c`,
`*.h`).  Name a file with another ending directly.
""",
    ),
    Code(
        "ORIO-U008",
        "file cannot be read",
        """The file exists but could not be read: the system's reason is part of the message (permissions, a
folder where a file is expected, …).
""",
    ),
    Code(
        "ORIO-U009",
        "output cannot be written",
        """The output file or its folder cannot be written; the system's reason is part of the message.  This
is found out before anything is tuned.  Outputs are written to a temporary file beside the target and
renamed, so the folder itself has to be writable, and no half-written file is ever left.
""",
    ),
    Code(
        "ORIO-U010",
        "conflicting outputs",
        """`-o OUT` and `--in-place` say two different things about where the result goes; use one of them.
With neither, `name.c` gives `_name.c` beside it.  With one input file, OUT is a file; with several files or
a folder, OUT is a folder that mirrors the inputs.  OUT may not be one of the inputs (that is what
`--in-place` is for), and two inputs may not end in the same output.
""",
    ),
    Code(
        "ORIO-U011",
        "unknown parameter in `--set`",
        """`--set` names a parameter that no specification in the given files declares, or gives it a value
that is not in its list.  `orio space FILE` prints the parameters and their values.
""",
    ),
    Code(
        "ORIO-U012",
        "unknown searcher or option in `--search`",
        """`--search` is written `NAME` or `NAME:option=value,option=value`.  The message names the nearest
searcher or option that exists.

    --search random     --search exhaustive
""",
    ),
    Code(
        "ORIO-U013",
        "unknown or unavailable target",
        """`--target` chooses what is generated.  Without it, the recipe decides: a region whose recipe makes
OpenCL kernels gives OpenCL, one that asks for OpenMP gives OpenMP, anything else plain C.
""",
    ),
    Code(
        "ORIO-U018",
        "the recipe does not fit the target",
        """`--target opencl` was asked for, but no step of the recipe makes OpenCL kernels, or another target was
asked for and one does.  `transform OpenCL(...)` in a recipe runs a loop nest on a device.  Without `--target` the
recipe decides.
""",
    ),
    Code(
        "ORIO-U014",
        "no annotations found",
        """None of the given files holds a region that the command could work on.  A region starts with a
comment `/*@ begin Loop(...) @*/` and ends with `/*@ end @*/`; to be tuned it also needs a specification
`/*@ begin PerfTuning(...) @*/` around it, or `--spec FILE`.  The tutorial shows a complete file.
""",
    ),
    Code(
        "ORIO-U015",
        "unknown diagnostic code",
        """`orio explain` takes a code as it is printed in a message, such as `ORIO-T003` (`t003` will do).
`orio explain` alone lists all codes.
""",
    ),
    Code(
        "ORIO-U016",
        "recipe file without effect",
        """The file of `--recipe` holds no command, or none of the given files has a region that it could apply
to.  It applies to the CHiLL regions that have no recipe of their own:

    /*@ begin CHiLL() @*/
    for (i = 0; i < n; i++) …
    /*@ end @*/
""",
    ),
    Code(
        "ORIO-U030",
        "unusable compilation database",
        """`compile_commands.json` is a list of objects with the texts `directory` and `file`, and either a list
`arguments` or a text `command`.  CMake writes it with `-DCMAKE_EXPORT_COMPILE_COMMANDS=ON`, other build systems
through the tool `bear`.  From it come the include paths and defines of each file.
""",
    ),
    Code(
        "ORIO-U031",
        "unreadable configuration file",
        """`.oriorc`, or the table `[tool.orio]` of `pyproject.toml`, holds options of `orio tune` in TOML: texts
in quotes, lists in square brackets.

    trials = 100
    time = "5m"
    exclude = ["third_party"]
    set = { U_I = 4 }
""",
    ),
    Code(
        "ORIO-U032",
        "unknown key in a configuration file",
        """A key of `.oriorc` or `[tool.orio]` is the long name of an option of `orio tune` without its dashes,
such as `trials` or `compile-commands`.  The message names the nearest key that exists.
""",
    ),
    Code(
        "ORIO-U034",
        "compiled as it was written",
        """`orio cc` could not use a tuned text for an annotated source, so that the compiler got the source itself.
The build is right, only not tuned.  The message, and the warnings before it, say why; `orio tune FILE` shows the
same problem with its place.
""",
    ),
    Code(
        "ORIO-U033",
        "no file is left",
        """`--include` and `--exclude` (or the same keys of the configuration file) leave no C file of a folder.
A glob is compared with the path below the folder, with the file's name and with each folder on the way.
""",
    ),
    Code(
        "ORIO-U035",
        "a file of yours is where host code goes",
        """A region that runs on an OpenCL device calls functions of two generated files beside the output: for
`out.c` these are `out_opencl.c` and `out_opencl.h`.  Files that an earlier run generated begin with a comment that
says so and are overwritten; the file in the message has no such comment, or is itself an input with annotations,
and nothing was written.  Rename it, or give the output another name with `-o`.
""",
    ),
    Code(
        "ORIO-U017",
        "contradicting options for the results database",
        """`--no-db` tunes without a results database, so it cannot go together with `--db`, which names one, or
with `--fresh`, which measures anew what one holds.  Use one of them.
""",
    ),
    Code(
        "ORIO-U036",
        "no address of a cluster",
        """`--cluster` takes the address of a Dask scheduler, or starts workers on this machine:

  --cluster dask://node17:8786     --cluster local     --cluster local:4
""",
    ),
)
