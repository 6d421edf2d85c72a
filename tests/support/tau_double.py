"""A `tau_exec` that behaves as TAU's: it loads a library with TAU's timers into the program it runs.

The library writes a profile in TAU's text format when the program ends, into `PROFILEDIR`.  Each run is
noted in `runs.txt` beside the script.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

LIBRARY = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static struct { char name[512]; long calls; double begun, sum; } timers[16];
static int count;
static double born;
static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}
static int find(const char *name)
{
  int k;
  for (k = 0; k < count; k++) if (!strcmp(timers[k].name, name)) return k;
  snprintf(timers[count].name, sizeof timers[0].name, "%s", name);
  return count++;
}
void Tau_start(const char *name) { int k = find(name); timers[k].calls++; timers[k].begun = now(); }
void Tau_stop(const char *name) { int k = find(name); timers[k].sum += now() - timers[k].begun; }
__attribute__((constructor)) static void begin(void) { born = now(); }
__attribute__((destructor)) static void end(void)
{
  char path[4096];
  double all = now() - born, own = all;
  long calls = 0;
  FILE *file;
  int k;
  snprintf(path, sizeof path, "%s/profile.0.0.0", getenv("PROFILEDIR") ? getenv("PROFILEDIR") : ".");
  if (!(file = fopen(path, "w"))) return;
  for (k = 0; k < count; k++) { own -= timers[k].sum; calls += timers[k].calls; }
  fprintf(file, "%d templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls # ", 2 * count + 1);
  fprintf(file, "<metadata><attribute><name>Metric Name</name><value>TIME</value></attribute></metadata>\n");
  fprintf(file, "\".TAU application\" 1 %ld %.0f %.0f 0 GROUP=\"TAU_DEFAULT\"\n", calls, own, all);
  for (k = 0; k < count; k++)
    fprintf(file, "\"%s\" %ld 0 %.16G %.16G 0 GROUP=\"TAU_USER\"\n", timers[k].name, timers[k].calls,
            timers[k].sum, timers[k].sum);
  for (k = 0; k < count; k++)
    fprintf(file, "\".TAU application => %s\" %ld 0 %.16G %.16G 0 GROUP=\"TAU_CALLPATH|TAU_USER\"\n",
            timers[k].name, timers[k].calls, timers[k].sum, timers[k].sum);
  fprintf(file, "0 aggregates\n0 userevents\n# eventname numevents max min mean sumsqr\n");
  fclose(file);
}
"""

SCRIPT = """#!/bin/sh
here=$(dirname "$0")
echo "$@" >> "$here/runs.txt"
[ "$1 $2 $3" = "-T serial --" ] || { echo "Unknown option: $1" >&2; exit 1; }
shift 3
LD_PRELOAD="$here/libTAU.so" "$@"
exit $?
"""


def install(folder: Path) -> Path:
    """Build the library, write the script, both into `folder`; the script's path."""
    folder.mkdir()
    (folder / "tau.c").write_text(LIBRARY)
    command = ["gcc", "-shared", "-fPIC", "-o", str(folder / "libTAU.so"), str(folder / "tau.c")]
    subprocess.run(command, check=True)
    script = folder / "tau_exec"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    return script


def path_with(folder: Path) -> str:
    """The search path with `folder` in front."""
    return f"{folder}{os.pathsep}{os.environ['PATH']}"
