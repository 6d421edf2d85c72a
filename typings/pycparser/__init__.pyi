"""Types of the parts of pycparser that the project uses."""
