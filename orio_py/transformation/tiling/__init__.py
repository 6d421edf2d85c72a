"""Permut, Skew, Tile: transformations of the order of the iterations of a nest."""
