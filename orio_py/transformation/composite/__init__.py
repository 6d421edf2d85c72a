"""Composite: many transformations in one statement, in a fixed order."""
