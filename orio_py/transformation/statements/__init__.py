"""Recipes by statement number (module CHiLL)."""
