"""Diagnostic codes ORIO-A…: annotation comments and regions."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-A001",
        "annotation without its end",
        "A region begins with `/*@ begin Name( … ) @*/` and lasts until its `/*@ end @*/`.  The end of the\n"
        "region named in the message is missing.  Regions nest, so each needs an end of its own:\n\n"
        "    /*@ begin PerfTuning( … ) @*/\n"
        "    /*@ begin Loop( transform Unroll(ufactor=U) ) @*/\n"
        "    for (i = 0; i < n; i++) y[i] += a * x[i];\n"
        "    /*@ end @*/     ends Loop\n"
        "    /*@ end @*/     ends PerfTuning\n",
    ),
    Code(
        "ORIO-A002",
        "end without a beginning",
        "This `/*@ end @*/` closes nothing: every region before it has been closed already.  Remove it, or\n"
        "add the leader `/*@ begin Name( … ) @*/` that it belongs to.\n",
    ),
    Code(
        "ORIO-A003",
        "unknown module",
        "The word after `begin` names a module.  `PerfTuning` holds a tuning specification, `Loop` the\n"
        "transformations of a piece of code, `CHiLL` a recipe by statement number.  Upper and lower case\n"
        "matter.\n",
    ),
    Code(
        "ORIO-A004",
        "module that is not available",
        "Orio once had modules such as `Pluto`, `Align` or `OpenCL`.  They are not part of this\n"
        "tool.  Loop transformations are written in a `Loop` region.\n",
    ),
    Code(
        "ORIO-A005",
        "incomplete annotation",
        "A leader is `/*@ begin Name( text ) @*/`: a module name, and text in parentheses, which may be\n"
        "empty.  A trailer is `/*@ end @*/` and holds nothing else.  The pragma forms are\n"
        '`#pragma Orio Name( text )` with `#pragma Oiro`, and `#pragma orio loop begin "label"` with\n'
        "`#pragma orio loop end`.\n",
    ),
    Code(
        "ORIO-A006",
        "comment that resembles an annotation",
        "A comment `/*@ … @*/` that is neither a leader nor a trailer is left alone.  The warning is there\n"
        "in case an annotation was meant.\n",
    ),
    Code(
        "ORIO-A007",
        "misspelt annotation",
        "The first word of the comment is close to `begin` or `end` but is neither.\n\n"
        "    /*@ begn Loop( … ) @*/      should be     /*@ begin Loop( … ) @*/\n",
    ),
    Code(
        "ORIO-A008",
        "regions nested in a way that has no meaning",
        "A PerfTuning region holds Loop regions.  It cannot stand inside a Loop region or inside another\n"
        "PerfTuning region; several of them one after the other in a file are fine.\n",
    ),
    Code(
        "ORIO-A009",
        "PerfTuning region without a Loop region",
        "A PerfTuning region says what to vary; the Loop regions inside it say what the variation changes.\n"
        "Without one there is nothing to tune:\n\n"
        "    /*@ begin PerfTuning( def performance_params { param U[] = [1,2,4]; } … ) @*/\n"
        "    /*@ begin Loop( transform Unroll(ufactor=U) ) @*/\n"
        "    for (i = 0; i < n; i++) y[i] += a * x[i];\n"
        "    /*@ end @*/\n"
        "    /*@ end @*/\n",
    ),
    Code(
        "ORIO-A010",
        "annotations in Fortran form",
        "Lines `!@ begin … @!` are the annotations of Fortran files.  Only C is supported.\n",
    ),
    Code(
        "ORIO-A011",
        "not a text file",
        "The file contains NUL bytes, as object files and pictures do.  Give the C source instead.\n",
    ),
    Code(
        "ORIO-A012",
        "annotation comment with a wrong end",
        "An annotation is one C comment and ends with `@*/`.  C comments do not nest: a `/* … */` inside\n"
        "the annotation ends it.  Write remarks inside annotations with `//` or `#`.\n",
    ),
    Code(
        "ORIO-A013",
        "malformed transform statement",
        "A recipe consists of statements `transform Name(argument=value, …)`, each followed by the statement\n"
        "that it applies to, or by nothing, when it applies to the code behind the annotation:\n\n"
        "    /*@ begin Loop(\n"
        "      transform Unroll(ufactor=U)\n"
        "      for (i = 0; i <= n-1; i++) y[i] += a * x[i];\n"
        "    ) @*/\n",
    ),
    Code(
        "ORIO-A014",
        "argument given twice",
        "Each argument of a transformation can be given once.\n",
    ),
    Code(
        "ORIO-A015",
        "Loop region without code",
        "The code to transform stands in the annotation behind the `transform` statement, or between the\n"
        "annotation and its `/*@ end @*/`.  This region has neither.  The code of a CHiLL region always stands\n"
        "behind the annotation.\n",
    ),
    Code(
        "ORIO-A016",
        "damaged generated block",
        "A tuned file keeps the original code beside the generated code:\n\n"
        "    /* orio_py: generated … */\n"
        "    #ifndef ORIO_ORIGINAL\n"
        "    generated code\n"
        "    #else /* ORIO_ORIGINAL */\n"
        "    original code\n"
        "    #endif /* ORIO_ORIGINAL */\n\n"
        "One of these lines was changed, or code was added behind the last one, so that the original can no\n"
        "longer be told from the generated code.  Restore the lines, or remove all but the original code.\n",
    ),
    Code(
        "ORIO-A017",
        "nested Loop region",
        "A Loop region inside another one serves the reader only: the outer recipe covers all of its code,\n"
        "and the inner one is not applied.  Write the inner `transform` inside the outer annotation.\n",
    ),
    Code(
        "ORIO-A018",
        "loop pragma without parameters",
        "`#pragma orio loop begin` makes up a Composite recipe from the parameters of the specification,\n"
        "which have fixed names: `T1_I` and `T2_I` for the tile sizes of loop `i`, `U1_I` for its unroll\n"
        "factor, `VEC1`, `OMP1` and `SCREP1` for switches.  None of these is defined.\n",
    ),
    Code(
        "ORIO-A019",
        "module without effect",
        "The modules `Preserve` and `SimplyRewrite` only kept or marked text.  They are accepted, and what\n"
        "stands between their comments is kept as it is.\n",
    ),
    Code(
        "ORIO-A020",
        "malformed recipe by statement number",
        "A recipe by statement number, in a CHiLL region or in the file of `--recipe`, consists of lists of\n"
        "values and of commands:\n\n"
        "    UF0[] = [1, 2, 5, 10];\n"
        '    permute(0, ("k", "i", "j"))\n'
        '    unroll(0, "j", UF0)\n\n'
        "A list ends with `;` or with its line.  Remarks are written with `#` or `//`.\n",
    ),
)
