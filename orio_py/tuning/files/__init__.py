"""Files and folders of the user: found, read into tasks, and written back."""
