"""Annotation comments: finding them, nesting them, and reading the code between them."""
