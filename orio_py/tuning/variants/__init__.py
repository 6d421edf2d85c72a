"""Variants of a task: their code, what builds and measures them, and their scores."""
