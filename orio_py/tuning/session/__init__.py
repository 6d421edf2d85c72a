"""The tuning session of one task at one problem size, and what the results database knows of earlier ones."""
