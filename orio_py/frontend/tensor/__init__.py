"""Reads tensor contractions from index notation: files of statements, and einsum strings."""
