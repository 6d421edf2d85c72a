"""Diagnostic codes ORIO-S…: tuning specifications."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-S001",
        "missing semicolon",
        "Every statement of a specification ends with `;`, also the last one before `}`:\n\n"
        "    def performance_params {\n"
        "      param U[] = [1, 2, 4];\n"
        "    }\n",
    ),
    Code(
        "ORIO-S002",
        "unknown statement",
        "The statements are `let`, `arg`, `param`, `constraint`, `option`, `decl` and `import spec`;\n"
        "sections are written `def NAME { … }`.\n",
    ),
    Code(
        "ORIO-S003",
        "malformed statement",
        "The statement begins with a known word but goes on in an unknown way.  The forms are:\n\n"
        "    let NAME = value;\n"
        "    arg NAME = value;\n"
        "    param NAME[] = [values];\n"
        "    param NAME = value;\n"
        "    constraint NAME = condition;\n"
        '    option "-x" = [values];\n'
        "    decl [static|dynamic] TYPE NAME[extent]… = value;\n"
        "    import spec NAME;\n",
    ),
    Code(
        "ORIO-S004",
        "unknown section or argument",
        "The sections are build, performance_counter, power, performance_params, cmdline_params,\n"
        "input_params, input_vars, assumptions, search, validation, performance_test_code and other.  Each has\n"
        "its own arguments; the nearest known name is given with the message.\n",
    ),
    Code(
        "ORIO-S005",
        "statement in the wrong place",
        "The statement is known but has no meaning here: `param` belongs into performance_params,\n"
        "cmdline_params or input_params, `decl` into input_vars, and only `let` and `import spec` can stand\n"
        "outside the sections.\n",
    ),
    Code(
        "ORIO-S006",
        "argument with an unsuitable value",
        "The argument needs a value of another kind; the message says which.\n",
    ),
    Code(
        "ORIO-S007",
        "argument without effect",
        "The argument is part of the specification language and is accepted, but nothing here depends on it.\n",
    ),
    Code(
        "ORIO-S008",
        "defined twice",
        "A section, an argument, a parameter or a variable of that name exists already; the note shows where.\n",
    ),
    Code(
        "ORIO-S009",
        "reserved name",
        "Words of the specification language and names of functions cannot name a parameter.\n",
    ),
    Code(
        "ORIO-S010",
        "unsuitable parameter values",
        "`param NAME[]` needs a list, tuple or range with at least one value, and all values must be of one\n"
        "type: numbers, strings, booleans, lists or tuples.\n",
    ),
    Code(
        "ORIO-S011",
        "repeated parameter value",
        "A value stands twice in the list of a parameter.  It is tried once.\n",
    ),
    Code(
        "ORIO-S012",
        "circular import",
        "`import spec NAME;` reads NAME.spec from the folder of the source file.  Specifications cannot\n"
        "import each other in a circle.\n",
    ),
    Code(
        "ORIO-S013",
        "malformed variable declaration",
        "The forms of `decl` are:\n\n"
        "    decl double a = random;                a scalar\n"
        "    decl static double x[N] = random;      a global array\n"
        "    decl dynamic double y[N][M] = 0;       a pointer to allocated memory\n"
        "    decl dynamic struct particle p[N] = random;   an array of structures that the file defines\n"
        "    decl macro M = 'max(a,b) ((a)>(b)?(a):(b))';\n\n"
        "Arrays need `static` or `dynamic`, scalars have neither.\n",
    ),
    Code(
        "ORIO-S014",
        "unknown type",
        "`decl` knows char, short, int, long, long long, their unsigned and signed forms, float, double,\n"
        "long double, size_t and the types of stdint.h.  Others are looked for in the file and in the headers that\n"
        'it includes by `#include "…"`: typedefs of numbers, and structures whose members are numbers or arrays\n'
        "of numbers.\n\n"
        "    struct particle { double x, y; int cell; float w[3]; };     in the C file\n"
        "    decl dynamic struct particle p[N] = random;                 in input_vars\n\n"
        "A structure with pointers, bit fields, constants or other structures inside cannot be filled.\n",
    ),
    Code(
        "ORIO-S015",
        "file cannot be read",
        "Files of a specification are looked for in the folder of the source file.\n",
    ),
    Code(
        "ORIO-S016",
        "file lacks what it is for",
        "An init_file defines `void init_input_vars(void)`, a validation_file `int isValid(void)`, and a\n"
        "skeleton_code_file contains the tag `/*@ tested code @*/`.\n",
    ),
    Code(
        "ORIO-S017",
        "inputs are not determined",
        "To run the annotated code its arrays and sizes need values.  They come from the section input_vars\n"
        "and from input_params, unless the file itself fixes them:\n\n"
        "    def input_params { param N[] = [1000]; }\n"
        "    def input_vars {\n"
        "      decl dynamic double x[N] = random;\n"
        "      decl double a = random;\n"
        "    }\n",
    ),
    Code(
        "ORIO-S018",
        "unbalanced structure",
        "Sections are written `def NAME { … }` and are not nested.\n",
    ),
    Code(
        "ORIO-S019",
        "unsuitable objective",
        "`arg objective` in performance_counter, or `--objective`, is an expression over the times and counters\n"
        "of one execution of the kernel, such as 'instructions' or 'time * energy'; the least value wins:\n\n"
        "    def performance_counter { arg method = 'valgrind'; arg objective = 'instructions'; }\n\n"
        "It has to use at least one time or counter; docs/reference/counters.md lists them.\n",
    ),
    Code(
        "ORIO-S020",
        "parameter without use",
        "No transformation, constraint, build command or other part of the task depends on the parameter, so\n"
        "every variant would be built once for each of its values.\n",
    ),
    Code(
        "ORIO-S021",
        "unknown name in the build command",
        "`@NAME@` in a build command stands for the value of parameter NAME, and `@CFLAGS` for that of CFLAGS.\n",
    ),
    Code(
        "ORIO-S022",
        "input size that the code cannot see",
        "With several input sizes the tuned code chooses between its versions by comparing the size at run\n"
        "time.  The name must therefore be a parameter, a local or global variable or a macro where the\n"
        "region stands.\n",
    ),
    Code(
        "ORIO-S024",
        "variable without use",
        "The region does not use the declared variable.\n",
    ),
    Code(
        "ORIO-S025",
        "unknown name in an array extent",
        "The extent of a declared array can use input parameters, macros of the file and declared scalars.\n",
    ),
    Code(
        "ORIO-S026",
        "unknown name in a constraint",
        "A constraint can use the parameters of its specification and the input parameters.\n",
    ),
)
