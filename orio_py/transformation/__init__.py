"""Transformations of C loops: trees go in, new trees come out."""
