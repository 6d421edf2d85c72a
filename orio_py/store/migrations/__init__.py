"""The versions of the database's schema, each a step from the one before.

A step is never changed once a release has it; a new version is a new file with the next number and a
line in `catalog.py`.
"""
