"""Configurations and the spaces of them that constraints leave."""
