"""What is used of Dask's configuration."""

from dask import config as config
