"""The results database and its interchange formats."""
