"""Diagnostic codes ORIO-D…: the results database and its interchange formats."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = (
    Code(
        "ORIO-D001",
        "results database cannot be used",
        "The file cannot be opened or written, the disk is full, another process held it for a minute, or the "
        "server does not answer; the message gives the database's own reason. Trials stored so far are kept. "
        "`--db` names another place, `--no-db` tunes without a database. A database in a folder that is shared "
        "over the network needs a server: SQLite's locks do not work there.",
    ),
    Code(
        "ORIO-D002",
        "not a results database",
        "The file exists but is not a results database of orio_py: a file of another kind, a database that "
        "another program made, or one that has been damaged. It is never overwritten. Name another file with "
        "`--db`, or move this one away.",
    ),
    Code(
        "ORIO-D003",
        "results database of a newer version",
        "The database was made or migrated by a newer orio_py, whose tables this one does not know. Older "
        "databases are migrated when they are opened; the way back does not exist. Update orio_py, or name "
        "another file with `--db`.",
    ),
    Code(
        "ORIO-D004",
        "database driver missing",
        "The address given with `--db` is that of a database server, and the Python package that talks to it is "
        "not installed. The message names the package. A file needs no package:\n\n"
        "  orio tune mm.c --db results.db",
    ),
    Code(
        "ORIO-D005",
        "malformed address of a database",
        "`--db` takes a file or the address of a database server:\n\n"
        "  --db results.db     --db postgresql://user@host/name\n\n"
        "Passwords belong into the driver's own file (`~/.pgpass`), not into the address.",
    ),
    Code(
        "ORIO-D006",
        "nothing stored that matches",
        "The database has no trial that meets all of `--file`, `--region` and `--task`, or there is no database "
        "yet. `orio results list` shows what is stored; `--db` names another database.",
    ),
    Code(
        "ORIO-D007",
        "malformed interchange file",
        "The file to import does not hold what its format promises; the message says where and what was found. "
        "Nothing of it was imported. The formats are described on the page on results in the documentation.",
    ),
    Code(
        "ORIO-D008",
        "Parquet support missing",
        "Parquet files are written and read with the Python package `pyarrow`, which is not installed. Install "
        "it with `pip install 'orio-py[parquet]'`, or use the format csv, which holds the same columns.",
    ),
    Code(
        "ORIO-D009",
        "nothing said about what to delete",
        "`orio results delete` removes trials for good, so it wants to be told which: by `--file`, `--region` or "
        "`--task`, or all of them with `--all`.\n\n"
        "  orio results delete --file mm.c     orio results delete --all",
    ),
    Code(
        "ORIO-D010",
        "format of the file not known",
        "The format of an interchange file is taken from its ending: `.json` (T4), `.csv`, `.parquet`; TAU "
        "profiles go to a folder and need `--format tau`. Say `--format` where the ending is another one.",
    ),
    Code(
        "ORIO-D011",
        "nothing stored for a region",
        "`orio results apply` found no trial of this region at this input size among those meant, or one whose "
        "parameters are not those of the specification. Regions are found by the digest of their task, else by "
        "the names of file and region and by the input size. Nothing was written.",
    ),
    Code(
        "ORIO-D012",
        "results of several machines",
        "The region was tuned on several machines, none of them this one, and what is best on one need not be on "
        "another. Say which machine is meant by `--machine` with the beginning of its digest, which "
        "`orio results list --json` shows as `environment`.",
    ),
    Code(
        "ORIO-D013",
        "results of another version of a region",
        "What is stored was found by the names of file and region, not by the digest of the task: the code, the "
        "annotation, an option such as `--repeats`, or orio_py itself has changed since. The transformations "
        "check their legality again, but nobody measured this code. Tune again to be sure.",
    ),
    Code(
        "ORIO-D014",
        "no stored trial can be applied",
        "Trials of the region are stored, but each of them failed, or the best was built by `-march=native` on "
        "another machine and no finished run tells which processor that was. Nothing was written.",
    ),
    Code(
        "ORIO-D015",
        "picture support missing",
        "`orio results plot -o FILE` draws with the Python package `matplotlib`, which is not installed. Install it "
        "with `pip install 'orio-py[plot]'`. Without `-o` the command prints a table, and with `--json` every number.",
    ),
    Code(
        "ORIO-D016",
        "ending of a picture not known",
        "The ending of the file that `orio results plot -o` names tells what kind of picture is written: `.svg`, `.png`, "
        "`.pdf` or `.html`. Nothing was written.",
    ),
    Code(
        "ORIO-D017",
        "no objectives for a front",
        "`orio results front` shows the variants that no other one beats in every objective. It takes the objectives by "
        "which the trials were judged, and there is no trial with several of them. Name expressions over times and "
        "counters that the trials have; those of a trial are listed by `orio results show --verbose`.\n\n"
        "  orio results front --objective time --objective peak_memory",
    ),
    Code(
        "ORIO-D018",
        "no such point of a front",
        "`orio results apply --point N` writes the variant with that number in `orio results front`, which counts from 1 "
        "and depends on the objectives named. The front of this region has fewer points, or no objectives are known. "
        "Nothing was written.",
    ),
    Code(
        "ORIO-D019",
        "trials that cannot be replayed",
        "A replay answers from the stored trials of one task, built by one compiler and measured on one machine, and "
        "its search space holds just these. Trials of several tasks, or with different parameters, span none: choose "
        "one by file, region or task.",
    ),
    Code(
        "ORIO-D020",
        "too few trials to tell what mattered",
        "`orio results importance` learns from the trials of a task how its parameters decide the objective, and has to "
        "hold some of them back to see how well it has learned. Too few trials are valid, or all of them have the same "
        "configuration in all parameters but one value each. Tune with more trials.",
    ),
)
