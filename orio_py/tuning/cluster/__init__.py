"""Builds and evaluations on the workers of a Dask cluster."""
