"""Puts it together: searches, evaluates, confirms, writes back."""
