"""Parallelize, Vectorize, Pragma, and the texts of OpenMP: loops whose iterations run side by side."""
