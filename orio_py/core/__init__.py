"""Foundations that know neither C nor tuning."""
