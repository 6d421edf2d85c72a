"""Counters around the execution of a kernel, by several methods."""
