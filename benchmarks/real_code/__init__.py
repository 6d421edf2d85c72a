"""Trials on public code: annotations of ours in projects of others."""
