"""Chooses the configurations to try next; never measures."""
