"""A C file as its compiler sees it: preprocessed text, declarations, and the control flow of its functions."""
