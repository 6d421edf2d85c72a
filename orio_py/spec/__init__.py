"""What the user asked for, as pure data."""
