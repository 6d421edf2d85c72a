"""Searchers compared on recorded search spaces; `python -m benchmarks.search --help`."""
