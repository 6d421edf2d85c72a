"""The command line: argument parsing and printing; what the commands do is in `orio_py.api`."""
