"""Unroll, UnrollJam, UnrollReduction, RegTile, Peel: transformations that copy bodies of loops."""
