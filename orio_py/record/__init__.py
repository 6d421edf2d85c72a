"""What was observed, as pure data."""
