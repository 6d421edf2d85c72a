"""`python -m orio_py` is the command `orio`."""

from __future__ import annotations

import sys

from orio_py.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
